"""Where a query lives when the automaton is spread over owners: workers of a pipeline, peers of a ring.

After Miliaraki et al., sections 3 to 5: a state's key is made of the labels that lead to it, and its hash says who is
responsible. A state's path is unique in the automaton, so its key needs no number that anybody hands out:

    "start" + the labels, each its edge (/ // /@ //@) and its node test        start//*/cite

The edge is the separator that the paper's keys lack (there /a/bc and /ab/c are one), and // stands for its "$".
Namespaces are written in braces, with } doubled, so that every node test reads back.

A whole query is placed by `keys`. Each alternative has one home: of the paths that it needs, cut to `length` labels, the
one that should be rarest, which is the one with the most names; then the fewest //; then the longest; then with the
most labels that tags tell; then the first by its text. One that needs no path, `not(//a)`, lives at START, and so does
everything for length 0. Where one key of a query begins another, the longer one is left out.

Invariants, for every length:
- a document that passes an alternative (or, with a residual, its skeleton) activates one of the query's keys,
  so whoever gets the documents that activate these keys misses no match and no error;
- `activated` is exact: the keys that are the path of some node; START always;
- `possible`, which knows tags only, holds all keys that any document with these label paths activates.

A query with several alternatives may live with several owners, each of which may find the same match: the
results are a set of (document, query) pairs. The owner of START gets every document.

`owner` is jump consistent hashing (Lamping and Veach): uniform, and of n + 1 owners the last takes one key in n + 1 while
nothing else moves. `place` can balance instead: heaviest key first, each to the owner with the least load
(Graham: at most 4/3 of the best). Then every new plan may move every key.

Cost: a run over the keys is one over the shared automaton, a dictionary look-up for each node or label.

>>> from pathcast.pattern import parse
>>> from pathcast.stream import parse as document
>>> queries = ["/news/item[@lang]//person", "//sport//title | //cup", "not(//draft)"]
>>> for query in queries:
...     print(*sorted(map(str, keys(parse(query), length=2))))
start/news/item
start//cup start//sport//title
start
>>> plan = place(map(parse, queries), owners=4, length=2)
>>> plan.queries
((0, 2), (), (1,), (1,))
>>> sorted(plan.owners_for(document(b"<news><item><cup/></item></news>")))
[0, 3]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heapify, heapreplace
from math import fsum, isfinite
from typing import TypeVar

from pathcast.matching.automaton import Automaton, Configuration, Edge, Label, Memo, State
from pathcast.matching.paths import Requirement, requirements
from pathcast.pattern import Pattern
from pathcast.pattern.syntax import NO_TARGET, Test, TestKind
from pathcast.stream import ELEMENT, Document

__all__ = [
    "START",
    "Directory",
    "Key",
    "Placement",
    "fragment",
    "identifier",
    "keys",
    "owner",
    "place",
]

T = TypeVar("T")

_RING = 160  # bits, as SHA-1 gives Chord
_DIGEST = 512  # bits of a digest, of which identifiers are the first
_START = "start"
_EDGES = {edge.value: edge for edge in Edge}
_BARE = {kind.value: kind for kind in TestKind if kind.value.endswith("()")}
_LABEL = re.compile(
    r"(?P<edge>//?@?)"
    r"(?:(?P<bare>(?:node|text|comment|processing-instruction)\(\))"
    r"|processing-instruction\('(?P<target>(?:[^']|'')*)'\)"
    r"|(?:\{(?P<uri>(?:[^}]|\}\})*)\})?(?P<local>\*|[^/@*(){}']+))"
)


# keys


@dataclass(frozen=True, slots=True)
class Key:
    """The path of a state, from the start state on; `str` gives its canonical text."""

    labels: tuple[Label, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Key:
        """The key with this text; raises ValueError if there is none."""
        labels = []
        at = len(_START) if text.startswith(_START) else len(text) + 1
        while at < len(text) and (hit := _LABEL.match(text, at)) is not None:
            labels.append(Label(_EDGES[hit["edge"]], _test(hit)))
            at = hit.end()
        found = cls(tuple(labels))
        if at != len(text) or str(found) != text:
            raise ValueError(f"not the text of a key: {text!r}")
        return found

    def __str__(self) -> str:
        return _START + "".join(
            [label.edge.value + _test_text(label.test) for label in self.labels]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def prefixes(self) -> Iterator[Key]:
        """The keys that begin this one, shortest first: whatever activates it activates them all."""
        for end in range(len(self.labels)):
            yield Key(self.labels[:end])


START = Key()
"""The key of the start state, which every document activates."""


def _test_text(test: Test) -> str:
    match test.kind:
        case TestKind.NAME if test.name.startswith("{"):
            uri, _, local = test.name[1:].rpartition("}")
            return f"{{{uri.replace('}', '}}')}}}{local}"
        case TestKind.NAME:
            return test.name
        case TestKind.ANY_IN:
            return f"{{{test.name.replace('}', '}}')}}}*"
        case TestKind.INSTRUCTION if test.name:
            target = "" if test.name == NO_TARGET else test.name.replace("'", "''")
            return f"processing-instruction('{target}')"
        case _:
            return str(test.kind.value)


def _test(hit: re.Match[str]) -> Test:
    """The node test of a label as `_test_text` wrote it."""
    if hit["bare"] is not None:
        return Test(_BARE[hit["bare"]])
    if hit["target"] is not None:
        return Test(TestKind.INSTRUCTION, hit["target"].replace("''", "'") or NO_TARGET)
    if hit["uri"] is None:
        return Test(TestKind.ANY) if hit["local"] == "*" else Test(TestKind.NAME, hit["local"])
    uri = hit["uri"].replace("}}", "}")
    if hit["local"] == "*":
        return Test(TestKind.ANY_IN, uri)
    return Test(TestKind.NAME, f"{{{uri}}}{hit['local']}")


def keys(pattern: Pattern, length: int = 1) -> frozenset[Key]:
    """Where a query is placed, by at most `length` labels of a path."""
    if length < 0:
        raise ValueError(f"a key has 0 labels or more, not {length}")
    found = {_home(one, length) for one in requirements(pattern.condition)}
    return frozenset(key for key in found if not any(one in found for one in key.prefixes()))


def _home(requirement: Requirement, length: int) -> Key:
    """The key of an alternative: of those that its paths begin with, the one that looks rarest."""
    found = {Key(path[:length]) for path in requirement.paths}
    return min(found, key=_rank) if found else START


def _rank(key: Key) -> tuple[int, int, int, int, str]:
    named = sum(
        bool(label.test.name) and label.test.kind is not TestKind.ANY_IN for label in key.labels
    )
    deep = sum(label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE) for label in key.labels)
    return (-named, deep, -len(key), -len(_told(key)), str(key))


def fragment(automaton: Automaton[T], key: Key, length: int) -> frozenset[Key]:
    """The states that the owner of a state stores: it, and all that `length` labels lead to from it.

    Raises KeyError if the automaton has no such state.
    """
    state = automaton.start
    for label in key.labels:
        state = state.edges[label]
    found = {key: state}
    last = found
    for _ in range(length):
        last = {
            Key((*before.labels, label)): following
            for before, state in last.items()
            for label, following in state.edges.items()
        }
        found.update(last)
    return frozenset(found)


# owners


def identifier(key: Key, bits: int = _RING) -> int:
    """The key's place on a ring of 2**bits places; a smaller ring has the first bits of a larger one's."""
    if not 0 < bits <= _DIGEST:
        raise ValueError(f"a ring has 1 to {_DIGEST} bits, not {bits}")
    digest = blake2b(str(key).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest, "big") >> (_DIGEST - bits)


def owner(key: Key, owners: int) -> int:
    """Which of so many owners, counted from 0, a key belongs to by its hash."""
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    state = identifier(key, 64)
    chosen = following = 0
    while following < owners:
        chosen = following
        state = (state * 2862933555777941757 + 1) % 2**64
        following = ((chosen + 1) << 31) // ((state >> 33) + 1)  # whole numbers: no rounding
    return chosen


# documents


class Directory:
    """The keys in use, each with the number of queries at it, and which of them a document activates.

    `limit` bounds what it remembers of earlier documents, as in `Memo`. Not for several threads at once.
    """

    def __init__(self, counts: Mapping[Key, int] | None = None, limit: int = 2_000_000) -> None:
        self._limit = limit
        self._counts: Counter[Key] = Counter()
        self._automaton: Automaton[Key] = Automaton()
        self._memo: Memo[Key] = Memo(limit)
        self._tags = _Tags(limit)
        for key, count in ({} if counts is None else counts).items():
            if count < 1:
                raise ValueError(f"{count} queries at {key}")
            self._enter(key, count)

    def __reduce__(self) -> tuple[type[Directory], tuple[dict[Key, int], int]]:
        return (Directory, (self.counts(), self._limit))  # workers build their own automata

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._counts)

    def __contains__(self, key: object) -> bool:
        return key in self._counts

    def counts(self) -> dict[Key, int]:
        """How many queries are at each key."""
        return dict(self._counts)

    def add(self, keys: Iterable[Key]) -> None:
        """Enter a query by its keys."""
        for key in keys:
            self._enter(key, 1)

    def remove(self, keys: Iterable[Key]) -> None:
        """Undo `add`; raises KeyError, and changes nothing, if there is no query at one of the keys."""
        leaving = Counter(keys)
        for key, count in leaving.items():
            if self._counts[key] < count:
                raise KeyError(key)
        for key, count in leaving.items():
            self._counts[key] -= count
            if not self._counts[key]:
                del self._counts[key]
                self._automaton.remove(key.labels, key)
                self._tags.automaton.remove(_told(key), key)

    def _enter(self, key: Key, count: int) -> None:
        if (
            key not in self._counts
        ):  # only a new key changes the automaton, and ends what was remembered
            self._automaton.add(key.labels, key)
            self._tags.automaton.add(_told(key), key)
        self._counts[key] += count

    def activated(self, document: Document) -> frozenset[Key]:
        """The keys in use that are the path of some node of the document."""
        states = self._memo.run(self._automaton, document)
        return frozenset(key for state in states for key in state.waiting)

    def possible(self, paths: Iterable[Iterable[str]]) -> frozenset[Key]:
        """The keys in use that a document with these label paths may activate.

        Paths are those of `stream.label_paths`, names as `{uri}local`; what begins a path need not be given
        again. Attributes, texts, comments and processing instructions are taken to be everywhere.
        """
        return frozenset(key for state in self._tags.run(paths) for key in state.waiting)


def _told(key: Key) -> tuple[Label, ...]:
    """The labels of a key that tags tell of: those before the first that no element is needed for."""
    last = len(key) - 1
    for index, (edge, test) in enumerate(key.labels):
        element = edge in (Edge.CHILD, Edge.DESCENDANT) and (
            test.kind in (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)
            or (test.kind is TestKind.NODE and index < last)  # whatever has something in it
        )
        if not element:
            return key.labels[:index]
    return key.labels


class _Tags:
    """The keys as far as tags tell of them, run over label paths as `Memo` runs over documents."""

    def __init__(self, limit: int) -> None:
        self.automaton: Automaton[Key] = Automaton()
        self._limit = limit
        self._weight = 0
        self._version = -1
        self._start: Configuration[Key] = Configuration((), ())

    def run(self, paths: Iterable[Iterable[str]]) -> Iterator[State[Key]]:
        """The states reached on the way, some more than once."""
        if self._version != self.automaton.version or self._weight >= self._limit:
            start = self.automaton.start
            self._version = self.automaton.version
            self._weight = 1
            self._start = Configuration((start,), (start,) if start.deep else ())
        visited = {self._start: None}
        for path in paths:
            if isinstance(path, str):  # its characters would pass for labels, and matches be missed
                raise TypeError(f"a label path is a sequence of labels, not the text {path!r}")
            here = self._start
            for label in path:
                below = here.following.get((ELEMENT, label))
                if below is None:
                    below = _below(here, label)
                    if self._weight < self._limit:  # past it, work is done again instead of kept
                        here.following[ELEMENT, label] = below
                        self._weight += 1 + len(below.here) + len(below.deep)
                visited[below] = None
                here = below
        for configuration in visited:
            yield from configuration.here


def _below(before: Configuration[Key], label: str) -> Configuration[Key]:
    """The configuration at an element with this label, below one with configuration `before`."""
    tests = [Test(TestKind.NAME, label), Test(TestKind.ANY), Test(TestKind.NODE)]
    if label.startswith("{"):
        tests.append(Test(TestKind.ANY_IN, label[1:].rpartition("}")[0]))
    here: dict[State[Key], None] = {}
    for states, edge in ((before.here, Edge.CHILD), (before.deep, Edge.DESCENDANT)):
        for wanted in [Label(edge, test) for test in tests]:
            for state in states:
                if (following := state.edges.get(wanted)) is not None:
                    here[following] = None
    deep = dict.fromkeys((*before.deep, *(state for state in here if state.deep)))
    return Configuration(tuple(here), tuple(deep))


# plans


@dataclass(frozen=True, slots=True)
class Placement:
    """Which owner has which keys, and so which queries, by their place in the order they were given in."""

    length: int
    owner_of: Mapping[Key, int]
    queries: tuple[tuple[int, ...], ...]
    """For each owner, the queries that live there."""
    loads: tuple[float, ...]
    """For each owner, what its keys weigh together."""
    directory: Directory = field(compare=False, repr=False)

    def owners_for(self, document: Document) -> frozenset[int]:
        """The owners that a document must be sent to."""
        return self._owners(self.directory.activated(document))

    def owners_for_paths(self, paths: Iterable[Iterable[str]]) -> frozenset[int]:
        """The owners that a document must be sent to of which only the label paths are known."""
        return self._owners(self.directory.possible(paths))

    def _owners(self, activated: Iterable[Key]) -> frozenset[int]:
        return frozenset([self.owner_of[key] for key in activated])


def place(
    patterns: Iterable[Pattern],
    owners: int,
    length: int = 1,
    *,
    balance: bool = False,
    weights: Mapping[Key, float] | None = None,
) -> Placement:
    """Assign whole queries to owners by their keys: by hash, or with `balance` by weight.

    A key weighs as many queries as are at it, unless there are `weights`; a key that these do not have weighs
    nothing, and such keys are spread by their queries.
    """
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    homes = [keys(pattern, length) for pattern in patterns]
    directory = Directory(Counter(key for home in homes for key in home))
    counts = directory.counts()
    weighed = {key: float(count) for key, count in counts.items()}
    if weights is not None:
        weighed = {key: float(weights.get(key, 0.0)) for key in counts}
    for key, weight in weighed.items():
        if not (isfinite(weight) and weight >= 0):
            raise ValueError(f"a key weighs 0 or more, not {weight}: {key}")
    if balance:
        owner_of = _balanced(weighed, counts, owners)
    else:
        owner_of = {key: owner(key, owners) for key in weighed}
    queries: list[dict[int, None]] = [{} for _ in range(owners)]
    for number, home in enumerate(homes):
        for key in home:
            queries[owner_of[key]][number] = None
    held: list[list[float]] = [[] for _ in range(owners)]
    for key, weight in weighed.items():
        held[owner_of[key]].append(weight)
    loads = tuple(map(fsum, held))  # the same in whatever order sets are walked
    return Placement(length, owner_of, tuple(map(tuple, queries)), loads, directory)


def _balanced(
    weights: Mapping[Key, float], counts: Mapping[Key, int], owners: int
) -> dict[Key, int]:
    """Longest processing time first: the heaviest key goes to the owner with the least load."""
    order = sorted(weights, key=lambda key: (-weights[key], -counts[key], str(key)))
    idle = [(0.0, 0, number) for number in range(owners)]
    heapify(idle)
    owner_of = {}
    for key in order:
        load, queries, number = idle[0]
        owner_of[key] = number
        heapreplace(idle, (load + weights[key], queries + counts[key], number))
    return owner_of
