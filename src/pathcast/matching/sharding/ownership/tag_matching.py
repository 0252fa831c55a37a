"""Matching of keys against label paths, for documents of which only the element names are known.

Only the element prefix of a key is indexed (`state_key.element_prefix`). The result is therefore a
superset of the keys that a document activates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pathcast.documents import ELEMENT
from pathcast.matching.nfa import DfaState, Edge, Label, Nfa, PrefixState
from pathcast.matching.sharding.state_key import StateKey
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["TagMatcher"]


class TagMatcher:
    """The NFA of element prefixes, run over label paths as `DfaMemo` runs over documents."""

    def __init__(self, limit: int) -> None:
        self.nfa: Nfa[StateKey] = Nfa()
        self._limit = limit
        self._weight = 0
        self._version = -1
        self._start: DfaState[StateKey] = DfaState((), ())

    def run(self, paths: Iterable[Iterable[str]]) -> Iterator[PrefixState[StateKey]]:
        """Yield the states that the paths reach, possibly with repetitions."""
        if self._version != self.nfa.version or self._weight >= self._limit:
            start = self.nfa.start
            self._version = self.nfa.version
            self._weight = 1
            self._start = DfaState((start,), (start,) if start.descendant_edges else ())
        visited = {self._start: None}
        for path in paths:
            if isinstance(path, str):  # its characters would pass as labels, and matches be missed
                raise TypeError(f"a label path is a sequence of labels, not the text {path!r}")
            state = self._start
            for label in path:
                target = state.transitions.get((ELEMENT, label))
                if target is None:
                    target = _step(state, label)
                    if self._weight < self._limit:  # a full memo is bypassed
                        state.transitions[ELEMENT, label] = target
                        self._weight += 1 + len(target.states) + len(target.looping)
                visited[target] = None
                state = target
        for state in visited:
            yield from state.states


def _step(above: DfaState[StateKey], label: str) -> DfaState[StateKey]:
    """Return the DFA state of an element with this label, below an element in state `above`."""
    tests = [Test(TestKind.NAME, label), Test(TestKind.ANY), Test(TestKind.NODE)]
    if label.startswith("{"):
        tests.append(Test(TestKind.ANY_IN, label[1:].rpartition("}")[0]))
    targets: dict[PrefixState[StateKey], None] = {}
    for sources, edge in ((above.states, Edge.CHILD), (above.looping, Edge.DESCENDANT)):
        for edge_label in [Label(edge, test) for test in tests]:
            for source in sources:
                if (target := source.edges.get(edge_label)) is not None:
                    targets[target] = None
    looping = dict.fromkeys(
        (*above.looping, *(state for state in targets if state.descendant_edges))
    )
    return DfaState(tuple(targets), tuple(looping))
