"""Rows of CSV and JSON as documents, and documents transformed by style sheets."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import string
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lxml import etree
from pyspark.sql import SparkSession

from pathcast.containers import json_records, records, rows
from pathcast.containers.rows import SUFFIXES, BodyField, RecordMapping, RowsToXml, read_rows
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.documents import parse
from pathcast.errors import PipelineError
from pathcast.generators.feeds import bundled_stylesheet, stock, weather
from pathcast.generators.feeds.rows import write_csv
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.weather import WeatherOptions
from pathcast.pipeline.sources.document_batches import DOCUMENTS_DDL, FAULT_TYPE, unpack_batches
from pathcast.pipeline.sources.xslt import XsltTransform, transform_batches, transform_documents

MAX_BYTES = 1_000_000
XSL = "http://www.w3.org/1999/XSL/Transform"
NAMES = st.text(string.ascii_letters + "éЖ東", min_size=1, max_size=4)
CHARACTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
CELLS = st.text(CHARACTERS | st.sampled_from('"",;\t\r\n <&>'), max_size=8)


def read(
    name: str, text: str | bytes, mapping: RecordMapping | None = None, max_bytes: int = MAX_BYTES
) -> list[UnpackedDocument]:
    content = text.encode() if isinstance(text, str) else text
    return list(read_rows(name, content, max_bytes, mapping or RowsToXml()))


def attributes(document: UnpackedDocument) -> list[dict[str, str]]:
    assert document.fault is None
    assert document.body is not None
    root = parse(document.body).tree.getroot()
    assert root.tag == "rows"
    assert all(row.tag == "row" for row in root)
    return [{str(name): str(value) for name, value in row.attrib.items()} for row in root]


def faults(documents: list[UnpackedDocument]) -> list[tuple[str, str, str]]:
    return [(document.id, *document.fault) for document in documents if document.fault is not None]


@given(
    header=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    data=st.data(),
    end=st.sampled_from(["\r\n", "\n"]),
    mark=st.booleans(),
)
def test_csv_roundtrip(header: list[str], data: st.DataObject, end: str, mark: bool) -> None:
    table = data.draw(
        st.lists(st.lists(CELLS, min_size=len(header), max_size=len(header)), max_size=5)
    )
    out = io.StringIO(newline="")
    if end == "\n":  # Python 3.11 would not quote a carriage return
        writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL)
    else:
        writer = csv.writer(out)
    writer.writerow(header)
    expected = []
    for row in table:
        line = out.getvalue().count("\n") + 1
        writer.writerow(row)
        expected.append((f"f.csv:{line}", [dict(zip(header, row, strict=True))]))
    documents = read("f.csv", out.getvalue().encode("utf-8-sig" if mark else "utf-8"))
    assert [(document.id, attributes(document)) for document in documents] == expected


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | CELLS
    | st.floats(allow_nan=False, allow_infinity=False)
)
OBJECTS = st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=6)


def as_text(values: dict[str, Any]) -> dict[str, str]:
    """Return the attributes of an object: the slow reference."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value is not None
    }


@given(OBJECTS, st.booleans())
def test_json_lines(objects: list[dict[str, Any]], ascii_only: bool) -> None:
    text = "".join(json.dumps(item, ensure_ascii=ascii_only) + "\n" for item in objects)
    documents = read("f.jsonl", text)
    assert [attributes(item) for item in documents] == [[as_text(item)] for item in objects]
    assert [item.id for item in documents] == [
        f"f.jsonl:{line + 1}" for line in range(len(objects))
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OBJECTS, st.sampled_from([None, 0, 2]), st.sampled_from([1, 2, 3, 7, 50]))
def test_json_arrays_under_any_chunking(
    objects: list[dict[str, Any]], indent: int | None, piece: int
) -> None:
    text = json.dumps(objects, ensure_ascii=False, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "_READ_SIZE", piece)
        documents = read("f.json", text)
    assert [attributes(item) for item in documents] == [[as_text(item)] for item in objects]
    assert [item.id for item in documents] == [
        f"f.json:{position + 1}" for position in range(len(objects))
    ]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9)), max_size=12),
    st.sampled_from(["csv", "jsonl", "json"]),
)
def test_groups_equal_those_of_groupby(table: list[tuple[str, int]], kind: str) -> None:
    objects = [{"k": key, "v": value} for key, value in table]
    text = {
        "csv": "k,v\n" + "".join(f"{key},{value}\n" for key, value in table),
        "jsonl": "\n".join(map(json.dumps, objects)),
        "json": json.dumps(objects),
    }[kind]
    before = 2 if kind == "csv" else 1
    expected = []
    for _, group in itertools.groupby(enumerate(table), key=lambda entry: entry[1][0]):
        positions, members = zip(*group, strict=True)
        id = f"f.{kind}:{positions[0] + before}-{positions[-1] + before}"
        expected.append((id, [{"k": key, "v": str(value)} for key, value in members]))
    documents = read(f"f.{kind}", text, RowsToXml(group="k"))
    assert [(entry.id, attributes(entry)) for entry in documents] == expected


@settings(max_examples=300)
@given(
    st.binary(max_size=60)
    | st.text('[]{}",:\\abné1\n\r \ud800', max_size=60).map(
        lambda s: s.encode(errors="surrogatepass")
    ),
    st.sampled_from(SUFFIXES),
    st.sampled_from([RowsToXml(), RowsToXml(group="a"), BodyField()]),
)
@example(b'[{"body": "\\ud800"}, {"body": "x", "id": "\\ud800"}]', "json", BodyField())
@example(b'[{"\\ud800": 1}, {"a": "\\ud800"}, {"a": {"b": 1}}]', "json", RowsToXml())
def test_any_bytes_are_documents_or_faults(
    content: bytes, ending: str, form: RecordMapping
) -> None:
    for packed in (content, gzip.compress(content), b"a,b\n" + content):
        documents = read(f"f.{ending}", packed, form)
        assert all(
            (document.body is None) == (document.fault is not None) for document in documents
        )
        pa.array([document.id for document in documents], pa.string())
        pa.array([document.fault and document.fault[1] for document in documents], pa.string())
        if form != BodyField():  # bodies bring their own ids
            assert len({document.id for document in documents}) == len(documents)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1\n2,3\n", [("f.csv:2", "row", "line 2: 1 value for 2 columns")]),
        ("a\n\n1,2\n3\n", [("f.csv:3", "row", "line 3: 2 values for 1 column")]),
        ('a,b\n"1"x,2\n3,4\n', [("f.csv:2", "row", "line 2: no CSV: ',' expected after '\"'")]),
        ("a\n\x01\n3\n", [("f.csv:2", "row", "line 2: a row cannot be XML: ")]),
        ("a\n\x00\n3\n", [("f.csv:2", "row", "line 2: a row cannot be XML: ")]),
    ],
)
def test_invalid_csv_row_costs_one_row(text: str, expected: list[tuple[str, str, str]]) -> None:
    documents = read("f.csv", text)
    assert len(documents) == 2
    ((id, kind, message),) = faults(documents)
    assert (id, kind) == expected[0][:2]
    assert message.startswith(expected[0][2])
    assert attributes(documents[1])[0]["a"] == text.splitlines()[-1].split(",")[0]


def test_invalid_utf_8_costs_one_line() -> None:
    documents = read("f.csv", b"a\nx\n\xe9t\xe9\ny\n")
    assert faults(documents) == [("f.csv:3", "row", "line 3: byte 1 of line 3 is not UTF-8")]
    assert [document.id for document in documents if document.body] == ["f.csv:2", "f.csv:4"]


@pytest.mark.parametrize(
    ("header", "expected_message"),
    [
        ("a,a b", "the column 'a b' needs a name that XML allows"),
        ("a,", "the column '' needs a name"),
        ("1st", "the column '1st' needs a name"),
        ("xmlns", "the column 'xmlns' needs a name"),
        ("a:b", "the column 'a:b' needs a name"),
        ("{u}b", "the column '{u}b' needs a name"),
        ("a,b,a", "there are two columns 'a'"),
        ('"a', "no CSV: unexpected end of data"),
        (",".join(f"a{number}" for number in range(1001)), "1,001 columns, and 1,000 are allowed"),
    ],
)
def test_invalid_header_ends_reading(header: str, expected_message: str) -> None:
    ((id, kind, message),) = faults(documents := read("f.csv", f"{header}\n1,2\n3,4\n"))
    assert len(documents) == 1
    assert (id, kind) == ("f.csv:1", "row")
    assert expected_message in message
    assert message.endswith("; from here on nothing is read")


def test_unusual_valid_headers() -> None:
    (documents,) = read("f.csv", 'été,_x,a-b.c,"東"\n1,2,3,4\n')
    assert attributes(documents) == [{"été": "1", "_x": "2", "a-b.c": "3", "東": "4"}]


def test_files_without_rows() -> None:
    for text in ("", "a,b\n", "\n\n", "\ufeffa\n"):
        assert read("f.csv", text) == []
    for text in ("", "\n \r\n", "\ufeff"):
        assert read("f.jsonl", text) == []
    for text in ("[]", "\ufeff [ \n ] "):
        assert read("f.json", text) == []


def test_open_quote_costs_the_quoted_lines() -> None:
    text = 'a,b\n1,2\n3,"4\n5,6\n7,"8"\n9,0\n'
    documents = read("f.csv", text)
    assert faults(documents) == [
        ("f.csv:3", "row", "lines 3-5: no CSV: ',' expected after '\"'"),
    ]
    assert [document.id for document in documents if document.body] == ["f.csv:2", "f.csv:6"]
    assert faults(read("f.csv", 'a\n"1\n2\n')) == [
        ("f.csv:2", "row", "lines 2-3: no CSV: unexpected end of data")
    ]


def test_lines_of_an_oversized_cell_are_no_rows() -> None:
    inside = "x" * 70_000
    documents = read("f.csv", f'a\n1\n"{inside}\n{inside}\nno row\n"\n2\n')
    assert [document.id for document in documents if document.body] == ["f.csv:2"]
    ((id, kind, message),) = faults(documents)
    assert (id, kind) == ("f.csv:3", "row")
    assert "field larger than field limit" in message
    assert "from here on nothing is read" in message
    documents = read("f.csv", f'a\n1\n"{inside}{inside}"\n2\n')  # here the cell ends with its line
    assert [document.id for document in documents if document.body] == ["f.csv:2", "f.csv:4"]


def test_row_length_is_limited() -> None:
    long = "x" * 70_000
    for name, text in (
        ("f.csv", f"a\n1\n{long},{long}\n2\n"),
        ("f.csv", 'a\n1\n"' + '\n"",""'.join(["x" * 100] * 1000) + '"\n2\n'),
        ("f.jsonl", f'{{"a":1}}\n\n{{"a":"{long}"}}\n{{"a":2}}\n'),
    ):
        documents = read(name, text, max_bytes=1000)
        assert [document.id.partition(":")[2] for document in documents][:2] == [
            "2" if name == "f.csv" else "1",
            "3",
        ]
        ((_, kind, message),) = faults(documents)
        assert (kind, "longer than 67,536 bytes" in message) == ("size", True)
    documents = read("f.json", json.dumps([{"a": 1}, {"a": long * 3}, {"a": 2}]), max_bytes=1000)
    assert [document.fault and document.fault[0] for document in documents] == [None, "size"]


def test_document_size_is_limited() -> None:
    body = read("f.csv", "a\nx\n")[0].body
    assert body is not None
    assert read("f.csv", "a\nx\n", max_bytes=len(body))[0].fault is None
    assert faults(read("f.csv", "a\nx\n", max_bytes=len(body) - 1)) == [
        ("f.csv:2", "size", "line 2: the document has 25 bytes, more than 24")
    ]
    group = RowsToXml(group="a")
    pair = read("f.csv", "a\nx\nx\n", group)[0].body
    assert pair is not None
    text = "a\nx\nx\ny\n"
    assert [document.fault for document in read("f.csv", text, group, max_bytes=len(pair))] == [
        None,
        None,
    ]
    assert [document.fault for document in read("f.csv", text, group, max_bytes=len(pair) - 1)] == [
        ("size", f"{len(pair)} bytes, more than {len(pair) - 1}"),
        None,
    ]


def test_group_rows_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_GROUP_ROWS", 3)
    documents = read("f.csv", "a,b\n" + "x,1\n" * 3 + "y,1\n" * 4 + "z,1\n", RowsToXml(group="a"))
    assert [document.id for document in documents] == ["f.csv:2-4", "f.csv:5-8", "f.csv:9-9"]
    assert [document.fault for document in documents] == [
        None,
        ("size", "4 rows, more than 3"),
        None,
    ]


def test_invalid_rows_do_not_split_a_group() -> None:
    documents = read("f.csv", "a,b\nx,1\nx\nx,2\ny,3\n", RowsToXml(group="a"))
    assert [document.id for document in documents] == ["f.csv:3", "f.csv:2-4", "f.csv:5-5"]
    assert attributes(documents[1]) == [{"a": "x", "b": "1"}, {"a": "x", "b": "2"}]


def test_rows_without_the_group_column() -> None:
    expected_message = "no 'a', by which rows are to be grouped"
    assert faults(read("f.csv", "b\n1\n", RowsToXml(group="a"))) == [
        ("f.csv:2", "row", f"line 2: {expected_message}")
    ]
    documents = read(
        "f.jsonl", '{"a": 1}\n{"a": null}\n{"b": 1}\n{"a": true}', RowsToXml(group="a")
    )
    assert [document.id for document in documents] == [
        "f.jsonl:2",
        "f.jsonl:3",
        "f.jsonl:1-1",
        "f.jsonl:4-4",
    ]


@pytest.mark.parametrize(
    ("text", "expected_message"),
    [
        ("nope", "no JSON: Expecting value at character 1"),
        ('{"a": 1', "no JSON: Expecting ',' delimiter at character 8"),
        ("[1]", "an object is expected"),
        ("7", "an object is expected"),
        ('{"a": [1]}', "'a' is an array: a text, a number, true, false or null is expected"),
        ('{"a": {"b": 1}}', "'a' is an object: a text, a number"),
        ('{"a": {}}', "'a' is an object: a text, a number"),
        ('{"a": NaN}', "'a' is NaN, which is no JSON"),
        ('{"a": 1, "a": 1}', "the name 'a' is there twice"),
        ('{"a b": 1}', "a row cannot be XML: "),
        ('{"": 1}', "a row cannot be XML: "),
        ('{"a": "\\u0001"}', "a row cannot be XML: "),
        ('{"a": "\\ud800"}', "a row cannot be XML: "),
        (json.dumps(dict.fromkeys(map("a{}".format, range(1001)), 1)), "1,001 values, and 1,000"),
        ("[" * 100_000, "too many brackets inside one another"),
    ],
)
def test_invalid_json_line_costs_one_line(text: str, expected_message: str) -> None:
    documents = read("f.jsonl", f'{{"a": 1}}\n{text}\n{{"a": 2}}\n')
    assert [document.id for document in documents] == ["f.jsonl:1", "f.jsonl:2", "f.jsonl:3"]
    ((_, kind, message),) = faults(documents)
    assert kind == "row"
    assert message.startswith(f"line 2: {expected_message}")


def test_numbers_keep_their_spelling() -> None:
    digits = "9" * 5000
    (documents,) = read(
        "f.jsonl", f'{{"a": 1.50, "b": -0, "c": 1E5, "d": {digits}, "e": true, "f": null}}'
    )
    assert attributes(documents) == [{"a": "1.50", "b": "-0", "c": "1E5", "d": digits, "e": "true"}]


@pytest.mark.parametrize(
    ("text", "ids", "expected_message"),
    [
        ("", [1], "object 1, line 1: an array of objects is expected"),
        ('{"a": 1}', [1], "object 1, line 1: an array of objects is expected"),
        ('[{"a": 1}', [1, 2], "object 2, line 1: no JSON: , or ] is expected"),
        ('[{"a": 1}\n{"a": 2}]', [1, 2], "object 2, line 1: no JSON: , or ] is expected"),
        ('[{"a": 1},\n]', [1, 2], "object 2, line 2: no JSON: Expecting value"),
        ('[{"a": 1},\n\n{"a": 2]', [1, 2], "object 2, line 3: no JSON: Expecting ','"),
        ('[{"a": 1}] []', [1, 2], "object 2, line 1: there is more after the array"),
        ("[" * 100_000, [1], "object 1, line 1: too many brackets"),
        (b'[{"a": "\xff"}]', [1], "object 1, line 1: not UTF-8"),
    ],
)
def test_syntax_error_in_an_array_ends_reading(
    text: str | bytes, ids: list[int], expected_message: str
) -> None:
    documents = read("f.json", text)
    assert [document.id for document in documents] == [f"f.json:{number}" for number in ids]
    ((_, kind, message),) = faults(documents)
    assert kind == "row"
    assert message.startswith(expected_message)
    assert message.endswith("; from here on nothing is read")


def test_invalid_element_of_an_array_costs_one_element() -> None:
    documents = read(
        "f.json", '[{"a": 1}, 7,\n {"a": [1]}, {"a": NaN}, {"a": 2, "a": 2}, {"a": 5}]'
    )
    assert [document.fault and document.fault[1][:16] for document in documents] == [
        None,
        "object 2, line 1",
        "object 3, line 2",
        "object 4, line 2",
        "object 5, line 2",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "text"), [("f.CSV", "a\n1\n"), ("f.Ndjson", '{"a": 1}'), ("d.x/f.json", '[{"a": 1}]')]
)
def test_compressed_row_files(name: str, text: str) -> None:
    for full, content in ((name, text.encode()), (f"{name}.gz", gzip.compress(text.encode()))):
        (documents,) = read(full, content)
        assert documents.id in (f"{full}:1", f"{full}:2")
        assert attributes(documents) == [{"a": "1"}]


def test_damaged_gzip_keeps_earlier_rows() -> None:
    text = "a\n" + "".join(f"{number}\n" for number in range(50_000))
    packed = gzip.compress(text.encode())
    documents = read("f.csv.gz", packed[: len(packed) // 2])
    assert len(documents) > 1000
    assert attributes(documents[0]) == [{"a": "0"}]
    assert [document[:2] for document in faults(documents)] == [("f.csv.gz", "archive")]
    assert documents[-1].id == "f.csv.gz"
    assert faults(read("f.csv.gz", b"no gzip"))[0][:2] == ("f.csv.gz", "archive")


def test_rows_are_read_lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    take = records.RecordLines.__next__

    def count(self: records.RecordLines) -> str:
        lines.append(line := take(self))
        return line

    monkeypatch.setattr(records.RecordLines, "__next__", count)
    documents = read_rows("f.csv", b"a\n" + b"1\n" * 1000, MAX_BYTES, RowsToXml())
    assert lines == []
    next(documents)
    assert lines == ["a\n", "1\n"]


def test_bodies() -> None:
    lines = [
        {"body": "<a>é</a>"},
        {"body": "<b/>", "id": "seven", "time": "2011-08-03T09:30:00+02:00", "more": [1]},
        {"body": "<c/>", "id": 7, "time": None},
        {"body": "<d/>", "time": "2011-08-03 09:30:00"},
    ]
    text = "\n\n".join(json.dumps(line) for line in lines)
    documents = read("f.jsonl", text, BodyField())
    assert [(document.id, document.body) for document in documents] == [
        ("f.jsonl:1", "<a>é</a>".encode()),
        ("seven", b"<b/>"),
        ("7", b"<c/>"),
        ("f.jsonl:7", b"<d/>"),
    ]
    assert [getattr(document, "time", None) for document in documents] == [
        None,
        datetime(2011, 8, 3, 7, 30, tzinfo=UTC),
        None,
        datetime(2011, 8, 3, 9, 30, tzinfo=UTC),
    ]


@pytest.mark.parametrize("encoding", ["UTF-8", "iso-8859-1", "utf-16", "windows-1252"])
def test_body_is_encoded_as_declared(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><a>é</a>"
    (documents,) = read("f.jsonl", json.dumps({"body": text}), BodyField())
    assert documents.body is not None
    assert parse(documents.body).tree.getroot().text == "é"


@pytest.mark.parametrize(
    ("line", "expected_message"),
    [
        ("<a/>", "no JSON"),
        ("[]", "an object is expected"),
        ("{}", "no 'body', the text of an XML document"),
        ('{"body": null}', "no 'body'"),
        ('{"body": 7}', "no 'body'"),
        ('{"body": {"a": 1}}', "no 'body'"),
        ('{"body": "\\ud800"}', "the body cannot be written in its encoding, utf-8"),
        (
            '{"body": "<?xml version=\\"1.0\\" encoding=\\"ascii\\"?><a>é</a>"}',
            "the body cannot be",
        ),
        ('{"body": "<?xml version=\\"1.0\\" encoding=\\"punycode\\"?><a/>"}', "the body cannot be"),
        ('{"body": "<a/>", "id": ""}', "the 'id' is a text or a number, not ''"),
        ('{"body": "<a/>", "id": [1]}', "the 'id' is a text or a number"),
        ('{"body": "<a/>", "id": "\\ud800"}', "the 'id' is a text or a number"),
        ('{"body": "<a/>", "time": "soon"}', "the 'time' is a text like"),
        ('{"body": "<a/>", "time": 12}', "the 'time' is a text like"),
        ('{"body": "<a/>", "time": "0001-01-01T00:00:00+10:00"}', "the 'time' is a text like"),
    ],
)
def test_invalid_body_lines(line: str, expected_message: str) -> None:
    documents = read("f.jsonl", f'{{"body": "<x/>"}}\n{line}\n{{"body": "<y/>"}}\n', BodyField())
    assert [document.id for document in documents] == ["f.jsonl:1", "f.jsonl:2", "f.jsonl:3"]
    ((_, kind, message),) = faults(documents)
    assert kind == "row"
    assert message.startswith(f"line 2: {expected_message}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.jsonl", '{"text": "<x/>", "nr": 7, "id": "a"}\n{"text": "<y/>"}\n{"nr": 8}\n'),
        ("f.csv", "text,nr,id\n<x/>,7,a\n"),
    ],
)
def test_named_fields_of_body_and_id(name: str, text: str) -> None:
    documents = read(name, text, BodyField("text", "nr"))
    assert (documents[0].id, documents[0].body) == ("7", b"<x/>")
    for document, expected in zip(
        documents[1:],
        [
            ("f.jsonl:2", b"<y/>", None),
            ("f.jsonl:3", None, ("row", "line 3: no 'text', the text of an XML document")),
        ],
        strict=False,
    ):
        assert (document.id, document.body, document.fault) == expected


def test_oversized_body() -> None:
    documents = read("f.jsonl", '{"body": "<aaaaaa/>"}\n{"body": "<a/>"}', BodyField(), max_bytes=8)
    assert [document.fault and document.fault[0] for document in documents] == ["size", None]


# --- style sheets ---------------------------------------------------------------------------------


def stylesheet(inside: str) -> bytes:
    return (
        f'<xsl:stylesheet version="1.0" xmlns:xsl="{XSL}"><xsl:param name="p"/>\n'
        f'<xsl:template match="/">{inside}</xsl:template></xsl:stylesheet>'
    ).encode()


def bundled_transform(name: str, **options: Any) -> XsltTransform:
    text = (resources.files("pathcast.generators") / "stylesheets" / f"{name}.xsl").read_bytes()
    return XsltTransform(text, f"{name}.xsl", MAX_BYTES, 60.0, **options)


def batch(*documents: UnpackedDocument) -> pa.RecordBatch:
    moment = datetime(2011, 8, 3, tzinfo=UTC)
    return pa.RecordBatch.from_arrays(
        [
            pa.array([document.id for document in documents], pa.string()),
            pa.array([document.body for document in documents], pa.binary()),
            pa.array(["here"] * len(documents), pa.string()),
            pa.array([moment] * len(documents), pa.timestamp("us", tz="UTC")),
            pa.array(
                [
                    document.fault and {"kind": document.fault[0], "message": document.fault[1]}
                    for document in documents
                ],
                FAULT_TYPE,
            ),
        ],
        names=["id", "body", "source", "time", "fault"],
    )


def transform_all(transform: XsltTransform, *documents: UnpackedDocument) -> list[dict[str, Any]]:
    return [
        row
        for rows in transform_batches(iter([batch(*documents)]), transform)
        for row in rows.to_pylist()
    ]


def weather_csv() -> tuple[bytes, list[bytes]]:
    """Return weather rows as CSV, and the messages that the generator makes of them."""
    table = list(weather.rows(WeatherOptions(until=3000), 1))
    out = io.StringIO()
    write_csv(out, weather.FIELDS, table)
    own = bundled_stylesheet("weather")
    return out.getvalue().encode(), [
        own.transform_rows(weather.FIELDS, [row.values]) for row in table
    ]


def stock_csv() -> tuple[bytes, list[bytes]]:
    """Return stock rows as CSV, and the generator's message for each point in time."""
    table = list(stock.rows(StockOptions(symbols=20, period=5000), 1))
    out = io.StringIO()
    write_csv(out, stock.FIELDS, table)
    own = bundled_stylesheet("stock")
    moments = itertools.groupby(table, key=lambda row: row.at)
    messages = [
        own.transform_rows(stock.FIELDS, [row.values for row in group], timed="yes")
        for _, group in moments
    ]
    return out.getvalue().encode(), messages


def test_weather_rows_become_the_messages_of_the_feed() -> None:
    text, messages = weather_csv()
    rows = transform_all(bundled_transform("weather"), *read("w.csv", text))
    assert [row["body"] for row in rows] == messages
    assert [row["id"] for row in rows] == [f"w.csv:{line + 2}" for line in range(len(messages))]
    assert {row["source"] for row in rows} == {"here"}
    assert {row["time"] for row in rows} == {datetime(2011, 8, 3, tzinfo=UTC)}


def test_stock_groups_become_the_messages_of_the_feed() -> None:
    text, messages = stock_csv()
    transform = bundled_transform("stock", parameters=(("timed", "yes"),))
    rows = transform_all(transform, *read("s.csv", text, RowsToXml(group="time")))
    assert [row["body"] for row in rows] == messages


def test_transform_passes_and_adds_faults() -> None:
    transform = XsltTransform(
        stylesheet('<xsl:if test="/a"><m p="{$p}"/></xsl:if>'),
        "a.xsl",
        MAX_BYTES,
        60.0,
        (("p", "1"),),
    )
    rows = transform_all(
        transform,
        UnpackedDocument("1", b"<a/>"),
        UnpackedDocument("2", None, ("size", "too large")),
        UnpackedDocument("3", b"<b/>"),
        UnpackedDocument("4", b"<a>"),
        UnpackedDocument("5", None),
        UnpackedDocument("6", b"<a/>"),
    )
    assert [row["id"] for row in rows] == list("123456")
    assert [row["fault"] and row["fault"]["kind"] for row in rows] == [
        None,
        "size",
        "sheet",
        "malformed",
        "empty",
        None,
    ]
    assert [row["body"] is None for row in rows] == [False, True, True, True, True, False]
    assert rows[1]["fault"]["message"] == "too large"
    assert "a.xsl makes no XML document" in rows[2]["fault"]["message"]
    assert rows[5]["body"] == b'<?xml version="1.0"?>\n<m p="1"/>\n'


def test_transform_of_faults_and_of_nothing() -> None:
    transform = XsltTransform(stylesheet("<m/>"), "m.xsl", MAX_BYTES, 60.0)
    assert [
        row["id"] for row in transform_all(transform, UnpackedDocument("1", None, ("size", "x")))
    ] == ["1"]
    assert transform_all(transform) == []


def test_transformed_batches_have_bounded_size() -> None:
    transform = XsltTransform(
        stylesheet("<m>" + "x" * 700_000 + "</m>"), "large.xsl", MAX_BYTES, 60.0
    )
    documents = [UnpackedDocument(str(number), b"<a/>") for number in range(10)]
    rows = list(transform_batches(iter([batch(*documents)]), transform))
    assert [len(item) for item in rows] == [3, 3, 3, 1]
    assert [row["id"] for item in rows for row in item.to_pylist()] == [
        item.id for item in documents
    ]
    assert all(row["body"] for item in rows for row in item.to_pylist())


def test_transform_is_validated_first(tmp_path: Path) -> None:
    path = tmp_path / "bad.xsl"
    with pytest.raises(PipelineError, match=r"bad\.xsl: No such file"):
        XsltTransform.load(path, MAX_BYTES)
    path.write_bytes(b"<a")
    with pytest.raises(PipelineError, match=r"bad\.xsl, line 1") as caught:
        XsltTransform.load(path, MAX_BYTES)
    assert caught.value.kind == "sheet"
    with pytest.raises(PipelineError, match="deadline"):
        XsltTransform(stylesheet("<m/>"), "m.xsl", MAX_BYTES, -1.0)
    for parameters in ((("a b", "1"),), (("p", "\0"),)):
        with pytest.raises(PipelineError, match="cannot be XML"):
            XsltTransform(stylesheet("<m/>"), "m.xsl", MAX_BYTES, 1.0, parameters)
    path.write_bytes(stylesheet("<m/>"))
    assert XsltTransform.load(path, MAX_BYTES).name == "bad.xsl"


def test_worker_caches_runners(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathcast.pipeline.sources import xslt as sheets

    styles = [
        XsltTransform(stylesheet(f"<m{number}/>"), f"{number}.xsl", MAX_BYTES, 60.0)
        for number in range(5)
    ]
    first = sheets._runner(styles[0])
    assert sheets._runner(XsltTransform(stylesheet("<m0/>"), "0.xsl", MAX_BYTES, 60.0)) is first
    for transform in styles[1:]:
        sheets._runner(transform)
    assert len(sheets._runners) == sheets._MAX_RUNNERS
    assert sheets._runner(styles[0]) is not first


def test_unavailable_sandbox_fails_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    transform = XsltTransform(stylesheet("<lonely/>"), "lonely.xsl", MAX_BYTES, 60.0)
    monkeypatch.setattr("sys.executable", "/nowhere/to/be/found")
    with pytest.raises(PipelineError, match="cannot be started") as caught:
        transform_all(transform, UnpackedDocument("1", b"<a/>"))
    assert caught.value.kind == "helper"


# --- on Spark -------------------------------------------------------------------------------------


def documents_of(
    spark: SparkSession, files: dict[str, bytes], form: RecordMapping, transform: XsltTransform
) -> list[Any]:
    packed = spark.createDataFrame(
        [
            (name, content, "here", datetime(2011, 8, 3, tzinfo=UTC))
            for name, content in files.items()
        ],
        "id string, body binary, source string, time timestamp",
    )
    unpack = partial(unpack_batches, unpack=partial(read_rows, mapping=form), max_bytes=MAX_BYTES)
    documents = packed.mapInArrow(unpack, DOCUMENTS_DDL)
    return sorted(transform_documents(documents, transform).collect(), key=lambda row: str(row.id))


def test_rows_on_spark(spark: SparkSession) -> None:
    text, messages = weather_csv()
    files = {"w.csv": text, "x.csv.gz": gzip.compress(text), "y.csv": b"time,time\n"}
    documents = {
        row.id: row for row in documents_of(spark, files, RowsToXml(), bundled_transform("weather"))
    }
    expected = {
        f"{name}:{line + 2}": body
        for name in ("w.csv", "x.csv.gz")
        for line, body in enumerate(messages)
    }
    assert {id: bytes(row.body) for id, row in documents.items() if row.body} == expected
    assert {id: row.fault.kind for id, row in documents.items() if row.fault} == {"y.csv:1": "row"}


def test_endless_stylesheet_on_spark(spark: SparkSession) -> None:
    recursion = (
        '<xsl:call-template name="d"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
    )
    text = f"""<xsl:stylesheet version="1.0" xmlns:xsl="{XSL}">
        <xsl:template name="d"><xsl:param name="n"/>
          <xsl:if test="$n &gt; 0">{recursion}{recursion}</xsl:if></xsl:template>
        <xsl:template match="/"><m><xsl:call-template name="d">
          <xsl:with-param name="n" select="//@n"/></xsl:call-template></m></xsl:template>
        </xsl:stylesheet>"""
    lines = [{"n": 1}, {"n": 60}, {"n": [1]}, {"n": 2}]
    files = {"f.jsonl": "\n".join(map(json.dumps, lines)).encode()}
    transform = XsltTransform(text.encode(), "slow.xsl", MAX_BYTES, 1.0)
    documents = documents_of(spark, files, RowsToXml(), transform)
    assert [row.id for row in documents] == [f"f.jsonl:{line}" for line in (1, 2, 3, 4)]
    assert [row.fault and row.fault.kind for row in documents] == [None, "deadline", "row", None]
    assert etree.fromstring(bytes(documents[0].body)).tag == "m"
