"""The shared automaton: linear paths merged by their prefixes, run over a document's tree.

After YFilter (as in Miliaraki et al., sections 2.2, 4.1 and 5.1): each path is a chain of states, paths with a
common prefix share its states, and a run keeps the set of active states for every open element, so that the
end of an element takes it back to its parent's set. An edge leads to a child, to any descendant (the
ε-transition with its self-loop), to an attribute, or to an attribute of any descendant.

A run is made deterministic as it goes: the active sets after a label path are a `Configuration`, worked out once
and kept in a `Memo` that the caller owns. The memo is bounded, and is thrown away when the automaton
changes. Cost of a run: one dictionary look-up for each node, once the memo knows the document's label paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["Automaton", "Configuration", "Edge", "Label", "Memo", "State"]

T = TypeVar("T")


class Edge(Enum):
    """Where a transition leads from the node that its state stands for."""

    __hash__ = object.__hash__  # members are single: by identity, and quicker than by name

    CHILD = "/"
    DESCENDANT = "//"
    ATTRIBUTE = "/@"
    DEEP_ATTRIBUTE = "//@"


class Label(NamedTuple):
    """The label of a transition."""

    edge: Edge
    test: Test


class State(Generic[T]):
    """A node of the prefix tree. `waiting` are the things told when a document reaches it."""

    __slots__ = ("deep", "edges", "label", "number", "parent", "waiting")

    def __init__(self, number: int, parent: State[T] | None, label: Label | None) -> None:
        self.number = number
        self.parent = parent
        self.label = label
        self.edges: dict[Label, State[T]] = {}
        self.waiting: dict[T, None] = {}
        self.deep = 0  # how many of its edges lead to any depth

    def path(self) -> tuple[Label, ...]:
        """The labels from the start state to here."""
        labels: list[Label] = []
        state: State[T] | None = self
        while state is not None and state.label is not None:
            labels.append(state.label)
            state = state.parent
        return tuple(reversed(labels))


class Automaton(Generic[T]):
    """Linear paths with what waits at their ends. `version` counts the changes."""

    def __init__(self) -> None:
        self._numbers = 0
        self.start: State[T] = State(0, None, None)
        self.size = 1
        self.version = 0

    def add(self, path: Iterable[Label], waiting: T) -> None:
        """Let `waiting` be told of documents that have this path."""
        state = self.start
        for label in path:
            following = state.edges.get(label)
            if following is None:
                self._numbers += 1
                following = State(self._numbers, state, label)
                state.edges[label] = following
                state.deep += label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
                self.size += 1
            state = following
        state.waiting[waiting] = None
        self.version += 1

    def remove(self, path: Iterable[Label], waiting: T) -> None:
        """Undo `add`: states that lead nowhere any more go too."""
        state = self.start
        for label in path:
            state = state.edges[label]
        del state.waiting[waiting]
        while state.parent is not None and not state.waiting and not state.edges:
            parent, last = state.parent, state.label
            assert last is not None
            del parent.edges[last]
            parent.deep -= last.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
            self.size -= 1
            state = parent
        self.version += 1

    def states(self) -> Iterator[State[T]]:
        """All states, each before those that follow it."""
        waiting = [self.start]
        while waiting:
            state = waiting.pop()
            yield state
            waiting += reversed(state.edges.values())


class Configuration(Generic[T]):
    """The active states at a node: `here` stand for the node, `deep` go on waiting at any depth."""

    __slots__ = ("deep", "following", "here")

    def __init__(self, here: tuple[State[T], ...], deep: tuple[State[T], ...]) -> None:
        self.here = here
        self.deep = deep
        self.following: dict[tuple[int, str], Configuration[T]] = {}


class Memo(Generic[T]):
    """What runs have worked out, for one version of an automaton.

    `size` counts the configurations, `weight` also the states in them, which `limit` bounds.
    """

    def __init__(self, limit: int = 2_000_000) -> None:
        self.limit = limit
        self.size = 0
        self.weight = 0
        self.hits = 0
        self.misses = 0
        self.flushes = 0
        self._version = -1
        self._start: Configuration[T] = Configuration((), ())

    def run(self, automaton: Automaton[T], document: Document) -> list[State[T]]:
        """The states with something waiting that the document reaches, each once."""
        if self._version != automaton.version or self.weight >= self.limit:
            self._forget(automaton)
        kinds, labels, parents = document.kind, document.label, document.parent
        at = [self._start] * len(kinds)
        visited = {self._start: None}
        misses = 0
        for node in range(1, len(kinds)):
            before = at[parents[node]]
            key = (kinds[node], labels[node])
            configuration = before.following.get(key)
            if configuration is None:
                misses += 1
                configuration = _advance(before, *key)
                if self.weight < self.limit:  # past it, work is done again instead of kept
                    before.following[key] = configuration
                    self.size += 1
                    self.weight += 1 + len(configuration.here)
                    if configuration.deep is not before.deep:
                        self.weight += len(configuration.deep)
            at[node] = configuration
            visited[configuration] = None
        self.misses += misses
        self.hits += len(kinds) - 1 - misses
        reached: dict[State[T], None] = {}
        for configuration in visited:
            for state in configuration.here:
                if state.waiting:
                    reached[state] = None
        return list(reached)

    def _forget(self, automaton: Automaton[T]) -> None:
        self.flushes += self._version >= 0
        self._version = automaton.version
        self.size = self.weight = 1
        start = automaton.start
        self._start = Configuration((start,), (start,) if start.deep else ())


def _advance(before: Configuration[T], kind: int, label: str) -> Configuration[T]:
    """The configuration at a node below one with configuration `before`."""
    near, far = Edge.CHILD, Edge.DESCENDANT
    if kind == ATTRIBUTE:
        near, far = Edge.ATTRIBUTE, Edge.DEEP_ATTRIBUTE
    tests = _tests(kind, label)
    found: dict[State[T], None] = {}
    for states, edge in ((before.here, near), (before.deep, far)):
        wanted = [Label(edge, test) for test in tests]
        for state in states:
            for one in wanted:
                following = state.edges.get(one)
                if following is not None:
                    found[following] = None
    here = tuple(found)
    deep = dict.fromkeys(before.deep)
    deep.update(dict.fromkeys(state for state in here if state.deep))
    return Configuration(here, tuple(deep) if len(deep) > len(before.deep) else before.deep)


def _tests(kind: int, label: str) -> list[Test]:
    """The node tests that a node passes."""
    if kind in (ELEMENT, ATTRIBUTE):
        tests = [Test(TestKind.NAME, label), Test(TestKind.ANY), Test(TestKind.NODE)]
        if label.startswith("{"):
            tests.append(Test(TestKind.ANY_IN, label[1:].rpartition("}")[0]))
        return tests
    if kind == PI:
        named = Test(TestKind.INSTRUCTION, label)
        return [named, Test(TestKind.INSTRUCTION), Test(TestKind.NODE)]
    return [Test({TEXT: TestKind.TEXT, COMMENT: TestKind.COMMENT}[kind]), Test(TestKind.NODE)]
