"""Parquet subscription files: columns, bad rows, folders, and column types."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathcast.errors import FormatError
from pathcast.files import Subscription, read_subscriptions, write_subscriptions

STRINGS = pa.map_(pa.string(), pa.string())


def write_table(tmp_path: Path, **columns: Any) -> Path:
    path = tmp_path / "all.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_columns_of_other_writers(tmp_path: Path) -> None:
    path = write_table(
        tmp_path,
        note=pa.array([1.5, 2.5]),
        xpath=pa.array(["//a", "//b"]).dictionary_encode(),
        id=pa.array([1, 2], pa.int16()),
        namespaces=pa.array([{"p": "urn:p", "q": None}, None]),
        subscriber=pa.array([None, "ann"], pa.large_string()),
    )
    assert list(read_subscriptions(path)) == [
        Subscription(1, "//a", {"p": "urn:p"}),
        Subscription(2, "//b", None, "ann"),
    ]


def test_bad_rows_do_not_stop_the_others(tmp_path: Path) -> None:
    broken = pa.array([b"//a", b"//\xff", b"//c", b"//d", b"//e"], pa.binary())
    path = write_table(
        tmp_path,
        id=pa.array(["1", "2", None, "4", ""]),
        xpath=pa.StringArray.from_buffers(5, *broken.buffers()[1:]),
        namespaces=pa.array([None, None, None, [("p", None)], None], STRINGS),
    )
    bad: list[FormatError] = []
    rows = list(read_subscriptions(path, on_error=bad.append))
    assert rows == [Subscription("1", "//a")]
    assert [(error.line, error.message) for error in bad] == [
        (2, "the xpath is not UTF-8"),
        (3, "the id is missing"),
        (4, "missing among the namespaces"),
        (5, "the id is empty"),
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["1"]}, "no columns named 'xpath'"),
        ({"id": [1.5], "xpath": ["//a"]}, "'id' is of type double"),
        ({"id": [1], "xpath": [2]}, "'xpath' is of type int64"),
        ({"id": [1], "xpath": ["//a"], "namespaces": ["p=u"]}, "'namespaces' is of type string"),
        ({"id": [1], "xpath": ["//a"], "subscriber": [[1]]}, "'subscriber' is of type list"),
    ],
)
def test_wrong_columns_are_errors_of_the_file(
    tmp_path: Path, columns: dict[str, Any], message: str
) -> None:
    path = write_table(tmp_path, **{name: pa.array(values) for name, values in columns.items()})
    with pytest.raises(FormatError, match=message) as caught:
        list(read_subscriptions(path))
    assert caught.value.line is None


def test_not_a_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"//a\n//b\n//c\n")
    with pytest.raises(FormatError, match="not readable as parquet"):
        list(read_subscriptions(tmp_path / "a.parquet"))


def test_spark_folder_is_read_as_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "all.parquet"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").touch()
    write_subscriptions(folder / "part-1.parquet", [Subscription(3, "//c")])
    write_subscriptions(folder / "part-0.parquet", [Subscription(1, "//a"), Subscription(2, "//b")])
    rows = list(read_subscriptions(folder))
    assert [(row.id, row.line) for row in rows] == [(1, 1), (2, 2), (3, 3)]


def test_folder_without_part_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "all.parquet").mkdir()
    with pytest.raises(FormatError, match="no parquet files"):
        list(read_subscriptions(tmp_path / "all.parquet"))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_parquet_from_standard_input(tmp_path: Path, compress: Any) -> None:
    write_subscriptions(tmp_path / "a.parquet", [Subscription(1, "//a")])
    stream = io.BytesIO(compress((tmp_path / "a.parquet").read_bytes()))
    rows = read_subscriptions("-", file_format="parquet", stdin=stream)
    assert list(rows) == [Subscription(1, "//a")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([Subscription(7, "//a"), Subscription("7", "//a")], "integers and texts among the id"),
        (
            [Subscription(1, "a", None, "x"), Subscription(2, "a", None, 9)],
            "integers and texts among the subscriber",
        ),
        ([Subscription(1 << 63, "//a")], "over 64 bits"),
    ],
)
def test_mixed_types_in_a_column_are_refused(
    tmp_path: Path, rows: list[Subscription], message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        write_subscriptions(tmp_path / "a.parquet", rows)
    assert list(tmp_path.iterdir()) == []


def test_default_subscribers_are_null(tmp_path: Path) -> None:
    rows = [Subscription(1, "//a"), Subscription(2, "//b", None, "ann")]
    write_subscriptions(tmp_path / "a.parquet", rows)
    assert list(read_subscriptions(tmp_path / "a.parquet")) == rows
