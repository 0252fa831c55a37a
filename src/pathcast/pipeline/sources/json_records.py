"""Bytes of a file of rows -> records, as `records` has them, where the file is JSON.

- lines of JSON: every line is an object, and stands for itself. Empty ones are skipped;
- an array of objects, decoded one by one, so that the text of the whole is never held. Behind a mistake of
  grammar nothing can be read.

Numbers stay as they are written: 1.50 is `1.50`, and one of a thousand digits is no trouble. A name that is there twice
is a mistake, and so is NaN.

>>> import io
>>> [(one.number, one.content) for one in array_records(io.BytesIO(b'[{"a": 1.50}, {"b": null}]'), 100)]
[(1, {'a': '1.50'}), (2, {'b': None})]
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import IO, Final

from pathcast.pipeline.sources.records import FieldValue, Record, RecordError, RecordLines

__all__ = ["JsonNumber", "array_records", "line_records"]

_READ_SIZE: Final = 1 << 16
_SPACE: Final = " \t\r\n"
_MAX_LITERAL_LENGTH: Final = 16  # characters: what is shorter than a string and may be cut in two


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


class _Constant(str):
    """NaN, Infinity or -Infinity, which Python reads and JSON does not know."""

    __slots__ = ()


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=tuple, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=_Constant
)


def _parse_object(found: object) -> Mapping[str, FieldValue]:
    """The values of an object, which the decoder gives as pairs."""
    if not isinstance(found, tuple):
        raise RecordError("an object is expected: {...}")
    values: dict[str, FieldValue] = {}
    for name, value in found:
        if name in values:
            raise RecordError(f"the name {name!r:.60} is there twice")
        if isinstance(value, _Constant):
            raise RecordError(f"{name!r:.60} is {value}, which is no JSON")
        values[name] = value
    return values


def line_records(stream: IO[bytes], most: int) -> Iterator[Record]:
    """The objects of lines, none of which may have more than `most` bytes."""
    lines = RecordLines(stream, most)
    while True:
        number = lines.begin()
        content: Mapping[str, FieldValue] | RecordError
        try:
            text = next(lines, None)
            if text is None:
                return
            if not text.strip(_SPACE):
                continue
            content = _parse_object(_DECODER.decode(text.rstrip(_SPACE)))
        except RecordError as refusal:
            content = refusal
        except json.JSONDecodeError as error:
            content = RecordError(f"no JSON: {error.msg} at character {error.colno}")
        except RecursionError:
            content = _nesting_error()
        yield Record(number, f"line {number}", content)


def _nesting_error() -> RecordError:
    return RecordError("too many brackets inside one another")


class _BufferedText:
    """Text of which only a piece is held, with a place in it."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self.line = 1
        self._text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        self._most = most
        self._held, self._at = "", 0

    def next(self) -> str:
        """Go to the next character that is no white space; "" at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _SPACE:
                    return self._held[self._at]
                self._pass(self._at + 1)
            if not self._more():
                return ""

    def skip(self) -> None:
        """Go past the character at this place."""
        self._pass(self._at + 1)

    def value(self) -> object:
        """The value at this place, and go past it."""
        while True:
            try:
                found, end = _DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._held) - _MAX_LITERAL_LENGTH or error.msg.startswith(
                    "Unterminated"
                )
                if not (cut and self._more()):
                    raise
            else:
                # A number that ends where the piece does may go on in the next.
                if end < len(self._held) or not self._more():
                    self._pass(end)
                    return found

    def _pass(self, end: int) -> None:
        self.line += self._held.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Hold twice as much of what is left; whether there was more."""
        left = len(self._held) - self._at
        if left > self._most:
            raise RecordError(f"longer than {self._most:,} characters", "size")
        part = self._text.read(max(_READ_SIZE, left))
        if part:
            self._held, self._at = self._held[self._at :] + part, 0
        return bool(part)


def array_records(stream: IO[bytes], most: int) -> Iterator[Record]:
    """The objects of an array, none of which may have more than `most` characters."""
    text = _BufferedText(stream, most)
    number, line = 1, 1
    try:
        if text.next() != "[":
            raise RecordError("an array of objects is expected: [{...}, ...]")
        text.skip()
        while text.next() != "]" or number > 1:
            line = text.line
            found = text.value()
            yield _element_record(number, line, found)
            number, line = number + 1, text.line
            after = text.next()
            if after not in (",", "]"):
                raise RecordError("no JSON: , or ] is expected")
            if after == "]":
                break
            text.skip()
        text.skip()
        if text.next():
            raise RecordError("there is more after the array")
    except json.JSONDecodeError as error:
        yield _final_record(number, line, RecordError(f"no JSON: {error.msg}"))
    except RecursionError:
        yield _final_record(number, line, _nesting_error())
    except UnicodeDecodeError:
        yield _final_record(number, line, RecordError("not UTF-8"))
    except RecordError as refusal:
        yield _final_record(number, line, refusal)


def _element_record(number: int, line: int, found: object) -> Record:
    place = f"object {number}, line {line}"
    try:
        return Record(number, place, _parse_object(found))
    except RecordError as refusal:
        return Record(number, place, refusal)


def _final_record(number: int, line: int, refusal: RecordError) -> Record:
    return Record(number, f"object {number}, line {line}", refusal.final())
