"""Writing of subscription files: round trips, refused values and atomic replacement."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import FormatError
from pathcast.files import Format, Subscription, lines, read_subscriptions, write_subscriptions

# Special characters of the formats, and a few others: a small alphabet finds more.
ALPHABET = "\t\r\n\ufeff#\"'\\/ 7a[]{}\0\x1f\x0b\x85\u2028\xe9\u4e2d\U0001f600"
TEXTS = st.text(ALPHABET, min_size=1, max_size=8)
XPATHS = TEXTS.filter(lambda text: bool(text.strip(" \t\r\n")))
ONE_LINE = st.text(ALPHABET[4:], min_size=1, max_size=8)
ONE_LINE_XPATHS = ONE_LINE.filter(lambda text: bool(text.strip(" ")) and text[0] != "#")
INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)
NAMESPACES = st.none() | st.dictionaries(TEXTS, TEXTS, max_size=3)


def round_trip(name: str, rows: list[Subscription]) -> list[Subscription]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_subscriptions(path, rows) == len(rows)
        return list(read_subscriptions(path))


@given(
    st.sampled_from(["a.jsonl", "a.jsonl.gz"]),
    st.lists(
        st.builds(
            Subscription,
            INTEGERS | TEXTS,
            XPATHS,
            NAMESPACES,
            st.none() | INTEGERS | TEXTS,
        )
    ),
)
def test_jsonl_round_trip(name: str, rows: list[Subscription]) -> None:
    assert same(round_trip(name, rows), rows)


@given(
    st.sampled_from([INTEGERS, TEXTS]).flatmap(
        lambda ids: st.sampled_from([INTEGERS, TEXTS]).flatmap(
            lambda subscribers: st.lists(
                st.builds(Subscription, ids, XPATHS, NAMESPACES, st.none() | subscribers)
            )
        )
    )
)
def test_parquet_round_trip(rows: list[Subscription]) -> None:
    assert same(round_trip("a.parquet", rows), rows)


@given(
    st.sampled_from(["a.tsv", "a.tsv.gz"]),
    st.lists(st.builds(Subscription, ONE_LINE, ONE_LINE_XPATHS)),
)
def test_tsv_round_trip(name: str, rows: list[Subscription]) -> None:
    assert same(round_trip(name, rows), rows)


@given(
    st.sampled_from(["a.txt", "a.txt.gz"]),
    st.dictionaries(st.integers(1, 300), ONE_LINE_XPATHS),
)
def test_txt_round_trip(name: str, xpaths: dict[int, str]) -> None:
    rows = [Subscription(number, xpaths[number]) for number in sorted(xpaths)]
    assert same(round_trip(name, rows), rows)


@given(st.lists(st.builds(Subscription, st.integers(-1, 9) | TEXTS, XPATHS, NAMESPACES)))
@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.parquet"])
def test_rows_round_trip_or_are_refused(name: str, rows: list[Subscription]) -> None:
    try:
        read_rows = round_trip(name, rows)
    except FormatError:
        return
    if name == "a.tsv":  # ids become text
        rows = [Subscription(str(row.id), row.xpath) for row in rows]
    assert same(read_rows, rows)


def same(read_rows: list[Subscription], rows: list[Subscription]) -> bool:
    """Whether the rows are equal and of equal types: in Python True == 1 == 1.0."""
    types = [[(type(row.id), type(row.subscriber)) for row in side] for side in (read_rows, rows)]
    return read_rows == rows and types[0] == types[1]


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("a.txt", Subscription("1", "//a"), "not the number of a line"),
        ("a.txt", Subscription(0, "//a"), "not the number of a line"),
        ("a.txt", Subscription(10**12, "//a"), "empty lines away"),
        ("a.txt", Subscription(1, "# //a"), "not be read as it is"),
        ("a.txt", Subscription(1, "\ufeff//a"), "not be read as it is"),
        ("a.txt", Subscription(1, "//a\n"), "a tab or a line end"),
        ("a.txt", Subscription(1, "//a\tor b"), "a tab or a line end"),
        ("a.txt", Subscription(1, "//p:a", {"p": "urn:p"}), "namespaces cannot"),
        ("a.txt", Subscription(1, "//a", None, "ann"), "a subscriber cannot"),
        ("a.tsv", Subscription("a\tb", "//a"), "a tab or a line end"),
        ("a.tsv", Subscription("\ufeffa", "//a"), "byte order mark"),
        ("a.tsv", Subscription("a", "//a\r\nor b"), "a tab or a line end"),
        ("a.tsv", Subscription("a", "//p:a", {"p": "urn:p"}), "namespaces cannot"),
        ("a.jsonl", Subscription("a", "x" * lines.MAX_LINE_BYTES), "over 1,048,576 bytes"),
        ("a.jsonl", Subscription("a", "//a\ud800"), "half a surrogate"),
        ("a.jsonl", Subscription("", "//a"), "id is empty"),
        ("a.jsonl", Subscription(True, "//a"), "true or false"),
    ],
)
def test_unrepresentable_values_are_refused(
    tmp_path: Path, name: str, row: Subscription, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        write_subscriptions(tmp_path / name, [row])
    assert list(tmp_path.iterdir()) == []


def test_integer_id_becomes_text_in_tsv() -> None:
    assert round_trip("a.tsv", [Subscription(7, "//a")]) == [Subscription("7", "//a")]


def test_txt_ids_must_increase(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="after line 2"):
        write_subscriptions(tmp_path / "a.txt", [Subscription(2, "//a"), Subscription(2, "//b")])


def test_gaps_become_blank_lines(tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "a.txt", [Subscription(2, "//a"), Subscription(5, "//b")])
    assert (tmp_path / "a.txt").read_bytes() == b"\n//a\n\n\n//b\n"


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    def rows() -> Iterator[Subscription]:
        yield Subscription("1", "//b")
        raise KeyboardInterrupt

    path = tmp_path / "a.tsv"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_subscriptions(path, rows())
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]
    assert path.read_bytes() == b"old"


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    rows = [Subscription(1, "//a"), Subscription(2, "//b")]
    for name in ("a.txt.gz", "a.parquet"):
        bodies = set()
        for _ in range(2):
            write_subscriptions(tmp_path / name, rows)
            bodies.add((tmp_path / name).read_bytes())
        assert len(bodies) == 1


def test_default_permissions(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_subscriptions(tmp_path / "a.txt", [])
    modes = {stat.S_IMODE(os.stat(path).st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_name_without_a_format_needs_file_format(tmp_path: Path) -> None:
    kind: Format = "tsv"
    with pytest.raises(FormatError, match="not known"):
        write_subscriptions(tmp_path / "all", [Subscription(1, "//a")])
    write_subscriptions(tmp_path / "all", [Subscription(1, "//a")], file_format=kind)
    assert (tmp_path / "all").read_bytes() == b"1\t//a\n"
