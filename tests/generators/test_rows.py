from __future__ import annotations

import io
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import FormatError, WorkloadError
from pathcast.generators.feeds import stock, weather
from pathcast.generators.feeds.rows import (
    DAY_SECONDS,
    FeedRow,
    epoch_seconds,
    format_time,
    parse_time_of_day,
    read_csv,
    write_csv,
)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(st.lists(st.tuples(st.integers(0, 10**10), TEXT, TEXT)))
def test_csv_round_trip(data: list[tuple[int, str, str]]) -> None:
    rows = [FeedRow(at, (format_time(at), first, second)) for at, first, second in data]
    out = io.StringIO(newline="")
    assert write_csv(out, ("time", "a b", "ü"), iter(rows)) == len(rows)
    table = read_csv(io.StringIO(out.getvalue(), newline=""))
    assert table.fields == ("time", "a b", "ü")
    assert list(table.rows) == rows


def test_files_have_the_same_bytes_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "weather.csv"
    options = weather.WeatherOptions(cities=("Montréal",), until=60)
    assert write_csv(path, weather.FIELDS, weather.rows(options, 1)) == 2
    data = path.read_bytes()
    assert data.count(b"\n") == 3
    assert b"\r" not in data
    assert data.startswith(b"time,city,country,station,name,latitude,")
    assert "Montréal".encode() in data
    assert list(read_csv(path).rows) == list(weather.rows(options, 1))


def test_byte_order_marks_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("time,city\r\n2011-08-03T00:00:00,Ottawa\r\n", "utf-8-sig", newline="")
    table = read_csv(path)
    assert table.fields == ("time", "city")
    assert [row.values for row in table.rows] == [("2011-08-03T00:00:00", "Ottawa")]


@pytest.mark.parametrize("place", ["header", "row"])
@pytest.mark.parametrize(
    ("text", "reason"), [("\ud800", r"'\\ud800' cannot"), ("a" * 131_073, "more than 131072")]
)
def test_unreadable_texts_are_not_written(
    place: str, text: str, reason: str, tmp_path: Path
) -> None:
    fields, value = (("time", text), "") if place == "header" else (("time", "a"), text)
    targets: tuple[io.StringIO | Path, ...] = (io.StringIO(), tmp_path / "a.csv")
    for target in targets:
        with pytest.raises(FormatError, match=reason) as caught:
            write_csv(target, fields, [FeedRow(0, (format_time(0), value))])
        assert caught.value.kind == "csv"


def test_texts_of_maximal_length_round_trip(tmp_path: Path) -> None:
    rows = [FeedRow(0, (format_time(0), "é" * 131_072, '"' * 131_072))]
    write_csv(tmp_path / "a.csv", ("time", "a", "b"), rows)
    assert list(read_csv(tmp_path / "a.csv").rows) == rows


def test_a_stock_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    options = stock.StockOptions(symbols=3)
    assert write_csv(str(path), stock.FIELDS, stock.rows(options, 1)) == 3 * 79
    table = read_csv(str(path))
    assert table.fields == stock.FIELDS
    assert list(table.rows) == list(stock.rows(options, 1))


def test_rows_are_streamed() -> None:
    """Each row is written before the next is generated."""
    out = io.StringIO()
    lengths = []

    def endless() -> object:
        for number in range(5):
            lengths.append(len(out.getvalue().splitlines()))
            yield FeedRow(number, (format_time(number),))

    write_csv(out, ("time",), endless())  # type: ignore[arg-type]
    assert lengths == [1, 2, 3, 4, 5]


@given(st.dates(min_value=date(1900, 1, 1)), st.integers(0, DAY_SECONDS - 1))
def test_times_are_iso_format_and_sort_chronologically(day: date, second: int) -> None:
    at = epoch_seconds(day, second)
    hours, seconds = divmod(second, 3600)
    expected = f"{day.isoformat()}T{hours:02}:{seconds // 60:02}:{seconds % 60:02}"
    assert format_time(at) == expected
    row = next(iter(read_csv(io.StringIO(f"time\n{expected}\n")).rows))
    assert row.at == at


def test_epoch_seconds_count_from_1970() -> None:
    assert epoch_seconds(date(1970, 1, 2), 5) == DAY_SECONDS + 5


@pytest.mark.parametrize(
    ("text", "second"),
    [("9:30", 34_200), ("16:00:00", 57_600), (" 00:00", 0), ("24:00", DAY_SECONDS)],
)
def test_times_of_day(text: str, second: int) -> None:
    assert parse_time_of_day(text) == second


@pytest.mark.parametrize(
    "text", ["", "9", "9:60", "24:00:01", "25:00", "9:3", "-1:00", "٩:30", "9:30pm"]
)
def test_malformed_times_of_day_are_rejected(text: str) -> None:
    with pytest.raises(WorkloadError):
        parse_time_of_day(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("city,humidity\nOttawa,3\n", 1),
        ("time,city,city\n", 1),
        ('time,"city\n', 1),
        ("time,city\n2011-08-03T00:00:00,Ottawa\n2011-08-03T00:00:00\n", 3),
        ("time,city\n\n2011-02-30T00:00:00,Ottawa\n", 3),
        ("time,city\n2011-08-03T24:00:00,Ottawa\n", 2),
        ("time,city\nnoon,Ottawa\n", 2),
        ('time,city\n2011-08-03T00:00:00,"Ot\nta\nwa"\nnoon,Ottawa\n', 5),
        ('time,city\n2011-08-03T00:00:00,"Ottawa"x\n', 2),
    ],
)
def test_errors_in_files_have_a_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_csv(io.StringIO(text)).rows)
    assert caught.value.kind == "csv"
    assert caught.value.line == line


def test_a_bad_header_raises_at_once() -> None:
    with pytest.raises(FormatError):
        read_csv(io.StringIO("city\n"))


def test_unopenable_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(FormatError, match="No such file"):
        write_csv(tmp_path / "no folder" / "a.csv", ("time",), [])
    with pytest.raises(FormatError, match="directory"):
        write_csv(tmp_path, ("time",), [])
    (tmp_path / "latin.csv").write_bytes(
        "time,city\n2011-08-03T00:00:00,Zürich\n".encode("latin-1")
    )
    with pytest.raises(FormatError, match="not UTF-8"):
        list(read_csv(tmp_path / "latin.csv").rows)
