"""Automata of different sizes, so that a new subscription does not throw away what is known of the old ones.

What came last is in a small automaton that is built anew with every change; when it is full it goes into the next
larger one, and so on into the main one. A document is run through all of them. So a change costs the building
of the smallest, most of the time, and the large ones keep their memos for long.

An automaton is never changed. What was removed stays in it until it is built anew, and is masked out of answers by the
bits of `alive`; a `Generation` is all that a match needs, and stays as it is while the next one is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pathcast.matching.core.automaton import Automaton
from pathcast.matching.core.evaluate import Conditions
from pathcast.matching.core.labels import Paths
from pathcast.matching.matches import Id
from pathcast.matching.residual import Check
from pathcast.pattern import parse
from pathcast.pattern.tree import Condition

__all__ = ["Entry", "Extras", "Generation", "Key", "Tier", "Tiers"]

Key = tuple[str, tuple[tuple[str, str], ...]]
"""The canonical text of a pattern, and its namespaces."""


_CAPS: Final = (64, 1024)
_SHARE: Final = 8  # the largest tier beside the main one has at most this part of it, or
_LEAST: Final = 8192


class Entry:
    """A distinct pattern that is not a path alone, and how many subscriptions have it."""

    __slots__ = ("alternatives", "check", "general", "key", "live")

    def __init__(
        self, key: Key, alternatives: list[tuple[str, object]], check: Check | None
    ) -> None:
        self.key = key
        self.alternatives = alternatives
        self.general = any(kind == "general" for kind, _ in alternatives)
        self.check = check
        self.live = 0

    def condition(self) -> Condition:
        """The condition again: patterns are large, and only few are ever asked for it."""
        return parse(self.key[0], dict(self.key[1])).condition


@dataclass(frozen=True, slots=True)
class Extras:
    """What an automaton needs for subscriptions that are no paths; entries by their numbers."""

    groups: list[object] = field(default_factory=list)
    """As the automaton takes them: (entry, numbers, whether a residual is left, alternatives)."""
    entries: dict[int, Entry] = field(default_factory=dict)
    conditions: Conditions = field(default_factory=Conditions)
    handles: dict[int, int] = field(default_factory=dict)
    """The conditions that are evaluated one by one."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The subscriptions of a moment."""

    automata: tuple[Automaton, ...]
    extras: tuple[Extras, ...]
    """Of each automaton."""
    alive: bytearray
    """A bit for every number, set until it is removed; the writer clears bits in place."""
    ids: Sequence[Id]


@dataclass(slots=True)
class Tier:
    """Some numbers, and the automaton made of them."""

    linear: array[int] = field(default_factory=lambda: array("i"))
    others: array[int] = field(default_factory=lambda: array("i"))
    automaton: Automaton | None = None
    extras: Extras | None = None

    def __len__(self) -> int:
        return len(self.linear) + len(self.others)


class Tiers:
    """The automata of all numbers. `extras` says what an automaton needs for those that are no paths."""

    def __init__(
        self, paths: Paths, extras: Callable[[Sequence[int]], Extras], alive: bytearray
    ) -> None:
        self._paths = paths
        self._extras = extras
        self._alive = alive
        self._pending = Tier()
        self._tiers = [Tier() for _ in range(len(_CAPS) + 2)]  # smallest first, the main one last
        self.built = 0

    def add(self, number: int, *, linear: bool) -> None:
        """A new number; it will be part of the next `generation`."""
        (self._pending.linear if linear else self._pending.others).append(number)

    def generation(self, alive: bytearray, ids: Sequence[Id]) -> Generation:
        """All that were added, the main automaton first."""
        self._alive = alive
        if self._pending:
            self._merge(self._place())
        found = [
            (tier.automaton, tier.extras)
            for tier in reversed(self._tiers)
            if tier.automaton is not None and tier.extras is not None
        ]
        return Generation(
            tuple(one for one, _ in found), tuple(two for _, two in found), alive, ids
        )

    def settle(self, alive: bytearray) -> None:
        """Put everything into the main automaton, without what is gone."""
        self._alive = alive
        self._merge(len(self._tiers) - 1)

    def _place(self) -> int:
        """The smallest tier that has room for what is pending and what is in the smaller ones."""
        size = len(self._pending)
        largest = max(_LEAST, len(self._tiers[-1]) // _SHARE)
        for place, cap in enumerate((*_CAPS, largest)):
            size += len(self._tiers[place])
            if size <= cap:
                return place
        return len(self._tiers) - 1

    def _merge(self, place: int) -> None:
        """Build a tier anew from itself, the smaller ones and what is pending."""
        merged = Tier()
        for tier in (*reversed(self._tiers[: place + 1]), self._pending):
            merged.linear += self._paths.living(tier.linear, self._alive)
            merged.others += self._paths.living(tier.others, self._alive)
        if merged:
            merged.extras = self._extras(merged.others)
            merged.automaton = Automaton(self._paths, merged.linear, merged.extras.groups)
            self.built += len(merged)
        for smaller in range(place):
            self._tiers[smaller] = Tier()
        self._tiers[place] = merged
        self._pending = Tier()
