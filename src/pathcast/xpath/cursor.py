"""Cursor over the tokens of an expression, with errors at the current position."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NoReturn

from pathcast.errors import SubscriptionError
from pathcast.xpath.lexer import Token, tokenize

__all__ = ["TokenCursor", "did_you_mean"]

_OPERATOR_HINTS = {
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
    """A position in the tokens of an expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._next = 0

    @property
    def peek(self) -> Token:
        """The current token."""
        return self._tokens[self._next]

    def take(self) -> Token:
        """Return the current token and advance."""
        token = self._tokens[self._next]
        self._next += 1
        return token

    def back(self) -> None:
        """Go back one token."""
        self._next -= 1

    def at(self, *texts: str) -> bool:
        """Whether the current token is one of these symbols or operators."""
        token = self.peek
        return token.kind in ("symbol", "operator") and token.text in texts

    def close(self, opening: Token) -> None:
        """Consume the bracket that closes `opening`."""
        closer = _CLOSERS[opening.text]
        if self.at(closer):
            self.take()
            return
        if self.peek.kind == "end" or self.at(")", "]"):
            message = f"{opening.text} is not closed"
            self.fail(message, kind="unbalanced", at=opening.at, expected=closer)
        self.fail_at_token(expected=f"an operator or {closer}")

    def fail_at_token(self, expected: str | None = None) -> NoReturn:
        """Raise the error for the current token."""
        token = self.peek
        if token.kind == "end":
            self.fail("the expression ends too soon", expected=expected or "a path or a value")
        previous = self._tokens[self._next - 1] if self._next else token
        if previous.kind == "operator" and token.kind == "symbol":
            message = f"nothing to the right of {previous.text!r}"
            self.fail(message, at=previous.at, expected="a path or a value")
        if previous.text in _CLOSERS and _CLOSERS[previous.text] == token.text:
            self.fail(
                f"nothing between {previous.text} and {token.text}", expected="a path or a value"
            )
        if token.text in (")", "]") and token.kind == "symbol":
            message = f"{token.text} closes nothing"
            self.fail(message, kind="unbalanced", hint="take it out, or open it before")
        hint = None
        if token.kind in ("name", "wildcard", "literal", "number", "function"):
            hint = (
                _OPERATOR_HINTS.get(token.text.lower())
                or "two values need an operator or a / between them"
            )
        if previous.text == "not":
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
        """Raise SubscriptionError at position `at`, by default at the current token."""
        raise SubscriptionError(
            kind,
            message,
            text=self._text,
            position=self.peek.at if at is None else at,
            expected=expected,
            hint=hint,
        )


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a hint with the candidate that is most similar to `name`."""
    matches = difflib.get_close_matches(name, candidates, n=1)
    return f"did you mean {matches[0]!r}?" if matches else None
