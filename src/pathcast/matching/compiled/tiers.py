"""Automata of different sizes, so that a new subscription does not throw away what is known of the old ones.

Paths that were added lately are run as they are (`Fresh`), until there are enough of them for a small automaton; what else
was added since the last document becomes one at once. Four small ones are merged into one of the next size, four of those into
one of the next, and when all of them together are an eighth of the main one, they go into that. A
document is run through all of them, and a small one costs little where the main one has been before (`Course.follow`).
So a subscription is built a few times in its life, and the large automata keep their memos for long.

An automaton is never changed. What was removed stays in it until it is built anew, and is masked out of answers by the
bits of `alive`; a `Generation` is all that a match needs, and stays as it is while the next one is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pathcast.matching.compiled.core.automaton import Automaton
from pathcast.matching.compiled.core.evaluator.evaluate import Conditions
from pathcast.matching.compiled.core.fresh import Fresh, fits
from pathcast.matching.compiled.core.labels import Paths
from pathcast.matching.matches import Id
from pathcast.matching.residual import Check
from pathcast.xpath import parse
from pathcast.xpath.tree import Condition

__all__ = ["Entry", "Extras", "Generation", "Key", "Tier", "Tiers"]

Key = tuple[str, tuple[tuple[str, str], ...]]
"""The canonical text of a pattern, and its namespaces."""


_MANY: Final = 4  # so many tiers of a grade are merged into one of the next
_FEW: Final = (
    3  # or so many, where there are subscriptions that are no paths: to run those costs more
)
_SHARE: Final = 8  # all tiers beside the main one have at most this part of it, or
_LEAST: Final = 8192
_FRESH: Final = 1024  # so many paths are run as they are
_RECENT: Final = 32  # of these so many, the last ones, are laid out again whenever one is added
_LARGE: Final = 256  # where the main automaton has so many; to build a smaller one takes no time


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


_NO_EXTRAS: Final = Extras()


@dataclass(frozen=True, slots=True)
class Generation:
    """The subscriptions of a moment."""

    automata: tuple[Automaton, ...]
    extras: tuple[Extras, ...]
    """Of each automaton."""
    fresh: tuple[Fresh, ...]
    alive: bytearray
    """A bit for every number, set until it is removed; the writer clears bits in place."""
    ids: Sequence[Id]


@dataclass(slots=True, eq=False)
class Tier:
    """Some numbers, and the automaton made of them once somebody needs it."""

    linear: array[int] = field(default_factory=lambda: array("i"))
    others: array[int] = field(default_factory=lambda: array("i"))
    automaton: Automaton | None = None
    extras: Extras = _NO_EXTRAS

    def __len__(self) -> int:
        return len(self.linear) + len(self.others)

    @property
    def grade(self) -> int:
        """Tiers of a grade are of about the same size: up to 3, 15, 63, 255 ..."""
        return (len(self).bit_length() - 1) // 2


class Tiers:
    """The automata of all numbers. `extras` says what an automaton needs for those that are no paths."""

    def __init__(self, paths: Paths, extras: Callable[[Sequence[int]], Extras]) -> None:
        self._paths = paths
        self._extras = extras
        self._pending = Tier()
        self._recent: array[int] = array("i")
        self._older: array[int] = array("i")
        self._older_fresh: Fresh | None = None
        self._tiers: list[Tier] = []  # the main one first

    def add(self, number: int, *, linear: bool) -> None:
        """A new number; it will be part of the next `generation`."""
        (self._pending.linear if linear else self._pending.others).append(number)

    def generation(self, alive: bytearray, ids: Sequence[Id]) -> Generation:
        """All that were added, the main automaton first."""
        self._keep_fresh(alive)
        if self._pending:
            self._tiers.append(self._pending)
            self._pending = Tier()
            self._compact(alive)
        automata = tuple([self._automaton(tier) for tier in self._tiers])
        extras = tuple([tier.extras for tier in self._tiers])
        return Generation(automata, extras, self._fresh(automata), alive, ids)

    @property
    def settled(self) -> bool:
        """Whether there is one automaton and nothing beside it."""
        return len(self._tiers) < 2 and not (self._pending or self._older or self._recent)

    def settle(self, alive: bytearray) -> None:
        """Put everything into the main automaton, without what is gone."""
        tiers = [*self._tiers, Tier(self._older + self._recent), self._pending]
        self._tiers = [tier for tier in [self._merged(tiers, alive)] if tier]
        self._pending = Tier()
        self._forget_fresh()

    def _keep_fresh(self, alive: bytearray) -> None:
        """Take the paths that can be run as they are from what was added; if they become too many, give all back."""
        added = self._pending.linear
        if not self._tiers or len(self._tiers[0]) < _LARGE:
            return
        if len(self._older) + len(self._recent) + len(added) > _FRESH:
            self._pending.linear = self._paths.living(self._older + self._recent, alive) + added
            self._forget_fresh()
            return
        self._pending.linear = array("i", [one for one in added if not fits(self._paths, one)])
        self._recent.extend(one for one in added if fits(self._paths, one))
        if len(self._recent) > _RECENT:
            self._older = self._paths.living(self._older + self._recent, alive)
            self._recent = array("i")
            self._older_fresh = None

    def _forget_fresh(self) -> None:
        self._recent = array("i")
        self._older = array("i")
        self._older_fresh = None

    def _fresh(self, automata: Sequence[Automaton]) -> tuple[Fresh, ...]:
        found = []
        if self._older:
            if self._older_fresh is None:
                self._older_fresh = Fresh(self._paths, self._older, automata[0])
            found.append(self._older_fresh)
        if self._recent:
            found.append(Fresh(self._paths, self._recent, automata[0]))
        return tuple(found)

    def _compact(self, alive: bytearray) -> None:
        """Merge what has become too much, or too many of a grade; the newest tier is the last one."""
        main, *others = self._tiers
        if sum(map(len, others)) > max(_LEAST, len(main) // _SHARE):
            self.settle(alive)
            return
        newest = self._tiers[-1]
        while newest and newest is not main:
            alike = [tier for tier in self._tiers[1:] if tier.grade == newest.grade]
            if len(alike) < (_FEW if any(tier.others for tier in alike) else _MANY):
                return
            newest = self._merged(alike, alive)
            self._tiers = [tier for tier in self._tiers if tier not in alike]
            if newest:
                self._tiers.append(newest)

    def _merged(self, tiers: Iterable[Tier], alive: bytearray) -> Tier:
        """What is alive of some tiers, in the order of their numbers."""
        merged = Tier()
        for tier in tiers:
            merged.linear += self._paths.living(tier.linear, alive)
            merged.others += self._paths.living(tier.others, alive)
        return merged

    def _automaton(self, tier: Tier) -> Automaton:
        if tier.automaton is None:
            if tier.others:
                tier.extras = self._extras(tier.others)
            tier.automaton = Automaton(self._paths, tier.linear, tier.extras.groups)
        return tier.automaton
