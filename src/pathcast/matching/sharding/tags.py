"""Keys run over label paths, of documents of which only the tags are known.

Of a key only those labels are entered that tags tell of (`key.told`), so more keys may be found than a document
activates, never fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pathcast.documents import ELEMENT
from pathcast.matching.nfa import DfaState, Edge, Label, Nfa, NfaState
from pathcast.matching.sharding.key import Key
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["Tags"]


class Tags:
    """The keys as far as tags tell of them, run over label paths as `DfaMemo` runs over documents."""

    def __init__(self, limit: int) -> None:
        self.automaton: Nfa[Key] = Nfa()
        self._limit = limit
        self._weight = 0
        self._version = -1
        self._start: DfaState[Key] = DfaState((), ())

    def run(self, paths: Iterable[Iterable[str]]) -> Iterator[NfaState[Key]]:
        """The states reached on the way, some more than once."""
        if self._version != self.automaton.version or self._weight >= self._limit:
            start = self.automaton.start
            self._version = self.automaton.version
            self._weight = 1
            self._start = DfaState((start,), (start,) if start.descendant_edges else ())
        visited = {self._start: None}
        for path in paths:
            if isinstance(path, str):  # its characters would pass for labels, and matches be missed
                raise TypeError(f"a label path is a sequence of labels, not the text {path!r}")
            here = self._start
            for label in path:
                below = here.transitions.get((ELEMENT, label))
                if below is None:
                    below = _below(here, label)
                    if self._weight < self._limit:  # past it, work is done again instead of kept
                        here.transitions[ELEMENT, label] = below
                        self._weight += 1 + len(below.states) + len(below.looping)
                visited[below] = None
                here = below
        for dfa_state in visited:
            yield from dfa_state.states


def _below(before: DfaState[Key], label: str) -> DfaState[Key]:
    """The state at an element with this label, below one with state `before`."""
    tests = [Test(TestKind.NAME, label), Test(TestKind.ANY), Test(TestKind.NODE)]
    if label.startswith("{"):
        tests.append(Test(TestKind.ANY_IN, label[1:].rpartition("}")[0]))
    here: dict[NfaState[Key], None] = {}
    for states, edge in ((before.states, Edge.CHILD), (before.looping, Edge.DESCENDANT)):
        for wanted in [Label(edge, test) for test in tests]:
            for state in states:
                if (following := state.edges.get(wanted)) is not None:
                    here[following] = None
    deep = dict.fromkeys((*before.looping, *(state for state in here if state.descendant_edges)))
    return DfaState(tuple(here), tuple(deep))
