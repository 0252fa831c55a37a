"""The engine in plain Python: the oracle of the compiled engine, and its fallback.

    bytes -> Document -> NFA states -> complete alternatives -> twig join -> residual -> numbers

Equal patterns share one entry, so each distinct pattern is evaluated once per document. The NFA
decides linear paths. A twig, a value or a position goes to the join when all its required paths
were reached. A residual goes to libxml2 when its skeleton holds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Literal

from pathcast.documents import Document, Limits
from pathcast.documents import parse as parse_document
from pathcast.errors import EvaluationError
from pathcast.matching.draw import draw
from pathcast.matching.encode import FIRST_NAME_CODE, PlainVocabulary, PlanEncoder, path_text
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Id, Matches, collect_batch
from pathcast.matching.nfa import DfaMemo, Nfa
from pathcast.matching.paths import Requirement, requirements
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.matching.plan import linear_path, plan
from pathcast.matching.residual import Check, Residuals
from pathcast.matching.snapshot import SavedPattern, Snapshot, snapshot_ints, to_saved_pattern
from pathcast.xpath import Pattern, parse

__all__ = ["PlainEngine"]

_Key = tuple[str, tuple[tuple[str, str], ...]]


class _IndexedPattern:
    """A distinct pattern, and the numbers of its subscriptions with their hops."""

    __slots__ = ("alternatives", "check", "key", "numbers")

    def __init__(self, key: _Key, pattern: Pattern, check: Check | None) -> None:
        self.key = key
        self.numbers: dict[int, int | None] = {}
        self.check = check
        self.alternatives = [
            _Alternative(self, requirement) for requirement in requirements(pattern.condition)
        ]


class _Alternative:
    """An alternative of an entry: it needs `needed_paths` distinct paths of the NFA."""

    __slots__ = ("entry", "needed_paths", "requirement")

    def __init__(self, entry: _IndexedPattern, requirement: Requirement) -> None:
        self.entry = entry
        self.requirement = requirement
        self.needed_paths = len(requirement.paths)


class PlainEngine:
    """One NFA, one memo, and a twig join for the alternatives that are not linear paths."""

    name = "plain"

    def __init__(
        self,
        id_table: IdTable,
        limits: Limits,
        residuals: Residuals,
        lock: AbstractContextManager[object],
    ) -> None:
        self._id_table = id_table
        self._lock = lock  # a match changes the memo
        self._limits = limits
        self._residuals = residuals
        self._entries: dict[_Key, _IndexedPattern] = {}
        self._entry_of: dict[int, _IndexedPattern] = {}
        self._nfa: Nfa[_Alternative] = Nfa()
        self._memo: DfaMemo[_Alternative] = DfaMemo()
        self._pathless: dict[_Alternative, None] = {}  # require no path: not(//a)
        self._documents = self._matches = self._joins = self._join_work = 0

    # subscriptions

    def add(
        self,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        pattern = parse(xpath, namespaces)
        check = self._residuals.admit(pattern, xpath, allow_expensive)
        self._enter(len(self._id_table.ids), pattern, check, hop)

    def _enter(self, number: int, pattern: Pattern, check: Check | None, hop: int | None) -> None:
        key = (pattern.text, pattern.namespaces)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _IndexedPattern(key, pattern, check)
            for alternative in entry.alternatives:
                for path in alternative.requirement.paths:
                    self._nfa.add(path, alternative)
                if not alternative.needed_paths:
                    self._pathless[alternative] = None
        entry.numbers[number] = hop
        self._entry_of[number] = entry

    def remove(self, number: int) -> None:
        entry = self._entry_of.pop(number)
        del entry.numbers[number]
        if entry.numbers:
            return
        del self._entries[entry.key]
        for alternative in entry.alternatives:
            for path in alternative.requirement.paths:
                self._nfa.remove(path, alternative)
            self._pathless.pop(alternative, None)

    def replace(
        self,
        number: int,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        self.add(xpath, namespaces, hop, allow_expensive)
        self.remove(number)  # the caller holds the lock that a match needs

    def describe(self, number: int) -> tuple[str, tuple[tuple[str, str], ...]]:
        return self._entry_of[number].key

    def renumber(self, kept: list[int]) -> None:
        new = {old: number for number, old in enumerate(kept)}
        for entry in self._entries.values():
            entry.numbers = {new[old]: hop for old, hop in entry.numbers.items()}
        self._entry_of = {new[old]: entry for old, entry in self._entry_of.items()}

    def settle(self) -> None:
        """Do nothing: the only NFA is always up to date."""

    def snapshot(self) -> Snapshot:
        vocabulary = PlainVocabulary()
        encoder = PlanEncoder(vocabulary)
        labels, ends, hops, entries = array("i"), array("i"), array("i"), array("i")
        pattern_index: dict[_Key, int] = {}
        saved: list[SavedPattern] = []
        for number in range(len(self._entry_of)):
            entry = self._entry_of[number]
            pattern = parse(entry.key[0], dict(entry.key[1]))
            alternatives = plan(pattern.condition)
            path = None if entry.check else linear_path(alternatives)
            if path is not None:
                labels.extend(encoder.encode_path(path))
            elif entry.key not in pattern_index:
                pattern_index[entry.key] = len(saved)
                saved.append(
                    to_saved_pattern(*entry.key, entry.check, encoder.encode_plan(alternatives))
                )
            ends.append(len(labels))
            hop = entry.numbers[number]
            hops.append(-1 if hop is None else hop)
            entries.append(-1 if path is not None else pattern_index[entry.key])
        return Snapshot(
            ids=list(self._id_table.ids),
            names=vocabulary.keys[FIRST_NAME_CODE:],
            values=vocabulary.value_tests,
            labels=labels.tobytes(),
            ends=ends.tobytes(),
            hops=hops.tobytes(),
            entries=entries.tobytes(),
            patterns=saved,
        )

    def restore(self, snapshot: Snapshot) -> None:
        vocabulary = PlainVocabulary()
        for name in snapshot.names:
            vocabulary.code(name)
        encoder = PlanEncoder(vocabulary)
        labels, ends = snapshot_ints(snapshot.labels), snapshot_ints(snapshot.ends)
        start = 0
        for number, (end, hop, entry) in enumerate(
            zip(ends, snapshot_ints(snapshot.hops), snapshot_ints(snapshot.entries), strict=True)
        ):
            if entry < 0:
                text, namespaces = path_text(encoder.decode(labels[start:end]))
            else:
                saved = snapshot.patterns[entry]
                text, namespaces = saved.text, saved.namespaces
            start = end
            pattern = parse(text, dict(namespaces))
            check = self._residuals.admit(pattern, text, allowed=True)
            self._enter(number, pattern, check, None if hop < 0 else hop)

    # documents

    def match(self, body: bytes) -> Matches:
        with self._lock:
            matched, errors = self._match_entries(body)
            numbers = array("i", sorted(number for entry in matched for number in entry.numbers))
            self._matches += len(numbers)
            return Matches(self._id_table.ids, numbers, errors)

    def match_batch(self, bodies: Iterable[bytes | str]) -> Batch:
        with self._lock:
            return collect_batch(self._id_table.ids, bodies, self.match)

    def match_hops(self, body: bytes) -> Hops:
        with self._lock:
            matched, errors = self._match_entries(body)
            hops = {hop for entry in matched for hop in entry.numbers.values() if hop is not None}
            return Hops(sorted(hops), errors)

    def _match_entries(
        self, body: bytes
    ) -> tuple[list[_IndexedPattern], dict[Id, EvaluationError]]:
        """Return the entries that the document matches, and the undecided subscriptions."""
        document = parse_document(body, self._limits)
        self._documents += 1
        passed = self._pass_structure(document)
        matched = [entry for entry in passed if entry.check is None]
        checked = [(entry, entry.check) for entry in passed if entry.check is not None]
        errors: dict[Id, EvaluationError] = {}
        if checked:
            results = self._residuals.decide(
                [check for _, check in checked],
                document.tree,
                document.longest_sibling_run,
                bytes(body),
            )
            for (entry, _), result in zip(checked, results, strict=True):
                if isinstance(result, EvaluationError):
                    errors |= {self._id_table.ids[number]: result for number in entry.numbers}
                elif result:
                    matched.append(entry)
        return matched, errors

    def _pass_structure(self, document: Document) -> list[_IndexedPattern]:
        """Return the entries whose condition (or skeleton) holds."""
        matched: dict[_IndexedPattern, None] = {}
        complete: dict[_Alternative, None] = dict(self._pathless)
        reached: dict[_Alternative, int] = {}
        for state in self._memo.run(self._nfa, document):
            for alternative in state.outputs:
                if alternative.requirement.exact:
                    matched[alternative.entry] = None
                    continue
                count = reached.get(alternative, 0) + 1
                reached[alternative] = count
                if count == alternative.needed_paths:
                    complete[alternative] = None
        evaluator = Evaluator(document)
        for alternative in complete:
            if alternative.entry not in matched:
                self._joins += 1
                if evaluator.holds(alternative.requirement.condition):
                    matched[alternative.entry] = None
        self._join_work += evaluator.work
        return list(matched)

    # introspection

    def draw(self, style: Literal["text", "dot"]) -> str:
        return draw(self._nfa, style, lambda alternative: len(alternative.entry.numbers))

    def stat_fields(self) -> dict[str, int | Mapping[str, int]]:
        checks = [entry.check for entry in self._entries.values() if entry.check is not None]
        return {
            "patterns": len(self._entries),
            "residuals": len(checks),
            "expensive": sum(check.expensive for check in checks),
            "automata": 1,
            "states": self._nfa.size,
            "memo": self._memo.size,
            "memo_hits": self._memo.hits,
            "memo_misses": self._memo.misses,
            "memo_flushes": self._memo.flushes,
            "documents": self._documents,
            "matches": self._matches,
            "joins": self._joins,
            "join_work": self._join_work,
            "memory": {},
        }
