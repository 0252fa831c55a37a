"""The `Subscription` value, its validation, and the format of a file name.

The same rules apply to every format and in both directions:

- an id or subscriber is a nonempty text or an integer; true and 1.5 are neither;
- an XPath is a text with more than white space; its syntax is not validate here;
- namespaces map prefixes to URIs, both nonempty: XPath 1.0 has no default namespace;
- text is Unicode that UTF-8 can encode, without unpaired surrogates (JSON's "\\ud800").

The default subscriber is the subscription's own id.

>>> Subscription("desk-7", "//p").subscriber
'desk-7'
>>> format_of("all.JSONL.gz")
'jsonl'
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from pathcast.errors import FormatError

__all__ = ["FORMATS", "SPACE", "Format", "Subscription", "format_of", "validate"]

Format = Literal["txt", "tsv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("txt", "tsv", "jsonl", "parquet")
SPACE = " \t\r\n"  # white space in XPath; str.strip() would strip more


@dataclass(frozen=True, slots=True, init=False)
class Subscription:
    """One row of a subscription file; `line` is its origin and no part of its value."""

    id: str | int
    xpath: str
    namespaces: Mapping[str, str] | None = field(hash=False)
    subscriber: str | int
    line: int | None = field(compare=False)

    # Explicit, so that `subscriber` can default to the id and is never None.
    def __init__(
        self,
        id: str | int,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        subscriber: str | int | None = None,
        line: int | None = None,
    ) -> None:
        set_field = object.__setattr__
        set_field(self, "id", id)
        set_field(self, "xpath", xpath)
        set_field(self, "namespaces", namespaces or None)
        set_field(self, "subscriber", id if subscriber is None else subscriber)
        set_field(self, "line", line)


def format_of(name: str | os.PathLike[str]) -> Format | None:
    """Return the format of a file name, with or without `.gz`; None if it is of no format."""
    parts = PurePath(name).name.lower().split(".")
    if len(parts) > 2 and parts[-1] == "gz":
        parts.pop()
    if len(parts) > 1:
        for file_format in FORMATS:
            if parts[-1] == file_format:
                return file_format
    return None


def validate(
    id: object, xpath: object, namespaces: object, subscriber: object, line: int | None
) -> Subscription:
    """Return a subscription of these fields; FormatError if one violates a rule."""
    return Subscription(
        _validate_id("id", id, line),
        _validate_xpath(xpath, line),
        _validate_namespaces(namespaces, line),
        None if subscriber is None else _validate_id("subscriber", subscriber, line),
        line,
    )


def _validate_id(field: str, value: object, line: int | None) -> str | int:
    if isinstance(value, str):
        if not value:
            raise FormatError("value", f"the {field} is empty", line=line)
        return _validate_unicode(field, value, line)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FormatError(
        "type",
        f"the {field} is {_describe(value)}",
        line=line,
        hint=f"the {field} is a text or an integer",
    )


def _validate_xpath(value: object, line: int | None) -> str:
    if not isinstance(value, str):
        raise FormatError(
            "type", f"the xpath is {_describe(value)}", line=line, hint="the xpath is a text"
        )
    if not value.strip(SPACE):
        raise FormatError("value", "the xpath is empty", line=line)
    return _validate_unicode("xpath", value, line)


def _validate_namespaces(value: object, line: int | None) -> dict[str, str] | None:
    if value is None:
        return None
    hint = 'namespaces map prefixes to addresses: {"n": "http://example.org/news"}'
    if not isinstance(value, Mapping):
        raise FormatError("type", f"the namespaces are {_describe(value)}", line=line, hint=hint)
    for prefix, address in value.items():
        if not isinstance(prefix, str) or not isinstance(address, str):
            invalid = _describe(address if isinstance(prefix, str) else prefix)
            raise FormatError("type", f"{invalid} among the namespaces", line=line, hint=hint)
        if not prefix:
            hint = "XPath 1.0 has no default namespace: choose a prefix and use it in the xpath"
            raise FormatError("value", "a namespace has no prefix", line=line, hint=hint)
        if not address:
            raise FormatError("value", f"prefix {prefix!r} has no address", line=line, hint=hint)
        _validate_unicode("namespaces", prefix + address, line)
    return dict(value) or None


def _validate_unicode(field: str, value: str, line: int | None) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"the {field} has half a surrogate pair at character {error.start + 1}"
        raise FormatError("encoding", message, line=line) from None
    return value


def _describe(value: object) -> str:
    match value:
        case None:
            return "missing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case bytes():
            return "not UTF-8"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
