"""Glushkov automaton of a content model: one state for each occurrence of a name.

A content model is *not deterministic* if two positions of one name may follow the same position.
XML 1.0 requires deterministic models, and libxml2 does not validate others. They exist in published
DTDs (`((a, b) | (a, c))`), so `accepts` simulates the automaton on sets of positions.

>>> from pathcast.schema.model import Child, Choice, Sequence
>>> model = Choice((Sequence((Child("a"), Child("b"))), Sequence((Child("a"), Child("c")))))
>>> positions = GlushkovAutomaton(model)
>>> positions.ambiguous, positions.accepts(["a", "c"]), positions.accepts(["a"])
('a', True, False)
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.schema.model import Child, Choice, Content, Sequence

__all__ = ["GlushkovAutomaton"]

_Ends = tuple[bool, list[int], list[int]]  # nullable, first positions, last positions


class GlushkovAutomaton:
    """The position automaton of one content model; state 0 is the start."""

    __slots__ = ("_ends", "_follow", "_names")

    def __init__(self, content: Content) -> None:
        self._names: list[str] = [""]
        self._follow: list[dict[int, None]] = [{}]
        nothing, first, last = self._add(content)
        self._follow[0] = dict.fromkeys(first)
        self._ends = frozenset([*last, *([0] if nothing else [])])

    def _add(self, content: Content) -> _Ends:
        nothing = isinstance(content, Sequence)
        first: list[int] = []
        last: list[int] = []
        match content:
            case Child(name=name):
                self._names.append(name)
                self._follow.append({})
                first = last = [len(self._names) - 1]
            case Sequence(parts=parts):
                for part in parts:
                    skipped, begin, end = self._add(part)
                    self._link(last, begin)
                    first = first + begin if nothing else first
                    last = last + end if skipped else end
                    nothing = nothing and skipped
            case Choice(parts=parts):
                for part in parts:
                    skipped, begin, end = self._add(part)
                    nothing, first, last = nothing or skipped, first + begin, last + end
        if content.occurs.may_repeat:
            self._link(last, first)
        return nothing or content.occurs.may_be_absent, first, last

    def _link(self, before: Iterable[int], after: list[int]) -> None:
        following = dict.fromkeys(after)
        for position in before:
            self._follow[position].update(following)

    @property
    def ambiguous(self) -> str | None:
        """A name that two positions compete for, or None if the model is deterministic."""
        for following in self._follow:
            names = [self._names[position] for position in following]
            if len(set(names)) < len(names):
                return next(name for name in names if names.count(name) > 1)
        return None

    def accepts(self, word: Iterable[str]) -> bool:
        """Return whether the model allows children of these names in this order."""
        states = {0}
        for name in word:
            states = {
                after
                for state in states
                for after in self._follow[state]
                if self._names[after] == name
            }
        return not states.isdisjoint(self._ends)
