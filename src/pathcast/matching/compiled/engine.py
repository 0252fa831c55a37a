"""The engine on the compiled core.

    text -> linear path | entry (alternatives, residual check)     add
    pending -> tiers of NFAs -> MatchView                          first match after a change
    bytes -> tree -> traversals, joins -> numbers or hops          match
    pending plans -> evaluator, residuals -> numbers or hops       match

The core parses plain paths, builds NFAs, traverses documents and joins twigs. This module holds
the control flow and the rare cases: conditions for the evaluator, and residuals.

Threads: a match reads a `MatchView`, which is immutable, and a `MatchContext`, which it owns, so
the core releases the GIL. Every change, and the construction of the next view, holds the
matcher's lock. A match takes the lock only if it has to build a view.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, groupby
from threading import RLock
from typing import Final, Literal

from lxml import etree

from pathcast.documents import Limits, ParsedTree, parse_tree
from pathcast.documents import parse as parse_document
from pathcast.errors import EvaluationError
from pathcast.matching.compiled.core.evaluator.evaluate import ConditionProgram, Evaluation
from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.matching.compiled.core.match_context import MatchContext
from pathcast.matching.compiled.core.node_table import count_byte
from pathcast.matching.compiled.core.pattern_plans import PlannedReader
from pathcast.matching.compiled.tiers import (
    EntryGroup,
    MatchView,
    NonLinearPlan,
    PatternEntry,
    PatternKey,
    Tiers,
)
from pathcast.matching.draw import draw
from pathcast.matching.encode import FIRST_NAME_CODE, PlanEncoder, path_text
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Id, Matches, collect_batch
from pathcast.matching.nfa import Nfa
from pathcast.matching.paths import requirements
from pathcast.matching.plan import linear_path, plan
from pathcast.matching.residual import Check, Residuals
from pathcast.matching.snapshot import SavedPattern, Snapshot, snapshot_ints, to_saved_pattern
from pathcast.xpath import parse
from pathcast.xpath.namespaces import check_namespace
from pathcast.xpath.tree import Condition

__all__ = ["CompiledEngine"]

_VERSION_MASK: Final = 0xFFFFFFFF  # versions wrap; even ones stay even
_NO_ERRORS: Mapping[Id, EvaluationError] = {}


class CompiledEngine:
    """NFAs in tiers, and a pool of match contexts, one per concurrent match."""

    name = "core"

    def __init__(
        self, id_table: IdTable, limits: Limits, residuals: Residuals, lock: RLock
    ) -> None:
        self._id_table = id_table
        self._lock = lock
        self._limits = limits
        self._residuals = residuals
        self._entries: dict[int, PatternEntry] = {}
        self._entry_numbers: dict[str | PatternKey, int] = {}  # by `_index_key`
        self._next_entry = 0
        self._idle_contexts: list[MatchContext] = []
        self._contexts: list[MatchContext] = []
        self._version = 0  # of the bits in `_alive`: even, incremented by each removal
        self._one_time_versions = count(1, 2)
        self._start_empty()

    def _start_empty(self) -> None:
        self._vocabulary = Vocabulary()
        self._encoder = PlanEncoder(self._vocabulary)
        self._reader = PlannedReader(self._vocabulary)
        self._paths = LinearPaths(self._vocabulary)
        self._alive = bytearray(64)
        self._tiers = Tiers(self._paths, self._make_plan)
        self._view: MatchView | None = None

    # subscriptions

    def add(
        self,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        paths = self._paths
        number = len(paths)
        code = -1 if hop is None else hop
        linear = not namespaces and type(xpath) is str and paths.read(xpath, code)
        if not linear:
            linear = self._add_pattern(xpath, namespaces, code, allow_expensive)
        self._set_alive(number)
        self._tiers.add(number, linear=linear)
        self._view = None

    def _add_pattern(
        self, xpath: str, namespaces: Mapping[str, str] | None, hop: int, allow_expensive: bool
    ) -> bool:
        """Add what `LinearPaths.read` cannot parse; return whether it is linear nonetheless."""
        if self._read(xpath, namespaces):
            path = self._reader.linear_path()
            if path is not None:
                self._paths.add(path, hop)
                return True
            key = self._reader.text()
            number = self._entry_numbers.get(_index_key(key))
            if number is None:
                number = self._add_entry(key, self._reader.plan(), None)
        else:
            pattern = parse(xpath, namespaces)
            check = self._residuals.admit(pattern, xpath, allow_expensive)
            key = (pattern.text, pattern.namespaces)
            number = self._entry_numbers.get(_index_key(key))
            if number is None:
                alternatives = plan(pattern.condition)
                linear = None if check else linear_path(alternatives)
                if linear is not None:
                    self._paths.add(self._encoder.encode_path(linear), hop)
                    return True
                number = self._add_entry(key, self._encoder.encode_plan(alternatives), check)
        self._paths.add((), hop, number)
        self._entries[number].live += 1
        return False

    def _read(self, xpath: str, namespaces: Mapping[str, str] | None) -> bool:
        """Read an expression without the XPath parser; return False if that is impossible."""
        if type(xpath) is not str:
            return False
        if not namespaces:
            return self._reader.read(xpath, None)
        for prefix, uri in namespaces.items():
            check_namespace(prefix, uri)
        return self._reader.read(xpath, dict(namespaces))

    def _add_entry(
        self, key: PatternKey, alternatives: list[tuple[str, object]], check: Check | None
    ) -> int:
        number = self._next_entry
        self._next_entry += 1
        self._entries[number] = PatternEntry(key, alternatives, check)
        self._entry_numbers[_index_key(key)] = number
        return number

    def _condition(self, key: PatternKey) -> Condition:
        """Return the condition of a pattern: patterns are large, and few are ever needed."""
        text, namespaces = key
        if self._reader.read(text, dict(namespaces)):
            return self._reader.condition()
        return parse(text, dict(namespaces)).condition

    def _set_alive(self, number: int) -> None:
        """Set the bit of a subscription; growing copies the bits, so views keep theirs."""
        if number >> 3 >= len(self._alive):
            self._alive = self._alive + bytes(len(self._alive))
        self._alive[number >> 3] |= 1 << (number & 7)

    def remove(self, number: int) -> None:
        self._alive[number >> 3] &= ~(1 << (number & 7))
        self._version = (self._version + 2) & _VERSION_MASK
        entry_number = self._paths.entry(number)
        if entry_number >= 0:
            entry = self._entries[entry_number]
            entry.live -= 1
            if not entry.live:  # an NFA may still contain it: drop its name only
                del self._entry_numbers[_index_key(entry.key)]

    def replace(
        self,
        number: int,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        self.add(xpath, namespaces, hop, allow_expensive)
        # Documents in progress have a view without the new subscription: they keep the old one.
        self._alive = self._alive.copy()
        self.remove(number)

    def describe(self, number: int) -> tuple[str, tuple[tuple[str, str], ...]]:
        entry_number = self._paths.entry(number)
        if entry_number >= 0:
            return self._entries[entry_number].key
        return path_text(self._encoder.decode(self._paths.labels_of(number)))

    def renumber(self, kept: list[int]) -> None:
        old_paths, old_vocabulary = self._paths, self._vocabulary
        self._start_empty()
        self._paths = old_paths.subset(kept, self._vocabulary)
        self._tiers = Tiers(self._paths, self._make_plan)
        for number in range(len(kept)):
            self._set_alive(number)
            self._tiers.add(number, linear=self._paths.entry(number) < 0)
        self._entries = {number: entry for number, entry in self._entries.items() if entry.live}
        for entry in self._entries.values():
            entry.alternatives = self._encoder.translate(entry.alternatives, old_vocabulary)

    def settle(self) -> None:
        if not self._tiers.settled:
            self._tiers.settle(self._alive)
            self._view = None
        self._current_view()

    def _make_plan(self, numbers: Sequence[int]) -> tuple[NonLinearPlan, Iterator[EntryGroup]]:
        """Group non-linear subscriptions by entry; compile the conditions to evaluate."""
        plan = NonLinearPlan()
        for number in numbers:
            entry = self._entries[self._paths.entry(number)]
            if entry.needs_evaluation and entry not in plan.handles:
                plan.handles[entry] = plan.conditions.add(self._condition(entry.key))
        return plan, self._groups(numbers)

    def _groups(self, numbers: Sequence[int]) -> Iterator[EntryGroup]:
        """Yield the groups one by one, because all of them would take much memory."""
        by_entry = sorted(numbers, key=self._paths.entry)
        for number, members in groupby(by_entry, key=self._paths.entry):
            entry = self._entries[number]
            yield entry, list(members), entry.check is not None, entry.packed_plan

    def snapshot(self) -> Snapshot:
        vocabulary = self._vocabulary
        places = {number: place for place, number in enumerate(self._entries)}
        labels, ends, hops, entries = self._paths.dump()
        entry_places = array("i", [places.get(number, -1) for number in snapshot_ints(entries)])
        return Snapshot(
            ids=list(self._id_table.ids),  # a copy: the caller writes it without the lock
            names=vocabulary.keys[FIRST_NAME_CODE:],
            values=list(vocabulary.value_tests),
            labels=labels,
            ends=ends,
            hops=hops,
            entries=entry_places.tobytes(),
            patterns=[
                to_saved_pattern(*entry.key, entry.check, entry.alternatives)
                for entry in self._entries.values()
            ],
        )

    def restore(self, snapshot: Snapshot) -> None:
        for name in snapshot.names:
            self._vocabulary.code(name)
        for test in snapshot.values:
            self._vocabulary.value(*test)
        for place, saved in enumerate(snapshot.patterns):
            self._entries[place] = self._restore_entry(saved)
            self._entry_numbers[_index_key((saved.text, saved.namespaces))] = place
        self._next_entry = len(snapshot.patterns)
        entries = snapshot_ints(snapshot.entries)
        self._paths.load(
            snapshot_ints(snapshot.labels),
            snapshot_ints(snapshot.ends),
            snapshot_ints(snapshot.hops),
            entries,
        )
        count = len(entries)
        self._alive = bytearray(b"\xff" * (count >> 3) + bytes(64 + (-count >> 3) % 8))
        for number in range(count & ~7, count):
            self._set_alive(number)
        for number, entry_number in enumerate(entries):
            self._tiers.add(number, linear=entry_number < 0)
            if entry_number >= 0:
                self._entries[entry_number].live += 1
        self._view = None

    def _restore_entry(self, saved: SavedPattern) -> PatternEntry:
        key = (saved.text, saved.namespaces)
        if saved.check is None:
            return PatternEntry(key, saved.alternatives, None)
        # Rare, and libxml2 has to compile it anyway. It is planned again, because the engine may
        # decide now what was a residual when it was saved.
        pattern = parse(saved.text, dict(saved.namespaces))
        check = self._residuals.admit(pattern, saved.text, allowed=True)
        return PatternEntry(key, self._encoder.encode_plan(plan(pattern.condition)), check)

    # documents

    def match(self, body: bytes) -> Matches:
        return self._match(self._current_view(), body)

    def match_batch(self, bodies: Iterable[bytes | str]) -> Batch:
        view = self._current_view()
        return collect_batch(view.ids, bodies, partial(self._match, view))

    def _match(self, view: MatchView, body: bytes) -> Matches:
        numbers, _, errors = self._run(view, body, hops=False)
        return Matches(view.ids, numbers, errors)

    def match_hops(self, body: bytes) -> Hops:
        _, hops, errors = self._run(self._current_view(), body, hops=True)
        return Hops(hops, errors)

    def _current_view(self) -> MatchView:
        """Return the view of all subscriptions; build it after a change."""
        view = self._view
        if view is None:
            with self._lock:  # waits for writers, and for others that build the same view
                view = self._view
                if view is None:
                    view = self._tiers.view(self._alive, self._id_table.ids)
                    self._view = view
        return view

    def _run(
        self, view: MatchView, body: bytes, *, hops: bool
    ) -> tuple[array[int], list[int], Mapping[Id, EvaluationError]]:
        """Match a document; return (numbers, hops, errors), numbers or hops empty."""
        parsed = parse_tree(body, self._limits)
        try:
            context = self._idle_contexts.pop()
        except IndexError:
            context = MatchContext()
            self._contexts.append(context)
        errors = _NO_ERRORS
        try:
            count_attributes = not parsed.attributes_within_limit and self._may_exceed_attributes(
                parsed, body
            )
            context.open(parsed.root, count_attributes)
            limits = self._limits
            if context.nodes.exceeds(
                limits.depth, limits.elements, limits.attributes, limits.attributes_total
            ):
                parse_document(body, limits)  # raises DocumentError with the position
            alive, version = view.alive, self._version_of(view)
            pending = context.match(view.nfas, alive, version, hops, view.recent)
            if pending:
                errors = self._decide(context, view, pending, parsed.root, body)
            numbers = array("i") if hops else context.numbers(alive)
            return numbers, context.hops() if hops else [], errors
        except BaseException:
            context.clear()
            raise
        finally:
            context.close()
            self._idle_contexts.append(context)

    def _version_of(self, view: MatchView) -> int:
        """Return the version of a view's `alive` bits: the key of cached hop masks.

        After growth, an old view keeps the old bits, which removals no longer clear. Its hop
        masks must not serve later views of the same NFAs, so they get a version of their own.
        """
        version = self._version  # read first: if the bits are current now, they were then
        if view.alive is self._alive:
            return version
        return next(self._one_time_versions) & _VERSION_MASK

    def _may_exceed_attributes(self, parsed: ParsedTree, body: bytes) -> bool:
        """Return whether the document may exceed a limit on attributes."""
        limit = min(self._limits.attributes, self._limits.attributes_total)
        return not parsed.every_attribute_has_equals or count_byte(body, ord("=")) > limit

    def _decide(
        self,
        context: MatchContext,
        view: MatchView,
        pending: Sequence[tuple[int, int, int, int]],
        root: etree._Element,
        body: bytes,
    ) -> Mapping[Id, EvaluationError]:
        """Decide the pending plans: conditions first, then residuals.

        Return the errors of residuals that could not be evaluated.
        """
        alive = view.alive
        residuals: list[tuple[int, int, PatternEntry, Check]] = []
        conditions = _DocumentConditions(view, root)
        for index, place, _, only_residual in pending:
            entry: PatternEntry = view.nfas[index].twigs.keys[place]
            if not only_residual and not conditions.hold(index, entry):
                continue
            if not context.matters(index, place, alive):
                continue
            if entry.check is None:
                context.accept(index, place, alive)
            else:
                residuals.append((index, place, entry, entry.check))
        context.evaluated += conditions.evaluated
        context.evaluation_work += conditions.work
        return self._check_residuals(context, view, residuals, root, body) if residuals else {}

    def _check_residuals(
        self,
        context: MatchContext,
        view: MatchView,
        residuals: Sequence[tuple[int, int, PatternEntry, Check]],
        root: etree._Element,
        body: bytes,
    ) -> Mapping[Id, EvaluationError]:
        """Evaluate the residuals of entries whose skeletons match, once per distinct entry."""
        checks = {id(entry): check for _, _, entry, check in residuals}
        tree, longest_run = root.getroottree(), context.nodes.longest_sibling_run
        answers = self._residuals.decide(list(checks.values()), tree, longest_run, bytes(body))
        answers_by_entry = dict(zip(checks, answers, strict=True))
        errors: dict[Id, EvaluationError] = {}
        for index, place, entry, _ in residuals:
            answer = answers_by_entry[id(entry)]
            if isinstance(answer, EvaluationError):
                numbers = context.numbers_of(index, place, view.alive)
                errors |= {view.ids[number]: answer for number in numbers}
            elif answer:
                context.accept(index, place, view.alive)
        return errors

    # inspection

    def draw(self, style: Literal["text", "dot"]) -> str:
        nfa: Nfa[int] = Nfa()
        paths = self._paths
        for number in self._id_table.numbers():
            entry_number = paths.entry(number)
            if entry_number < 0:
                nfa.add(self._encoder.decode(paths.labels_of(number)), number)
                continue
            for requirement in requirements(self._entries[entry_number].condition()):
                for path in requirement.paths:
                    nfa.add(path, number)
        return draw(nfa, style, lambda _: 1)

    def stat_fields(self) -> dict[str, int | Mapping[str, int]]:
        view = self._current_view()
        checks = [entry.check for entry in self._entries.values() if entry.live and entry.check]
        contexts = self._contexts
        memos = [traversal.dfa for context in contexts for traversal in context.traversals()]
        linear = [number for number in self._id_table.numbers() if self._paths.entry(number) < 0]
        return {
            "patterns": self._paths.count_distinct(linear) + len(self._entry_numbers),
            "residuals": len(checks),
            "expensive": sum(check.expensive for check in checks),
            "automata": len(view.nfas),
            "states": 1 + sum(nfa.size - 1 for nfa in view.nfas),
            "memo": sum(len(memo) for memo in memos),
            "memo_hits": sum(memo.hits for memo in memos),
            "memo_misses": sum(memo.misses for memo in memos),
            "memo_flushes": sum(memo.flushes for memo in memos),
            "documents": sum(context.documents for context in contexts),
            "matches": sum(context.matches for context in contexts),
            "joins": sum(context.joins + context.evaluated for context in contexts),
            "join_work": sum(context.join_work + context.evaluation_work for context in contexts),
            "memory": {
                "paths": self._paths.memory,
                "automata": sum(nfa.memory for nfa in view.nfas)
                + sum(paths.memory for paths in view.recent),
                "memos": sum(memo.memory for memo in memos),
                "conditions": sum(plan.conditions.memory for plan in view.plans),
            },
        }


def _index_key(key: PatternKey) -> str | PatternKey:
    """Return a key for dictionaries: the text alone, unless it has prefixes."""
    return key if key[1] else key[0]


class _DocumentConditions:
    """Conditions evaluated on one document, each at most once."""

    __slots__ = ("_answers", "_evaluations", "_root", "_single_evaluations", "_view", "evaluated")

    def __init__(self, view: MatchView, root: etree._Element) -> None:
        self._view = view
        self._root = root
        self._evaluations: dict[int, Evaluation] = {}
        self._single_evaluations: list[Evaluation] = []
        self._answers: dict[PatternEntry, bool] = {}
        self.evaluated = 0

    def hold(self, index: int, entry: PatternEntry) -> bool:
        """Return whether the condition of an entry of an NFA holds."""
        answer = self._answers.get(entry)
        if answer is None:
            self.evaluated += 1
            answer = self._answers[entry] = self._evaluate(index, entry)
        return answer

    def _evaluate(self, index: int, entry: PatternEntry) -> bool:
        plan = self._view.plans[index]
        handle = plan.handles.get(entry)
        if handle is None:  # a twig: the document exceeded the memo, so that no join was possible
            conditions = ConditionProgram()
            handle = conditions.add(entry.condition())
            evaluation = Evaluation(conditions, self._root)
            self._single_evaluations.append(evaluation)
            return evaluation.holds(handle)
        if index not in self._evaluations:
            self._evaluations[index] = Evaluation(plan.conditions, self._root)
        return self._evaluations[index].holds(handle)

    @property
    def work(self) -> int:
        evaluations = (*self._evaluations.values(), *self._single_evaluations)
        return sum(evaluation.work for evaluation in evaluations)
