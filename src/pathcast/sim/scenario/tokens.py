"""LineTokens: a cursor over the words of one line of a scenario, with errors that point.

>>> tokens = LineTokens("lose ten% on b1-b2", 3)
>>> tokens.next("a fault")
'lose'
>>> tokens.percent()
Traceback (most recent call last):
...
pathcast.errors.ScenarioError: line 3: syntax: unexpected 'ten%' at character 6
  lose ten% on b1-b2
       ^
  expected: a probability such as 10%
  hint: at most 100%, with at most four digits after the point
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pathcast.errors import ScenarioError
from pathcast.schema.similar_names import similar_names
from pathcast.sim.scenario.actions import LinkEnds
from pathcast.sim.scenario.units import NAME, read_percent, read_time

__all__ = ["LineTokens"]

_MAX_DIGITS = 18
_WORD = re.compile(r"\S+")


class LineTokens:
    """A line and a position; `at` is where the next word begins."""

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
        """Return the error that a position holds something else than expected."""
        at = self.at if at is None else at
        match = _WORD.match(self.text, at)
        actual = "the end of the line" if match is None else repr(match[0])
        return ScenarioError(
            "syntax",
            f"unexpected {actual}",
            line=self.line,
            text=self.text,
            position=at,
            expected=expected,
            hint=hint,
        )

    def peek(self) -> str:
        """Return the next word without moving; empty at the end."""
        match = _WORD.match(self.text, self.at)
        return "" if match is None else match[0]

    def next(self, expected: str) -> str:
        """Return the next word and move past it; raise ScenarioError at the end."""
        word = self.peek()
        if not word:
            raise self.error(expected)
        self.at += len(word)
        self._skip()
        return word

    def take(self, *words: str) -> bool:
        """Move past these words if they are next; return whether they were."""
        begin = self.at
        for word in words:
            if self.peek() != word:
                self.at = begin
                return False
            self.next(word)
        return True

    def require(self, *words: str, hint: str | None = None) -> None:
        """Move past these words; raise ScenarioError if they are not next."""
        for word in words:
            if self.peek() != word:
                raise self.error(word, hint)
            self.next(word)

    def choice(self, words: Sequence[str]) -> str:
        """Return the next word, which must be one of several."""
        word = self.peek()
        if word not in words:
            close = similar_names(word, words)
            hint = f"did you mean {' or '.join(close)}?" if word and close else None
            raise self.error(f"one of {', '.join(words)}", hint)
        return self.next("")

    def rest(self, expected: str, until: re.Pattern[str] | None = None) -> str:
        """Return the remaining text of the line, up to a match of `until` if given."""
        if self.at >= len(self.text):
            raise self.error(expected)
        last = until.search(self.text, self.at) if until is not None else None
        begin, self.at = self.at, len(self.text) if last is None else last.start()
        self._skip()
        return self.text[begin : self.at].rstrip()

    def require_end(self) -> None:
        """Raise ScenarioError unless the line ends here."""
        if self.at < len(self.text):
            hint = "a comment has a line of its own" if self.peek().startswith("#") else None
            raise self.error("the end of the line", hint)

    # --- words of one kind --------------------------------------------------------------------

    def name(self, expected: str) -> str:
        """Return the name of a broker, a client or a document."""
        begin = self.at
        word = self.next(expected)
        if NAME.fullmatch(word) is None:
            raise self.error(
                expected,
                "names have letters, digits, _, @ and dots inside, and start with a letter",
                at=begin,
            )
        return word

    def number(self, expected: str, minimum: int = 0) -> int:
        begin = self.at
        word = self.next(expected)
        digits = word.isascii() and word.isdigit()
        if not digits or len(word) > _MAX_DIGITS or int(word) < minimum:
            raise self.error(
                expected, f"at most {_MAX_DIGITS} digits" if digits else None, at=begin
            )
        return int(word)

    def time(self, expected: str = "a time such as 5s, 10ms or 20us") -> int:
        begin = self.at
        time = read_time(self.next(expected))
        if time is None:
            hint = "whole microseconds, a thousand million seconds at most"
            raise self.error(expected, hint, at=begin)
        return time

    def percent(self) -> int:
        begin = self.at
        expected = "a probability such as 10%"
        probability = read_percent(self.next(expected))
        if probability is None:
            hint = "at most 100%, with at most four digits after the point"
            raise self.error(expected, hint, at=begin)
        return probability

    def link(self) -> LinkEnds:
        """Return the two brokers of a link such as b1-b2."""
        begin = self.at
        expected = "a link such as b1-b2"
        left, dash, right = self.next(expected).partition("-")
        if not dash or NAME.fullmatch(left) is None or NAME.fullmatch(right) is None:
            raise self.error(expected, at=begin)
        return left, right
