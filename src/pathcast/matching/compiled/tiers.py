"""Tiers: immutable NFAs of different sizes, merged like the levels of an LSM tree.

An added subscription must not invalidate the lazy DFA of all others. Recent linear paths are
matched bit-parallel (`BitParallelPaths`) until there are enough of them for an automaton.
Non-linear subscriptions added since the last match are compiled into a new small automaton
immediately. `MERGE_COUNT` tiers of one grade are merged into one of the next grade. When all tiers
together exceed 1/`MERGE_RATIO` of the main one, everything is merged into it.

A document traverses all tiers. A small one costs little after the main one (`Traversal.follow`).
So a subscription is compiled a few times in its life, and large automata keep their memos.

A removed subscription stays in its automaton until that is merged; the bits of `alive` mask it out
of results. A `MatchView` holds all that a match reads; a new one replaces it after a change.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pathcast.matching.compiled.core.bit_parallel import BitParallelPaths, is_bit_parallel
from pathcast.matching.compiled.core.evaluator.program import ConditionProgram
from pathcast.matching.compiled.core.labels import LinearPaths
from pathcast.matching.compiled.core.nfa import CompiledNfa
from pathcast.matching.compiled.core.plan_codec import pack_plan, unpack_plan
from pathcast.matching.matches import Id
from pathcast.matching.residual import Check
from pathcast.xpath import parse
from pathcast.xpath.tree import Condition

__all__ = [
    "EntryGroup",
    "MatchView",
    "NonLinearPlan",
    "PatternEntry",
    "PatternKey",
    "Tier",
    "Tiers",
]

PatternKey = tuple[str, tuple[tuple[str, str], ...]]
"""The canonical text of a pattern, and its namespaces."""


EntryGroup = tuple["PatternEntry", list[int], bool, bytes]
"""An entry, its subscription numbers, whether it has a residual, and its packed plan."""

MERGE_COUNT: Final = 4  # tiers of one grade
MERGE_COUNT_NON_LINEAR: Final = 3  # the same if one has non-linear patterns: they cost more
MERGE_RATIO: Final = 8  # size of the main tier : size of all others, at least; but
MIN_MERGE_SIZE: Final = 8192  # subscriptions outside the main tier are always allowed
MAX_RECENT: Final = 1024  # paths that are matched bit-parallel
MAX_NEWEST: Final = 32  # of these, the paths whose masks are rebuilt on every addition
MIN_MAIN_SIZE: Final = 256  # subscriptions; a smaller main automaton is rebuilt in no time


class PatternEntry:
    """A distinct non-linear pattern, and the number of its live subscriptions."""

    __slots__ = ("check", "live", "namespaces", "needs_evaluation", "packed_plan", "text")

    def __init__(
        self, key: PatternKey, alternatives: Collection[tuple[str, object]], check: Check | None
    ) -> None:
        self.text, self.namespaces = key
        self.packed_plan = pack_plan(alternatives)
        self.needs_evaluation = "general" in {kind for kind, _ in alternatives}
        self.check = check
        self.live = 0

    @property
    def key(self) -> PatternKey:
        return self.text, self.namespaces

    @property
    def alternatives(self) -> Collection[tuple[str, object]]:
        """The plan, in the codes of the vocabulary."""
        return unpack_plan(self.packed_plan)

    @alternatives.setter
    def alternatives(self, alternatives: Collection[tuple[str, object]]) -> None:
        self.packed_plan = pack_plan(alternatives)

    def condition(self) -> Condition:
        """Parse the condition again: patterns are large, and few conditions are ever needed."""
        return parse(self.text, dict(self.namespaces)).condition


@dataclass(frozen=True, slots=True)
class NonLinearPlan:
    """The conditions to evaluate of one automaton's non-linear patterns."""

    conditions: ConditionProgram = field(default_factory=ConditionProgram)
    handles: dict[PatternEntry, int] = field(default_factory=dict)
    """The number of an entry's condition in the program, if it needs evaluation."""


_NO_PLAN: Final = NonLinearPlan()


@dataclass(frozen=True, slots=True)
class MatchView:
    """An immutable view of all subscriptions, as a match reads them."""

    nfas: tuple[CompiledNfa, ...]
    """The main NFA first."""
    plans: tuple[NonLinearPlan, ...]
    """By NFA."""
    recent: tuple[BitParallelPaths, ...]
    alive: bytearray
    """A bit per subscription number; the writer clears it in place on removal."""
    ids: Sequence[Id]


@dataclass(slots=True, eq=False)
class Tier:
    """Some subscription numbers and their automaton, built on first use."""

    linear: array[int] = field(default_factory=lambda: array("i"))
    non_linear: array[int] = field(default_factory=lambda: array("i"))
    nfa: CompiledNfa | None = None
    plan: NonLinearPlan = _NO_PLAN

    def __len__(self) -> int:
        return len(self.linear) + len(self.non_linear)

    @property
    def grade(self) -> int:
        """The order of magnitude of the size: up to 3, 15, 63, 255, ..."""
        return (len(self).bit_length() - 1) // 2


class Tiers:
    """The tiers of all subscriptions.

    `make_plan` compiles the non-linear patterns of the given subscription numbers, and returns
    them as the constructor of `CompiledNfa` takes them.
    """

    def __init__(
        self,
        paths: LinearPaths,
        make_plan: Callable[[Sequence[int]], tuple[NonLinearPlan, Iterable[EntryGroup]]],
    ) -> None:
        self._paths = paths
        self._make_plan = make_plan
        self._pending = Tier()
        self._newest: array[int] = array("i")
        self._older: array[int] = array("i")
        self._older_masks: BitParallelPaths | None = None
        self._tiers: list[Tier] = []  # the main one first

    def add(self, number: int, *, linear: bool) -> None:
        """Add a subscription number; the next `view` contains it."""
        (self._pending.linear if linear else self._pending.non_linear).append(number)

    def view(self, alive: bytearray, ids: Sequence[Id]) -> MatchView:
        """Return a view of all numbers added so far; compile those that are pending."""
        self._take_recent(alive)
        if self._pending:
            self._tiers.append(self._pending)
            self._pending = Tier()
            self._compact(alive)
        nfas = tuple([self._nfa(tier) for tier in self._tiers])
        plans = tuple([tier.plan for tier in self._tiers])
        return MatchView(nfas, plans, self._recent_masks(nfas), alive, ids)

    @property
    def settled(self) -> bool:
        """Whether the main automaton holds everything."""
        return len(self._tiers) < 2 and not (self._pending or self._older or self._newest)

    def settle(self, alive: bytearray) -> None:
        """Merge everything into the main automaton, without removed subscriptions."""
        tiers = [*self._tiers, Tier(self._older + self._newest), self._pending]
        self._tiers = [tier for tier in [self._merge(tiers, alive)] if tier]
        self._pending = Tier()
        self._clear_recent()

    def _take_recent(self, alive: bytearray) -> None:
        """Move pending bit-parallel paths to the recent ones; if those are too many, back."""
        added = self._pending.linear
        if not self._tiers or len(self._tiers[0]) < MIN_MAIN_SIZE:
            return
        paths = self._paths
        if len(self._older) + len(self._newest) + len(added) > MAX_RECENT:
            self._pending.linear = paths.select_alive(self._older + self._newest, alive) + added
            self._clear_recent()
            return
        self._pending.linear = array(
            "i", [number for number in added if not is_bit_parallel(paths, number)]
        )
        self._newest.extend(number for number in added if is_bit_parallel(paths, number))
        if len(self._newest) > MAX_NEWEST:
            self._older = paths.select_alive(self._older + self._newest, alive)
            self._newest = array("i")
            self._older_masks = None

    def _clear_recent(self) -> None:
        self._newest = array("i")
        self._older = array("i")
        self._older_masks = None

    def _recent_masks(self, nfas: Sequence[CompiledNfa]) -> tuple[BitParallelPaths, ...]:
        masks = []
        if self._older:
            if self._older_masks is None:
                self._older_masks = BitParallelPaths(self._paths, self._older, nfas[0])
            masks.append(self._older_masks)
        if self._newest:
            masks.append(BitParallelPaths(self._paths, self._newest, nfas[0]))
        return tuple(masks)

    def _compact(self, alive: bytearray) -> None:
        """Merge tiers until no grade has too many and the main tier is large enough."""
        main, *others = self._tiers
        if sum(map(len, others)) > max(MIN_MERGE_SIZE, len(main) // MERGE_RATIO):
            self.settle(alive)
            return
        newest = self._tiers[-1]
        while newest and newest is not main:
            same_grade = [tier for tier in self._tiers[1:] if tier.grade == newest.grade]
            non_linear = any(tier.non_linear for tier in same_grade)
            if len(same_grade) < (MERGE_COUNT_NON_LINEAR if non_linear else MERGE_COUNT):
                return
            newest = self._merge(same_grade, alive)
            self._tiers = [tier for tier in self._tiers if tier not in same_grade]
            if newest:
                self._tiers.append(newest)

    def _merge(self, tiers: Iterable[Tier], alive: bytearray) -> Tier:
        """Return a tier of the live subscriptions of some tiers."""
        merged = Tier()
        for tier in tiers:
            merged.linear += self._paths.select_alive(tier.linear, alive)
            merged.non_linear += self._paths.select_alive(tier.non_linear, alive)
        return merged

    def _nfa(self, tier: Tier) -> CompiledNfa:
        if tier.nfa is None:
            groups: Iterable[EntryGroup] = ()
            if tier.non_linear:
                tier.plan, groups = self._make_plan(tier.non_linear)
            tier.nfa = CompiledNfa(self._paths, tier.linear, groups)
        return tier.nfa
