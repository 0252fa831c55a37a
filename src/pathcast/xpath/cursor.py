"""A place in a list of tokens, and errors that point at it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NoReturn

from pathcast.errors import SubscriptionError
from pathcast.xpath.lexer import Token, tokenize

__all__ = ["TokenCursor", "did_you_mean"]

_WORDS = {
    "and": "operators are written small: and",
    "or": "operators are written small: or",
    "eq": "that is XPath 2.0: write =",
    "ne": "that is XPath 2.0: write !=",
    "lt": "that is XPath 2.0: write <",
    "le": "that is XPath 2.0: write <=",
    "gt": "that is XPath 2.0: write >",
    "ge": "that is XPath 2.0: write >=",
}
_CLOSERS = {"(": ")", "[": "]"}


class TokenCursor:
    """The tokens of an expression, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._next = 0

    @property
    def peek(self) -> Token:
        """The token at hand."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """The token at hand, and go on to the next."""
        token = self._tokens[self._next]
        self._next += 1
        return token

    def back(self) -> None:
        """Return to the token before."""
        self._next -= 1

    def at(self, *texts: str) -> bool:
        """Whether the token at hand is one of these symbols or operators."""
        token = self.peek
        return token.kind in ("symbol", "operator") and token.text in texts

    def close(self, opening: Token) -> None:
        """Take the bracket that closes another."""
        closer = _CLOSERS[opening.text]
        if self.at(closer):
            self.take()
            return
        if self.peek.kind == "end" or self.at(")", "]"):
            message = f"{opening.text} is not closed"
            self.fail(message, kind="unbalanced", at=opening.at, expected=closer)
        self.unexpected(expected=f"an operator or {closer}")

    def unexpected(self, expected: str | None = None) -> NoReturn:
        """Complain about the token at hand."""
        token = self.peek
        if token.kind == "end":
            self.fail("the expression ends too soon", expected=expected or "a path or a value")
        before = self._tokens[self._next - 1] if self._next else token
        if before.kind == "operator" and token.kind == "symbol":
            message = f"nothing to the right of {before.text!r}"
            self.fail(message, at=before.at, expected="a path or a value")
        if before.text in _CLOSERS and _CLOSERS[before.text] == token.text:
            self.fail(
                f"nothing between {before.text} and {token.text}", expected="a path or a value"
            )
        if token.text in (")", "]") and token.kind == "symbol":
            message = f"{token.text} closes nothing"
            self.fail(message, kind="unbalanced", hint="take it out, or open it before")
        hint = None
        if token.kind in ("name", "wildcard", "literal", "number", "function"):
            hint = (
                _WORDS.get(token.text.lower()) or "two values need an operator or a / between them"
            )
        if before.text == "not":
            hint = "negation is written not(...)"
        self.fail(f"unexpected {token.text!r}", expected=expected, hint=hint)

    def fail(
        self,
        message: str,
        *,
        kind: str = "syntax",
        at: int | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> NoReturn:
        """Complain about the place `at`, or about the token at hand."""
        raise SubscriptionError(
            kind,
            message,
            text=self._text,
            position=self.peek.at if at is None else at,
            expected=expected,
            hint=hint,
        )


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint at the known name that looks most like this one."""
    found = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {found[0]!r}?" if found else None
