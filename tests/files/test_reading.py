"""Reading of subscription files: formats, errors by line, and errors of the entire file."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import FormatError
from pathcast.files import FORMATS, Format, Subscription, format_of, lines, read_subscriptions


def read(
    body: bytes, kind: Format, namespaces: dict[str, str] | None = None
) -> tuple[list[Subscription], list[FormatError]]:
    bad: list[FormatError] = []
    rows = read_subscriptions(
        "-", file_format=kind, namespaces=namespaces, on_error=bad.append, stdin=io.BytesIO(body)
    )
    return list(rows), bad


def test_txt_ids_are_line_numbers_including_skipped_lines() -> None:
    rows, bad = read(b"//a\n\n# //b\n  \t\n//c \n", "txt")
    assert rows == [Subscription(1, "//a"), Subscription(5, "//c ")]
    assert [row.line for row in rows] == [1, 5]
    assert not bad


def test_hash_after_a_space_is_no_comment() -> None:
    assert read(b" # //b", "txt")[0] == [Subscription(1, " # //b")]


def test_only_line_feeds_end_lines() -> None:
    body = "//a[.='x\u2028y\x0bz']\r\n//b\r\n".encode()
    assert [row.xpath for row in read(body, "txt")[0]] == ["//a[.='x\u2028y\x0bz']", "//b"]


def test_last_line_without_line_feed() -> None:
    assert read(b"//a", "txt")[0] == [Subscription(1, "//a")]


@pytest.mark.parametrize(
    ("kind", "body"),
    [("txt", b"//a"), ("tsv", b"1\t//a"), ("jsonl", b'{"id": "1", "xpath": "//a"}')],
)
def test_byte_order_mark_is_ignored(kind: Format, body: bytes) -> None:
    rows, bad = read(b"\xef\xbb\xbf" + body + b"\n", kind)
    assert [(str(row.id), row.xpath) for row in rows] == [("1", "//a")]
    assert not bad


def test_utf_16_is_an_error_of_the_file() -> None:
    with pytest.raises(FormatError, match="UTF-16") as caught:
        read("//a\n//b\n".encode("utf-16"), "txt")
    assert caught.value.line is None


def test_tsv_ids_are_texts_and_may_start_with_a_hash() -> None:
    rows, bad = read(b"7\t//a\n\n#8\t//b\n", "tsv")
    assert rows == [Subscription("7", "//a"), Subscription("#8", "//b")]
    assert not bad


def test_misspelt_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": 1, "xpath": "//p:a", "namespace": {"p": "urn:p"}, "note": "mine"}\n')
    with pytest.raises(FormatError) as caught:
        list(read_subscriptions(path))
    assert (caught.value.kind, caught.value.hint) == ("columns", "did you mean 'namespaces'?")


def test_jsonl_types_and_optional_fields() -> None:
    objects = [
        {"id": 7, "xpath": "//a"},
        {"id": "7", "xpath": "//b", "namespaces": None, "subscriber": None, "note": "ours"},
        {"id": "n", "xpath": "//p:c", "namespaces": {"p": "urn:p"}, "subscriber": 3},
    ]
    rows, bad = read("\n".join(map(json.dumps, objects)).encode(), "jsonl")
    assert rows == [
        Subscription(7, "//a"),
        Subscription("7", "//b"),
        Subscription("n", "//p:c", {"p": "urn:p"}, 3),
    ]
    assert not bad


def test_last_duplicate_key_wins() -> None:
    assert read(b'{"id": 1, "id": 2, "xpath": "//a"}', "jsonl") == ([Subscription(2, "//a")], [])


@pytest.mark.parametrize(
    ("kind", "line", "error", "message"),
    [
        ("txt", b"//\xff", "encoding", "byte 3"),
        ("tsv", b"//a", "columns", "no tab"),
        ("tsv", b"1\t//a\tmore", "columns", "more than one tab"),
        ("tsv", b"\t//a", "value", "id is empty"),
        ("tsv", b"1\t ", "value", "xpath is empty"),
        ("tsv", b"\xc3\t//a", "encoding", "byte 1"),
        ("jsonl", b'{"id": 1, "xpath": }', "json", "character 20"),
        ("jsonl", b"[" * 100_000, "json", "not readable"),
        ("jsonl", b'{"id": ' + b"9" * 5000 + b', "xpath": "//a"}', "json", "not readable"),
        ("jsonl", b'["//a"]', "type", "no object"),
        ("jsonl", b'{"xpath": "//a"}', "columns", "'id'"),
        ("jsonl", b'{"id": 1}', "columns", "'xpath'"),
        ("jsonl", b'{"id": null, "xpath": "//a"}', "type", "id is missing"),
        ("jsonl", b'{"id": true, "xpath": "//a"}', "type", "id is true or false"),
        ("jsonl", b'{"id": 1.0, "xpath": "//a"}', "type", "id is a number"),
        ("jsonl", b'{"id": NaN, "xpath": "//a"}', "type", "id is a number"),
        ("jsonl", b'{"id": [1], "xpath": "//a"}', "type", "id is a list"),
        ("jsonl", b'{"id": "", "xpath": "//a"}', "value", "id is empty"),
        ("jsonl", b'{"id": 1, "xpath": 2}', "type", "xpath is a number"),
        ("jsonl", b'{"id": 1, "xpath": "\\n "}', "value", "xpath is empty"),
        ("jsonl", b'{"id": 1, "xpath": "//a\\ud800"}', "encoding", "character 4"),
        ("jsonl", b'{"id": 1, "xpath": "a", "subscriber": {}}', "type", "subscriber is an object"),
        ("jsonl", b'{"id": 1, "xpath": "a", "namespaces": "p"}', "type", "namespaces are a text"),
        ("jsonl", b'{"id": 1, "xpath": "a", "namespaces": {"p": 1}}', "type", "a number among"),
        ("jsonl", b'{"id": 1, "xpath": "a", "namespaces": {"": "u"}}', "value", "no prefix"),
        ("jsonl", b'{"id": 1, "xpath": "a", "namespaces": {"p": ""}}', "value", "no address"),
    ],
)
def test_bad_row_is_an_error_and_reading_continues(
    kind: Format, line: bytes, error: str, message: str
) -> None:
    good = {"txt": b"//g", "tsv": b"g\t//g", "jsonl": b'{"id": "g", "xpath": "//g"}'}[kind]
    rows, bad = read(good + b"\n" + line + b"\n" + good + b"\n", kind)
    assert [row.line for row in rows] == [1, 3]
    assert [(item.kind, item.line) for item in bad] == [(error, 2)]
    assert message in bad[0].message


def test_first_bad_row_is_raised_without_a_callback() -> None:
    rows = read_subscriptions("-", file_format="tsv", stdin=io.BytesIO(b"1\t//a\noops\n"))
    assert next(rows).id == "1"
    with pytest.raises(FormatError, match="no tab"):
        next(rows)


def test_overlong_line_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 20)
    rows, bad = read(b"//a\n" + b"/" * 100 + b"\n" + b"b" * 20 + b"\n//c\n", "txt")
    assert [row.id for row in rows] == [1, 3, 4]
    assert [(item.kind, item.line) for item in bad] == [("size", 2)]


def test_row_prefixes_override_default_prefixes() -> None:
    body = b'{"id": 1, "xpath": "//p:a"}\n{"id": 2, "xpath": "//p:a", "namespaces": {"p": "own"}}\n'
    rows, _ = read(body, "jsonl", {"p": "all", "q": "more"})
    assert [row.namespaces for row in rows] == [
        {"p": "all", "q": "more"},
        {"p": "own", "q": "more"},
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", "txt"),
        ("x/y.b/all.TSV", "tsv"),
        ("all.jsonl.gz", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.csv", None),
        ("txt", None),
        ("txt.gz", None),
        ("x.txt/file", None),
        ("a.txt.zip", None),
    ],
)
def test_format_of_a_name(name: str, expected: Format | None) -> None:
    assert format_of(name) == expected


def test_gzip_is_detected_by_content(tmp_path: Path) -> None:
    path = tmp_path / "all.txt.gz"
    path.write_bytes(gzip.compress(b"//a\n"))
    assert list(read_subscriptions(path)) == [Subscription(1, "//a")]
    path.write_bytes(b"//b\n")
    assert list(read_subscriptions(path)) == [Subscription(1, "//b")]


@pytest.mark.parametrize("cut", [5, 12, -4])
def test_damaged_gzip_is_an_error_of_the_file(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "all.txt.gz"
    path.write_bytes(gzip.compress(b"//a\n//b\n")[:cut])
    with pytest.raises(FormatError, match="gzip") as caught:
        list(read_subscriptions(path))
    assert caught.value.line is None


def test_missing_file_fails_at_once(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        read_subscriptions(tmp_path / "none.txt")


def test_folder_is_not_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(FormatError, match="directory"):
        list(read_subscriptions(tmp_path / "a.txt"))


@pytest.mark.parametrize("source", ["-", "subscriptions.csv"])
def test_unknown_format_lists_the_formats(source: str) -> None:
    with pytest.raises(FormatError, match="not known") as caught:
        read_subscriptions(source)
    assert ".parquet" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", FORMATS)
@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([b"\n", b"\t", b'{"id":', b'"xpath"', b"1", b"}", b"\xff"])).map(
        b"".join
    )
)
def test_any_bytes_give_rows_or_format_errors(kind: Format, body: bytes) -> None:
    rows: list[Subscription] = []
    bad: list[FormatError] = []
    line_of_file_error: int | None = None
    try:
        rows, bad = read(body, kind)
    except FormatError as error:
        line_of_file_error = error.line
    assert line_of_file_error is None
    line_numbers = [row.line or 0 for row in rows] + [error.line or 0 for error in bad]
    assert len(set(line_numbers)) == len(line_numbers)
    assert all(1 <= line <= body.count(b"\n") + 1 for line in line_numbers)


def test_reading_is_lazy() -> None:
    stream = io.BytesIO(b"//a\n" * 100_000)
    rows = read_subscriptions("-", file_format="txt", stdin=stream)
    assert [next(rows).id for _ in range(1000)] == list(range(1, 1001))
    assert stream.tell() < 20_000


def test_missing_pyarrow_has_an_install_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(FormatError, match="pyarrow") as caught:
        list(read_subscriptions(tmp_path / "a.parquet"))
    assert caught.value.hint == "pip install 'pathcast[parquet]'"
