"""Parser of the paper's notation: text -> AdvertisementExpression.

    expression  = part { part }
    part        = "/" name | "(" expression { "|" expression } ")" [ "+" ]
    name        = "*" | local | prefix ":" local | "{" uri "}" local

A prefix stands for the namespace that the caller binds to it, or for every namespace if it is
unbound. So names of a DTD need no declarations.

>>> print(parse_expression("/a( /b | /c/* )+ /p:d"))
/a(/b|/c/*)+/p:d
>>> parse_expression("/a//b")
Traceback (most recent call last):
...
pathcast.errors.AdvertisementError: syntax: unexpected '/' at character 4
  /a//b
     ^
  expected: a name or *
  hint: advertisements say every element on the way: there is no //
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pathcast.errors import AdvertisementError
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.labels import ANY, ElementLabel
from pathcast.routing.advertisement.notation.expression import (
    AdvertisementExpression,
    ElementStep,
    Group,
    Part,
)

__all__ = ["parse_advertisement", "parse_expression"]

_MAX_NESTING = 50
_MAX_NAMES = 2_000
_SPACE = re.compile(r"[ \t\r\n]*")
_NCNAME = r"[^\W\d][\w.\-\u00b7]*"
_NAME = re.compile(rf"(?:\{{(?P<uri>[^{{}}]*)\}}|(?P<prefix>{_NCNAME}):)?(?P<local>{_NCNAME}|\*)")


def parse_advertisement(text: str, namespaces: Mapping[str, str] | None = None) -> Advertisement:
    """Return the advertisement of an expression; raise AdvertisementError."""
    return parse_expression(text, namespaces).advertisement()


def parse_expression(
    text: str, namespaces: Mapping[str, str] | None = None
) -> AdvertisementExpression:
    """Return the expression of a text; raise AdvertisementError with a position and a hint."""
    parser = _AdvertisementParser(text, namespaces or {})
    expression = parser.expression(0)
    if parser.at < len(text):
        raise parser.error("a / or the end")
    return expression


class _AdvertisementParser:
    def __init__(self, text: str, namespaces: Mapping[str, str]) -> None:
        self.text = text
        self.namespaces = namespaces
        self.name_count = 0
        self.at = 0
        self.skip_space()

    def skip_space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    def take(self, symbol: str) -> bool:
        if not self.text.startswith(symbol, self.at):
            return False
        self.at += 1
        self.skip_space()
        return True

    def error(self, expected: str, hint: str | None = None) -> AdvertisementError:
        at = min(self.at, len(self.text))
        unexpected = repr(self.text[at]) if at < len(self.text) else "end"
        return AdvertisementError(
            "syntax",
            f"unexpected {unexpected}",
            text=self.text,
            position=at,
            expected=expected,
            hint=hint,
        )

    def expression(self, nested: int) -> AdvertisementExpression:
        parts: list[Part] = []
        while True:
            if self.take("/"):
                parts.append(ElementStep(self.label()))
            elif self.text.startswith("(", self.at):
                parts.append(self.group(nested + 1))
            elif parts:
                return AdvertisementExpression(tuple(parts))
            else:
                raise self.error("/ or (", hint="an advertisement starts at the root: /a/b")

    def group(self, nested: int) -> Group:
        if nested > _MAX_NESTING:
            message = f"more than {_MAX_NESTING} groups in each other"
            raise AdvertisementError("too-deep", message, text=self.text, position=self.at)
        self.take("(")
        choices = [self.expression(nested)]
        while self.take("|"):
            choices.append(self.expression(nested))
        if not self.take(")"):
            raise self.error("/, (, | or )")
        return Group(tuple(choices), repeated=self.take("+"))

    def label(self) -> ElementLabel:
        name = _NAME.match(self.text, self.at)
        if name is None:
            descendant = self.text.startswith("/", self.at)
            hint = (
                "advertisements say every element on the way: there is no //"
                if descendant
                else None
            )
            raise self.error("a name or *", hint)
        self.name_count += 1
        if self.name_count > _MAX_NAMES:
            message = f"more than {_MAX_NAMES:,} names"
            raise AdvertisementError("too-long", message, text=self.text, position=self.at)
        self.at = name.end()
        self.skip_space()
        uri, prefix, local = name["uri"], name["prefix"] or "", name["local"]
        if prefix:
            uri = self.namespaces.get(prefix)
            spaces = None if uri is None else frozenset({uri})
            return ElementLabel(None if local == "*" else local, spaces, prefix)
        if local == "*":
            return ANY if uri is None else ElementLabel(None, frozenset({uri}))
        return ElementLabel(local, frozenset({uri or ""}))
