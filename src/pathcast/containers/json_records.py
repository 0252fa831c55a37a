"""Records (see `records`) of JSON files.

- JSON lines: each line is an object of its own; empty lines are skipped.
- An array of objects, decoded one by one, so the complete text is never in memory. Nothing is read
  after a syntax error.

Numbers keep their spelling: 1.50 is `1.50`, and a number may have a thousand digits. Duplicate
names and NaN are errors.

>>> import io
>>> text = io.BytesIO(b'[{"a": 1.50}, {"b": null}]')
>>> [(record.number, record.content) for record in array_records(text, 100)]
[(1, {'a': '1.50'}), (2, {'b': None})]
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import IO, Final

from pathcast.containers.records import FieldValue, Record, RecordError, RecordLines

__all__ = ["JsonNumber", "array_records", "line_records"]

_READ_SIZE: Final = 1 << 16
_SPACE: Final = " \t\r\n"
_MAX_LITERAL_LENGTH: Final = 16  # longest literal other than a string that a chunk may cut


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


class _Constant(str):
    """NaN, Infinity or -Infinity, which Python accepts and JSON does not."""

    __slots__ = ()


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=tuple, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=_Constant
)


def _parse_object(decoded: object) -> Mapping[str, FieldValue]:
    """Return the fields of an object, which the decoder returns as pairs."""
    if not isinstance(decoded, tuple):
        raise RecordError("an object is expected: {...}")
    values: dict[str, FieldValue] = {}
    for name, value in decoded:
        if name in values:
            raise RecordError(f"the name {name!r:.60} is there twice")
        if isinstance(value, _Constant):
            raise RecordError(f"{name!r:.60} is {value}, which is no JSON")
        values[name] = value
    return values


def line_records(stream: IO[bytes], max_bytes: int) -> Iterator[Record]:
    """Yield the objects of JSON lines of at most `max_bytes` each."""
    lines = RecordLines(stream, max_bytes)
    while True:
        number = lines.begin_record()
        content: Mapping[str, FieldValue] | RecordError
        try:
            text = next(lines, None)
            if text is None:
                return
            if not text.strip(_SPACE):
                continue
            content = _parse_object(_DECODER.decode(text.rstrip(_SPACE)))
        except RecordError as error:
            content = error
        except json.JSONDecodeError as error:
            content = RecordError(f"no JSON: {error.msg} at character {error.colno}")
        except RecursionError:
            content = _nesting_error()
        yield Record(number, f"line {number}", content)


def _nesting_error() -> RecordError:
    return RecordError("too many brackets inside one another")


class _BufferedText:
    """Decoded text of which only a window is in memory, with a position in it."""

    def __init__(self, stream: IO[bytes], max_length: int) -> None:
        self.line = 1
        self._text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        self._max_bytes = max_length
        self._buffer, self._position = "", 0

    def peek(self) -> str:
        """Advance to the next character that is not white space and return it; "" at the end."""
        while True:
            while self._position < len(self._buffer):
                if self._buffer[self._position] not in _SPACE:
                    return self._buffer[self._position]
                self._advance(self._position + 1)
            if not self._read_more():
                return ""

    def skip(self) -> None:
        """Advance by one character."""
        self._advance(self._position + 1)

    def decode_value(self) -> object:
        """Decode the value at this position and advance past it."""
        while True:
            try:
                decoded, end = _DECODER.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                is_truncated = error.pos >= len(
                    self._buffer
                ) - _MAX_LITERAL_LENGTH or error.msg.startswith("Unterminated")
                if not (is_truncated and self._read_more()):
                    raise
            else:
                # A number that ends with the buffer may continue after it.
                if end < len(self._buffer) or not self._read_more():
                    self._advance(end)
                    return decoded

    def _advance(self, end: int) -> None:
        self.line += self._buffer.count("\n", self._position, end)
        self._position = end

    def _read_more(self) -> bool:
        """Double the unread part of the buffer; return False at the end of the file."""
        unread = len(self._buffer) - self._position
        if unread > self._max_bytes:
            raise RecordError(f"longer than {self._max_bytes:,} characters", "size")
        text = self._text.read(max(_READ_SIZE, unread))
        if text:
            self._buffer, self._position = self._buffer[self._position :] + text, 0
        return bool(text)


def array_records(stream: IO[bytes], max_length: int) -> Iterator[Record]:
    """Yield the objects of an array, of at most `max_length` characters each."""
    text = _BufferedText(stream, max_length)
    number, line = 1, 1
    try:
        if text.peek() != "[":
            raise RecordError("an array of objects is expected: [{...}, ...]")
        text.skip()
        while text.peek() != "]" or number > 1:
            line = text.line
            decoded = text.decode_value()
            yield _element_record(number, line, decoded)
            number, line = number + 1, text.line
            separator = text.peek()
            if separator not in (",", "]"):
                raise RecordError("no JSON: , or ] is expected")
            if separator == "]":
                break
            text.skip()
        text.skip()
        if text.peek():
            raise RecordError("there is more after the array")
    except json.JSONDecodeError as error:
        yield _final_record(number, line, RecordError(f"no JSON: {error.msg}"))
    except RecursionError:
        yield _final_record(number, line, _nesting_error())
    except UnicodeDecodeError:
        yield _final_record(number, line, RecordError("not UTF-8"))
    except RecordError as record_error:
        yield _final_record(number, line, record_error)


def _element_record(number: int, line: int, decoded: object) -> Record:
    position = f"object {number}, line {line}"
    try:
        return Record(number, position, _parse_object(decoded))
    except RecordError as error:
        return Record(number, position, error)


def _final_record(number: int, line: int, error: RecordError) -> Record:
    return Record(number, f"object {number}, line {line}", error.as_final())
