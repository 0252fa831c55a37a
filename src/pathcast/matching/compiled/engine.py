"""The engine on the compiled core.

    text -> path of labels | entry (plan, check)      add
    pending -> tiers of automata -> Generation        before a match that follows an add
    bytes -> tree -> Run over the automata -> numbers, hops; what is left -> condition, residual

Reading the text of a plain path, building automata, running them and joining twigs is compiled; here is who calls
whom, and what is rare: conditions that are evaluated one by one, and residuals.

Threads: a match works on a `Generation` that nobody changes and a `Run` that nobody else has, so `Run.match` can give the
interpreter's lock away. Whoever changes something, or makes the next generation, holds the matcher's lock; a reader
takes it only when there is a new generation to be made.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from threading import RLock
from typing import Final, Literal

from lxml import etree

from pathcast.documents import Limits, ParsedTree, parse_tree
from pathcast.documents import parse as parse_document
from pathcast.errors import EvaluationError
from pathcast.matching.compiled.core.evaluator.evaluate import Conditions, Evaluation
from pathcast.matching.compiled.core.labels import Paths, Vocabulary
from pathcast.matching.compiled.core.run import Run
from pathcast.matching.compiled.core.walk import occurrences
from pathcast.matching.compiled.tiers import Entry, Extras, Generation, Key, Tiers
from pathcast.matching.draw import draw
from pathcast.matching.encode import FIRST_NAME_CODE, PlanEncoder
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Id, Matches, collect_batch
from pathcast.matching.nfa import Nfa
from pathcast.matching.paths import requirements
from pathcast.matching.plan import linear_path, plan
from pathcast.matching.residual import Check, Residuals
from pathcast.matching.snapshot import SavedPattern, Snapshot, snapshot_ints, to_saved_pattern
from pathcast.xpath import parse

__all__ = ["CompiledEngine"]

_LAST_VERSION: Final = 0xFFFFFFFF  # odd and even go on as they are after it


class CompiledEngine:
    """Automata in tiers, and runs that are lent to whoever matches."""

    name = "core"

    def __init__(
        self, id_table: IdTable, limits: Limits, residuals: Residuals, lock: RLock
    ) -> None:
        self._id_table = id_table
        self._lock = lock
        self._limits = limits
        self._residuals = residuals
        self._entries: dict[int, Entry] = {}
        self._entry_numbers: dict[Key, int] = {}
        self._next_entry = 0
        self._idle: list[Run] = []
        self._made: list[Run] = []
        self._version = 0  # of the bits that are alive: even, and another after each removal
        self._once = count(1, 2)
        self._begin()

    def _begin(self) -> None:
        self._vocabulary = Vocabulary()
        self._encoder = PlanEncoder(self._vocabulary)
        self._paths = Paths(self._vocabulary)
        self._alive = bytearray(64)
        self._tiers = Tiers(self._paths, self._extras)
        self._generation: Generation | None = None

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
        self._mark(number)
        self._tiers.add(number, linear=linear)
        self._generation = None

    def _add_pattern(
        self, xpath: str, namespaces: Mapping[str, str] | None, hop: int, allow_expensive: bool
    ) -> bool:
        """What needs the language's own parser; whether it was a path after all."""
        pattern = parse(xpath, namespaces)
        check = self._residuals.admit(pattern, xpath, allow_expensive)
        key = (pattern.text, pattern.namespaces)
        known = self._entry_numbers.get(key)
        if known is None:
            alternatives = plan(pattern.condition)
            path = None if check else linear_path(alternatives)
            if path is not None:
                self._paths.add(self._encoder.encode_path(path), hop)
                return True
            entry = Entry(key, self._encoder.encode_plan(alternatives), check)
            known = self._next_entry
            self._next_entry += 1
            self._entries[known] = entry
            self._entry_numbers[key] = known
        self._paths.add((), hop, known)
        self._entries[known].live += 1
        return False

    def _mark(self, number: int) -> None:
        """Let a number be alive; the bits move when they need more room, so that readers keep theirs."""
        if number >> 3 >= len(self._alive):
            self._alive = self._alive + bytes(len(self._alive))
        self._alive[number >> 3] |= 1 << (number & 7)

    def remove(self, number: int) -> None:
        self._alive[number >> 3] &= ~(1 << (number & 7))
        self._version = (self._version + 2) & _LAST_VERSION
        known = self._paths.entry(number)
        if known >= 0:
            entry = self._entries[known]
            entry.live -= 1
            if not entry.live:  # an automaton may still have it, so it is only forgotten by name
                del self._entry_numbers[entry.key]

    def renumber(self, kept: list[int]) -> None:
        old, words = self._paths, self._vocabulary
        self._begin()
        self._paths = old.kept(kept, self._vocabulary)
        self._tiers = Tiers(self._paths, self._extras)
        for number in range(len(kept)):
            self._mark(number)
            self._tiers.add(number, linear=self._paths.entry(number) < 0)
        self._entries = {known: entry for known, entry in self._entries.items() if entry.live}
        for entry in self._entries.values():
            entry.alternatives = self._encoder.translate(entry.alternatives, words)

    def settle(self) -> None:
        if not self._tiers.settled:
            self._tiers.settle(self._alive)
            self._generation = None
        self._current()

    def _extras(self, numbers: Sequence[int]) -> Extras:
        """What an automaton needs for some numbers that are no paths."""
        groups: dict[int, list[int]] = defaultdict(list)
        for number in numbers:
            groups[self._paths.entry(number)].append(number)
        extras = Extras()
        for known, members in groups.items():
            entry = extras.entries[known] = self._entries[known]
            extras.groups.append((known, members, entry.check is not None, entry.alternatives))
            if entry.general:
                extras.handles[known] = extras.conditions.add(entry.condition())
        return extras

    def snapshot(self) -> Snapshot:
        vocabulary = self._vocabulary
        places = {known: place for place, known in enumerate(self._entries)}
        labels, ends, hops, entries = self._paths.dump()
        known = array("i", [places.get(one, -1) for one in snapshot_ints(entries)])
        return Snapshot(
            ids=list(self._id_table.ids),  # what is written later must not change any more
            names=vocabulary.keys[FIRST_NAME_CODE:],
            values=list(vocabulary.value_tests),
            labels=labels,
            ends=ends,
            hops=hops,
            entries=known.tobytes(),
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
            self._entries[place] = self._restored(saved)
            self._entry_numbers[saved.text, saved.namespaces] = place
        self._next_entry = len(snapshot.patterns)
        entries = snapshot_ints(snapshot.entries)
        self._paths.fill(
            snapshot_ints(snapshot.labels),
            snapshot_ints(snapshot.ends),
            snapshot_ints(snapshot.hops),
            entries,
        )
        count = len(entries)
        self._alive = bytearray(b"\xff" * (count >> 3) + bytes(64 + (-count >> 3) % 8))
        for number in range(count & ~7, count):
            self._mark(number)
        for number, known in enumerate(entries):
            self._tiers.add(number, linear=known < 0)
            if known >= 0:
                self._entries[known].live += 1
        self._generation = None

    def _restored(self, saved: SavedPattern) -> Entry:
        check = None
        if saved.check is not None:  # few are, and libxml2 has to compile them anyway
            pattern = parse(saved.text, dict(saved.namespaces))
            check = self._residuals.admit(pattern, saved.text, allowed=True)
        return Entry((saved.text, saved.namespaces), list(saved.alternatives), check)

    # documents

    def match(self, body: bytes) -> Matches:
        return self._match(self._current(), body)

    def match_batch(self, bodies: Iterable[bytes]) -> Batch:
        generation = self._current()
        return collect_batch(generation.ids, bodies, partial(self._match, generation))

    def _match(self, generation: Generation, body: bytes) -> Matches:
        numbers, _, errors = self._run(generation, body, hops=False)
        return Matches(generation.ids, numbers, errors)

    def match_hops(self, body: bytes) -> Hops:
        _, hops, errors = self._run(self._current(), body, hops=True)
        return Hops(hops, errors)

    def _current(self) -> Generation:
        """The subscriptions of this moment."""
        generation = self._generation
        if generation is None:
            with self._lock:  # no writer is half way through, and no two build the same
                generation = self._generation
                if generation is None:
                    generation = self._tiers.generation(self._alive, self._id_table.ids)
                    self._generation = generation
        return generation

    def _run(
        self, generation: Generation, body: bytes, *, hops: bool
    ) -> tuple[array[int], list[int], Mapping[Id, EvaluationError]]:
        parsed = parse_tree(body, self._limits)
        try:
            run = self._idle.pop()
        except IndexError:
            run = Run()
            self._made.append(run)
        errors: Mapping[Id, EvaluationError] = {}
        try:
            run.open(
                parsed.root, not parsed.attributes_within_limit and self._crowded(parsed, body)
            )
            self._check_limits(run, body)
            alive, version = generation.alive, self._version_of(generation)
            pending = run.match(generation.automata, alive, version, hops, generation.fresh)
            if pending:
                errors = self._decide(run, generation, pending, parsed.root, body)
            found = (array("i"), run.hops()) if hops else (run.numbers(alive), [])
        except BaseException:
            run.clear()
            raise
        finally:
            run.close()
            self._idle.append(run)
        return (*found, errors)

    def _version_of(self, generation: Generation) -> int:
        """The version of a generation's bits, under which an automaton may keep the hops that it found.

        Bits that have moved no longer hear of removals, but their automata may serve later generations: what is found
        with them must be of no use to others, so that it has a version of its own.
        """
        version = self._version  # first: if the bits are still these, they were when it was read
        return version if generation.alive is self._alive else next(self._once) & _LAST_VERSION

    def _crowded(self, parsed: ParsedTree, body: bytes) -> bool:
        """Whether attributes must be counted: one element may have all that there are."""
        few = min(self._limits.attributes, self._limits.attributes_total)
        return not parsed.every_attribute_has_equals or occurrences(body, ord("=")) > few

    def _check_limits(self, run: Run, body: bytes) -> None:
        """Let the plain way say what is wrong, and where, if something is."""
        limits, walk = self._limits, run.walk
        if (
            walk.depth > limits.depth
            or walk.counted > limits.elements
            or walk.most_attributes > limits.attributes
            or walk.attributes > limits.attributes_total
        ):
            parse_document(body, limits)

    def _decide(
        self,
        run: Run,
        generation: Generation,
        pending: Sequence[tuple[int, int, int, int]],
        root: etree._Element,
        body: bytes,
    ) -> Mapping[Id, EvaluationError]:
        """What the automata left open: conditions, then residuals. Gives what could not be decided."""
        alive = generation.alive
        asked: list[tuple[int, int, Entry, Check]] = []
        conditions = _Conditions(generation, root)
        for index, place, _, settled in pending:
            known = generation.automata[index].twigs.keys[place]
            entry = generation.extras[index].entries[known]
            if not settled and not conditions.hold(index, known, entry):
                continue
            if not run.wanted(index, place, alive):
                continue
            if entry.check is None:
                run.accept(index, place, alive)
            else:
                asked.append((index, place, entry, entry.check))
        run.evaluated += conditions.asked
        run.evaluation_work += conditions.work
        return self._ask(run, generation, asked, root, body) if asked else {}

    def _ask(
        self,
        run: Run,
        generation: Generation,
        asked: Sequence[tuple[int, int, Entry, Check]],
        root: etree._Element,
        body: bytes,
    ) -> Mapping[Id, EvaluationError]:
        """What residuals say of entries whose skeletons hold; an entry is asked once, however often it is named."""
        checks = {id(entry): check for _, _, entry, check in asked}
        tree, runs = root.getroottree(), run.walk.longest_sibling_run
        answers = self._residuals.decide(list(checks.values()), tree, runs, bytes(body))
        known = dict(zip(checks, answers, strict=True))
        errors: dict[Id, EvaluationError] = {}
        for index, place, entry, _ in asked:
            answer = known[id(entry)]
            if isinstance(answer, EvaluationError):
                numbers = run.numbers_of(index, place, generation.alive)
                errors |= {generation.ids[number]: answer for number in numbers}
            elif answer:
                run.accept(index, place, generation.alive)
        return errors

    # what it looks like

    def draw(self, style: Literal["text", "dot"]) -> str:
        automaton: Nfa[int] = Nfa()
        paths = self._paths
        for number in self._id_table.numbers():
            known = paths.entry(number)
            if known < 0:
                automaton.add(self._encoder.decode(paths.labels_of(number)), number)
                continue
            for requirement in requirements(self._entries[known].condition()):
                for path in requirement.paths:
                    automaton.add(path, number)
        return draw(automaton, style, lambda _: 1)

    def stat_fields(self) -> dict[str, int | Mapping[str, int]]:
        generation = self._current()
        checks = [entry.check for entry in self._entries.values() if entry.live and entry.check]
        memos = [course.memo for run in self._made for course in run.courses()]
        linear = [number for number in self._id_table.numbers() if self._paths.entry(number) < 0]
        return {
            "patterns": self._paths.distinct(linear) + len(self._entry_numbers),
            "residuals": len(checks),
            "expensive": sum(check.expensive for check in checks),
            "automata": len(generation.automata),
            "states": 1 + sum(automaton.size - 1 for automaton in generation.automata),
            "memo": sum(len(memo) for memo in memos),
            "memo_hits": sum(memo.hits for memo in memos),
            "memo_misses": sum(memo.misses for memo in memos),
            "memo_flushes": sum(memo.flushes for memo in memos),
            "documents": sum(run.documents for run in self._made),
            "matches": sum(run.matches for run in self._made),
            "joins": sum(run.joins + run.evaluated for run in self._made),
            "join_work": sum(run.join_work + run.evaluation_work for run in self._made),
            "memory": {
                "paths": self._paths.memory,
                "automata": sum(automaton.memory for automaton in generation.automata)
                + sum(fresh.memory for fresh in generation.fresh),
                "memos": sum(memo.memory for memo in memos),
                "conditions": sum(extras.conditions.memory for extras in generation.extras),
            },
        }


class _Conditions:
    """Conditions evaluated one by one on a document, as far as somebody asks."""

    __slots__ = ("_alone", "_answers", "_evaluations", "_generation", "_root", "asked")

    def __init__(self, generation: Generation, root: etree._Element) -> None:
        self._generation = generation
        self._root = root
        self._evaluations: dict[int, Evaluation] = {}
        self._alone: list[Evaluation] = []
        self._answers: dict[int, bool] = {}
        self.asked = 0

    def hold(self, index: int, known: int, entry: Entry) -> bool:
        """Whether an entry's condition holds."""
        answer = self._answers.get(known)
        if answer is None:
            self.asked += 1
            extras = self._generation.extras[index]
            handle = extras.handles.get(known)
            if handle is None:  # a twig of a document that was too much for joins
                conditions = Conditions()
                handle = conditions.add(entry.condition())
                self._alone.append(Evaluation(conditions, self._root))
                answer = self._alone[-1].holds(handle)
            else:
                if index not in self._evaluations:
                    self._evaluations[index] = Evaluation(extras.conditions, self._root)
                answer = self._evaluations[index].holds(handle)
            self._answers[known] = answer
        return answer

    @property
    def work(self) -> int:
        return sum(one.work for one in (*self._evaluations.values(), *self._alone))
