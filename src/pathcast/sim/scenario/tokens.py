"""A line of a scenario, word by word, with errors that point.

>>> words = Words("lose ten% on b1-b2", 3)
>>> words.next("a fault")
'lose'
>>> words.chance()
Traceback (most recent call last):
...
pathcast.errors.ScenarioError: line 3: syntax: unexpected 'ten%' at character 6
  lose ten% on b1-b2
       ^
  expected: a chance such as 10%
  hint: at most 100%, with at most four digits after the point
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pathcast.errors import ScenarioError
from pathcast.schema.similar_names import similar_names
from pathcast.sim.scenario.actions import Pair
from pathcast.sim.scenario.units import NAME, read_chance, read_time

__all__ = ["Words"]

_DIGITS = 18
_WORD = re.compile(r"\S+")


class Words:
    """`at` is where the next word begins."""

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.line = line
        self.at = 0
        self._skip()

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(
        self, expected: str, hint: str | None = None, *, at: int | None = None
    ) -> ScenarioError:
        """What stands at a place is not what is expected there."""
        at = self.at if at is None else at
        found = _WORD.match(self.text, at)
        what = "the end of the line" if found is None else repr(found[0])
        return ScenarioError(
            "syntax",
            f"unexpected {what}",
            line=self.line,
            text=self.text,
            position=at,
            expected=expected,
            hint=hint,
        )

    def peek(self) -> str:
        """The next word; empty at the end."""
        found = _WORD.match(self.text, self.at)
        return "" if found is None else found[0]

    def next(self, expected: str) -> str:
        word = self.peek()
        if not word:
            raise self.error(expected)
        self.at += len(word)
        self._skip()
        return word

    def take(self, *words: str) -> bool:
        """Go past these words if they are next."""
        begin = self.at
        for word in words:
            if self.peek() != word:
                self.at = begin
                return False
            self.next(word)
        return True

    def must(self, *words: str, hint: str | None = None) -> None:
        for word in words:
            if self.peek() != word:
                raise self.error(word, hint)
            self.next(word)

    def choice(self, words: Sequence[str]) -> str:
        """One of several words."""
        word = self.peek()
        if word not in words:
            close = similar_names(word, words)
            hint = f"did you mean {' or '.join(close)}?" if word and close else None
            raise self.error(f"one of {', '.join(words)}", hint)
        return self.next("")

    def rest(self, expected: str, until: re.Pattern[str] | None = None) -> str:
        """All that is left of the line, or what is left of it before something."""
        if self.at >= len(self.text):
            raise self.error(expected)
        last = until.search(self.text, self.at) if until is not None else None
        begin, self.at = self.at, len(self.text) if last is None else last.start()
        self._skip()
        return self.text[begin : self.at].rstrip()

    def end(self) -> None:
        if self.at < len(self.text):
            hint = "a comment has a line of its own" if self.peek().startswith("#") else None
            raise self.error("the end of the line", hint)

    # words of one sort

    def name(self, of: str) -> str:
        """The name of a broker, a client, a document."""
        begin = self.at
        word = self.next(of)
        if NAME.fullmatch(word) is None:
            raise self.error(
                of,
                "names have letters, digits, _, @ and dots inside, and start with a letter",
                at=begin,
            )
        return word

    def number(self, of: str, least: int = 0) -> int:
        begin = self.at
        word = self.next(of)
        digits = word.isascii() and word.isdigit()
        if not digits or len(word) > _DIGITS or int(word) < least:
            raise self.error(of, f"at most {_DIGITS} digits" if digits else None, at=begin)
        return int(word)

    def time(self, of: str = "a time such as 5s, 10ms or 20us") -> int:
        begin = self.at
        time = read_time(self.next(of))
        if time is None:
            hint = "whole microseconds, a thousand million seconds at most"
            raise self.error(of, hint, at=begin)
        return time

    def chance(self) -> int:
        begin = self.at
        expected = "a chance such as 10%"
        chance = read_chance(self.next(expected))
        if chance is None:
            hint = "at most 100%, with at most four digits after the point"
            raise self.error(expected, hint, at=begin)
        return chance

    def pair(self) -> Pair:
        """Two brokers with a dash between them."""
        begin = self.at
        expected = "a link such as b1-b2"
        one, dash, other = self.next(expected).partition("-")
        if not dash or NAME.fullmatch(one) is None or NAME.fullmatch(other) is None:
            raise self.error(expected, at=begin)
        return one, other
