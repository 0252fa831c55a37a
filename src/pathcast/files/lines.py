"""The text formats of subscription files: `.txt`, `.tsv` and `.jsonl`.

A line ends with LF or CRLF only: the other line separators of Unicode may occur in an expression.
The text is UTF-8; a byte order mark at its start is ignored. Line numbers count from 1 and include
skipped lines. All formats skip blank lines. `.txt` also skips lines that start with `#`; in `.tsv`
and `.jsonl` such a line could be an id, or is a mistake.

A line that cannot be read is one `FormatError`, and reading continues after it. Lines longer than
`MAX_LINE_BYTES` are never held in memory, so a binary file or a gzip bomb does no harm.

>>> import io
>>> for row in read_rows("txt", io.BytesIO(b"# news\\n//p\\n\\n/a/b\\n")):
...     print(row.line, row.id, row.xpath)
2 2 //p
4 4 /a/b
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal

from pathcast.errors import FormatError
from pathcast.files.subscription import SPACE, Subscription, validate

__all__ = ["MAX_LINE_BYTES", "LineFormat", "line_of", "read_rows"]

LineFormat = Literal["txt", "tsv", "jsonl"]
_KEYS = ("id", "xpath", "namespaces", "subscriber")
MAX_LINE_BYTES = 1 << 20  # an XPath may have 64 KB; this leaves room for namespaces
MAX_BLANK_LINES = 1_000_000  # between two ids of a .txt file
_BYTE_ORDER_MARK = "\ufeff"


def read_rows(kind: LineFormat, stream: BinaryIO) -> Iterator[Subscription | FormatError]:
    """Yield every subscription of the stream, or the error of its line, in order."""
    read = _READERS[kind]
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        try:
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(stream)
                message = f"the line is longer than {MAX_LINE_BYTES:,} bytes"
                raise FormatError("size", message, line=number, hint="is this a text file?")
            if number == 1:
                line = _strip_byte_order_mark(line)
            text = _decode(line.removesuffix(b"\n").removesuffix(b"\r"), number)
            if text.strip(SPACE) and not (kind == "txt" and text.startswith("#")):
                yield read(text, number)
        except FormatError as error:
            if error.line is None:
                raise  # it concerns the entire file
            yield error


def _skip_line(stream: BinaryIO) -> None:
    while (chunk := stream.readline(MAX_LINE_BYTES)) and not chunk.endswith(b"\n"):
        pass


def _strip_byte_order_mark(line: bytes) -> bytes:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("encoding", "the file is UTF-16", hint="save it as UTF-8")
    return line.removeprefix(_BYTE_ORDER_MARK.encode())


def _decode(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} of the line is not UTF-8"
        raise FormatError("encoding", message, line=number, hint="save it as UTF-8") from None


def _read_txt(text: str, number: int) -> Subscription:
    return validate(number, text, None, None, number)


def _read_tsv(text: str, number: int) -> Subscription:
    fields = text.split("\t")
    if len(fields) != 2:
        message = "there is no tab in the line" if len(fields) == 1 else "more than one tab"
        hint = "a line of .tsv is an id, a tab and an XPath"
        raise FormatError("columns", message, line=number, hint=hint)
    return validate(fields[0], fields[1], None, None, number)


def _read_jsonl(text: str, number: int) -> Subscription:
    hint = (
        'a line of .jsonl is {"id": "desk-7", "xpath": "//n:p", '
        '"namespaces": {"n": "http://example.org/news"}, "subscriber": "sports"}; '
        "the last two may be left out"
    )
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{error.msg} at character {error.pos + 1}"
        raise FormatError("json", message, line=number, hint=hint) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 5,000 brackets
        raise FormatError("json", f"not readable: {error}", line=number, hint=hint) from None
    if not isinstance(row, dict):
        raise FormatError("type", "the line is JSON, but no object", line=number, hint=hint)
    for key in ("id", "xpath"):
        if key not in row:
            raise FormatError("columns", f"there is no {key!r}", line=number, hint=hint)
    for key in row:  # other keys are allowed, except misspellings of ours
        similar = [] if key in _KEYS else difflib.get_close_matches(key.lower(), _KEYS, 1, 0.8)
        if similar and similar[0] not in row:
            suggestion = f"did you mean {similar[0]!r}?"
            raise FormatError("columns", f"unknown key {key!r}", line=number, hint=suggestion)
    return validate(row["id"], row["xpath"], row.get("namespaces"), row.get("subscriber"), number)


_READERS: dict[LineFormat, Callable[[str, int], Subscription]] = {
    "txt": _read_txt,
    "tsv": _read_tsv,
    "jsonl": _read_jsonl,
}


def line_of(kind: LineFormat, subscription: Subscription, written: int) -> str:
    """Return the text to append to a file of `written` lines, so that it contains the subscription.

    FormatError if no text would be read back as the same subscription.
    """
    if kind == "jsonl":
        return _write_jsonl(subscription)
    if subscription.namespaces or subscription.subscriber != subscription.id:
        unsupported = "namespaces" if subscription.namespaces else "a subscriber"
        raise _unwritable(kind, subscription, f"{unsupported} cannot be written to .{kind}")
    fields = [] if kind == "txt" else [str(subscription.id)]
    fields.append(subscription.xpath)
    for field in fields:
        if any(character in field for character in "\t\r\n"):
            message = f"a tab or a line end cannot be written to .{kind}: {field!r}"
            raise _unwritable(kind, subscription, message)
    text = "\t".join(fields)
    if kind == "txt":
        return "\n" * _blank_lines(subscription, written) + text + "\n"
    if not written and text.startswith(_BYTE_ORDER_MARK):
        raise _unwritable(kind, subscription, "the file would start with a byte order mark")
    return text + "\n"


def _blank_lines(subscription: Subscription, written: int) -> int:
    """Return the number of blank lines after which the line number is the subscription's id."""
    line = subscription.id
    if not isinstance(line, int) or line <= written:
        message = f"id {line!r} is not the number of a line after line {written}"
        raise _unwritable("txt", subscription, message)
    if line - written > MAX_BLANK_LINES:
        message = f"id {line} is {line - written - 1:,} empty lines away"
        raise _unwritable("txt", subscription, message)
    if subscription.xpath.startswith("#") or (
        line == 1 and subscription.xpath.startswith(_BYTE_ORDER_MARK)
    ):
        message = f"the line would not be read as it is: {subscription.xpath[:40]!r}"
        raise _unwritable("txt", subscription, message)
    return line - written - 1


def _unwritable(kind: LineFormat, subscription: Subscription, message: str) -> FormatError:
    hint = "write .jsonl or parquet" + (" (or .tsv)" if kind == "txt" else "")
    return FormatError("unwritable", f"subscription {subscription.id!r}: {message}", hint=hint)


def _write_jsonl(subscription: Subscription) -> str:
    row: dict[str, object] = {"id": subscription.id, "xpath": subscription.xpath}
    if subscription.namespaces:
        row["namespaces"] = dict(subscription.namespaces)
    if subscription.subscriber != subscription.id:
        row["subscriber"] = subscription.subscriber
    text = json.dumps(row, ensure_ascii=False, separators=(", ", ": ")) + "\n"
    if len(text.encode()) > MAX_LINE_BYTES:
        message = f"subscription {subscription.id!r} is over {MAX_LINE_BYTES:,} bytes"
        raise FormatError("unwritable", message, hint="write parquet")
    return text
