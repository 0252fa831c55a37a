"""What a subscription file holds: the value, its rules, and which format a file name means.

The same rules hold in every format and in both directions, so that whatever one format can be read
from, another can be written to, or says why not:

* an id (and a subscriber) is a text that is not empty, or an integer; true and 1.5 are neither;
* an XPath is a text that is more than white space; whether it *is* an XPath is not known here;
* namespaces map prefixes to addresses, neither of them empty: XPath 1.0 has no default namespace;
* text is Unicode that UTF-8 can hold, which half a surrogate pair (JSON's "\\ud800") is not.

A subscriber that is not given is the subscription's own id.

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

__all__ = ["FORMATS", "SPACE", "Format", "Subscription", "checked", "format_of"]

Format = Literal["txt", "tsv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("txt", "tsv", "jsonl", "parquet")
SPACE = " \t\r\n"  # what XPath calls white space: str.strip() alone would take more than that


@dataclass(frozen=True, slots=True, init=False)
class Subscription:
    """One row of a subscription file; `line` says where it was read and is no part of its value."""

    id: str | int
    xpath: str
    namespaces: Mapping[str, str] | None = field(hash=False)
    subscriber: str | int
    line: int | None = field(compare=False)

    # Written out so that `subscriber` can default to the id and still never be None to a reader.
    def __init__(
        self,
        id: str | int,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        subscriber: str | int | None = None,
        line: int | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "id", id)
        put(self, "xpath", xpath)
        put(self, "namespaces", namespaces or None)
        put(self, "subscriber", id if subscriber is None else subscriber)
        put(self, "line", line)


def format_of(name: str | os.PathLike[str]) -> Format | None:
    """The format that a file's name means, with or without `.gz`; None if it means none of them."""
    parts = PurePath(name).name.lower().split(".")
    if len(parts) > 2 and parts[-1] == "gz":
        parts.pop()
    if len(parts) > 1:
        for known in FORMATS:
            if parts[-1] == known:
                return known
    return None


def checked(
    key: object, xpath: object, namespaces: object, subscriber: object, line: int | None
) -> Subscription:
    """The subscription whose id is `key`, and so on; FormatError if one of them breaks a rule."""
    return Subscription(
        _name("id", key, line),
        _xpath(xpath, line),
        _namespaces(namespaces, line),
        None if subscriber is None else _name("subscriber", subscriber, line),
        line,
    )


def _name(what: str, value: object, line: int | None) -> str | int:
    if isinstance(value, str):
        if not value:
            raise FormatError("value", f"the {what} is empty", line=line)
        return _text(what, value, line)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FormatError(
        "type",
        f"the {what} is {_kind(value)}",
        line=line,
        hint=f"the {what} is a text or an integer",
    )


def _xpath(value: object, line: int | None) -> str:
    if not isinstance(value, str):
        raise FormatError(
            "type", f"the xpath is {_kind(value)}", line=line, hint="the xpath is a text"
        )
    if not value.strip(SPACE):
        raise FormatError("value", "the xpath is empty", line=line)
    return _text("xpath", value, line)


def _namespaces(value: object, line: int | None) -> dict[str, str] | None:
    if value is None:
        return None
    hint = 'namespaces map prefixes to addresses: {"n": "http://example.org/news"}'
    if not isinstance(value, Mapping):
        raise FormatError("type", f"the namespaces are {_kind(value)}", line=line, hint=hint)
    for prefix, address in value.items():
        if not isinstance(prefix, str) or not isinstance(address, str):
            found = _kind(address if isinstance(prefix, str) else prefix)
            raise FormatError("type", f"{found} among the namespaces", line=line, hint=hint)
        if not prefix:
            hint = "XPath 1.0 has no default namespace: choose a prefix and use it in the xpath"
            raise FormatError("value", "a namespace has no prefix", line=line, hint=hint)
        if not address:
            raise FormatError("value", f"prefix {prefix!r} has no address", line=line, hint=hint)
        _text("namespaces", prefix + address, line)
    return dict(value) or None


def _text(what: str, value: str, line: int | None) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"the {what} has half a surrogate pair at character {error.start + 1}"
        raise FormatError("encoding", message, line=line) from None
    return value


def _kind(value: object) -> str:
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
