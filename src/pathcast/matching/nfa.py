"""The shared NFA of all linear paths, and the lazy DFA that runs it over a document's tree.

The construction is YFilter's (as in Miliaraki 2008, sections 2.2, 4.1 and 5.1). Each path is a
chain of states, and paths with a common prefix share its states. An edge leads to a child, to any
descendant (an epsilon-transition with a self-loop), to an attribute, or to an attribute of any
descendant. Since the input is a tree, a run holds one state set per open element instead of one in
total; the end of an element returns to the state set of its parent.

The NFA is immutable during a run. `DfaMemo` determinises it on demand: the state set of a label
path becomes a `DfaState` when a document first contains that path. The caller owns the memo, the
memo is bounded, and a change of the NFA invalidates it. Cost of a run: one dictionary look-up per
node, once the memo holds the document's label paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["DfaMemo", "DfaState", "Edge", "Label", "Nfa", "PrefixState"]

T = TypeVar("T")


class Edge(Enum):
    """The direction of a transition, seen from the document node that its source stands for."""

    __hash__ = object.__hash__  # members are singletons: hashing by identity is faster than by name

    CHILD = "/"
    DESCENDANT = "//"
    ATTRIBUTE = "/@"
    DEEP_ATTRIBUTE = "//@"


class Label(NamedTuple):
    """The label of a transition: an edge and a node test."""

    edge: Edge
    test: Test


class PrefixState(Generic[T]):
    """A state of the NFA, which stands for a prefix of paths: states form their prefix tree.

    `outputs` are the values that a run reports when a document reaches the state.
    """

    __slots__ = ("descendant_edges", "edges", "label", "number", "outputs", "parent")

    def __init__(self, number: int, parent: PrefixState[T] | None, label: Label | None) -> None:
        self.number = number
        self.parent = parent
        self.label = label
        self.edges: dict[Label, PrefixState[T]] = {}
        self.outputs: dict[T, None] = {}
        self.descendant_edges = (
            0  # edges to any depth; if there are some, the state has a self-loop
        )

    def path(self) -> tuple[Label, ...]:
        """Return the labels from the start state to this one."""
        labels: list[Label] = []
        state: PrefixState[T] | None = self
        while state is not None and state.label is not None:
            labels.append(state.label)
            state = state.parent
        return tuple(reversed(labels))


class Nfa(Generic[T]):
    """The NFA of a set of linear paths, each with outputs. `version` counts the changes."""

    def __init__(self) -> None:
        self._last_number = 0
        self.start: PrefixState[T] = PrefixState(0, None, None)
        self.size = 1
        self.version = 0

    def add(self, path: Iterable[Label], output: T) -> None:
        """Add a path; runs report `output` for every document that contains it."""
        state = self.start
        for label in path:
            target = state.edges.get(label)
            if target is None:
                self._last_number += 1
                target = PrefixState(self._last_number, state, label)
                state.edges[label] = target
                state.descendant_edges += label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
                self.size += 1
            state = target
        state.outputs[output] = None
        self.version += 1

    def remove(self, path: Iterable[Label], output: T) -> None:
        """Undo `add`, and delete the states that no other path uses."""
        state = self.start
        for label in path:
            state = state.edges[label]
        del state.outputs[output]
        while state.parent is not None and not state.outputs and not state.edges:
            parent, last = state.parent, state.label
            assert last is not None
            del parent.edges[last]
            parent.descendant_edges -= last.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
            self.size -= 1
            state = parent
        self.version += 1

    def states(self) -> Iterator[PrefixState[T]]:
        """Yield all states in depth-first preorder."""
        stack = [self.start]
        while stack:
            state = stack.pop()
            yield state
            stack += reversed(state.edges.values())


class DfaState(Generic[T]):
    """A state of the lazy DFA: the NFA states that are active at a node.

    `states` were reached at the node itself. `looping` have a self-loop: they stay active in the
    node's whole subtree. `transitions` are those computed so far, by node kind and label.
    """

    __slots__ = ("looping", "states", "transitions")

    def __init__(
        self, states: tuple[PrefixState[T], ...], looping: tuple[PrefixState[T], ...]
    ) -> None:
        self.states = states
        self.looping = looping
        self.transitions: dict[tuple[int, str], DfaState[T]] = {}


class DfaMemo(Generic[T]):
    """The memo of the lazy DFA, for one version of an NFA.

    `size` counts the DFA states. `weight` also counts the NFA states in them; `limit` bounds it.
    A run that reaches the limit bypasses the memo, and the next run starts with an empty one.
    """

    def __init__(self, limit: int = 2_000_000) -> None:
        self.limit = limit
        self.size = 0
        self.weight = 0
        self.hits = 0
        self.misses = 0
        self.flushes = 0
        self._version = -1
        self._start: DfaState[T] = DfaState((), ())

    def run(self, nfa: Nfa[T], document: Document) -> list[PrefixState[T]]:
        """Return the states with outputs that the document reaches, each once."""
        if self._version != nfa.version or self.weight >= self.limit:
            self._flush(nfa)
        kinds, labels, parents = document.kind, document.label, document.parent
        state_at = [self._start] * len(kinds)
        visited = {self._start: None}
        misses = 0
        for node in range(1, len(kinds)):
            above = state_at[parents[node]]
            key = (kinds[node], labels[node])
            state = above.transitions.get(key)
            if state is None:
                misses += 1
                state = _step(above, *key)
                if self.weight < self.limit:
                    above.transitions[key] = state
                    self.size += 1
                    self.weight += 1 + len(state.states)
                    if state.looping is not above.looping:
                        self.weight += len(state.looping)
            state_at[node] = state
            visited[state] = None
        self.misses += misses
        self.hits += len(kinds) - 1 - misses
        reached: dict[PrefixState[T], None] = {}
        for state in visited:
            for nfa_state in state.states:
                if nfa_state.outputs:
                    reached[nfa_state] = None
        return list(reached)

    def _flush(self, nfa: Nfa[T]) -> None:
        self.flushes += self._version >= 0
        self._version = nfa.version
        self.size = self.weight = 1
        start = nfa.start
        self._start = DfaState((start,), (start,) if start.descendant_edges else ())


def _step(above: DfaState[T], kind: int, label: str) -> DfaState[T]:
    """Return the DFA state of a node with this kind and label, below a node in state `above`."""
    direct, descendant = Edge.CHILD, Edge.DESCENDANT
    if kind == ATTRIBUTE:
        direct, descendant = Edge.ATTRIBUTE, Edge.DEEP_ATTRIBUTE
    tests = _passed_tests(kind, label)
    targets: dict[PrefixState[T], None] = {}
    for sources, edge in ((above.states, direct), (above.looping, descendant)):
        edge_labels = [Label(edge, test) for test in tests]
        for source in sources:
            for edge_label in edge_labels:
                target = source.edges.get(edge_label)
                if target is not None:
                    targets[target] = None
    states = tuple(targets)
    looping = dict.fromkeys(above.looping)
    looping.update(dict.fromkeys(state for state in states if state.descendant_edges))
    return DfaState(states, tuple(looping) if len(looping) > len(above.looping) else above.looping)


def _passed_tests(kind: int, label: str) -> list[Test]:
    """Return the node tests that a node with this kind and label passes."""
    if kind in (ELEMENT, ATTRIBUTE):
        tests = [Test(TestKind.NAME, label), Test(TestKind.ANY), Test(TestKind.NODE)]
        if label.startswith("{"):
            tests.append(Test(TestKind.ANY_IN, label[1:].rpartition("}")[0]))
        return tests
    if kind == PI:
        named = Test(TestKind.INSTRUCTION, label)
        return [named, Test(TestKind.INSTRUCTION), Test(TestKind.NODE)]
    return [Test({TEXT: TestKind.TEXT, COMMENT: TestKind.COMMENT}[kind]), Test(TestKind.NODE)]
