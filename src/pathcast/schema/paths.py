"""Root paths of a schema: enumeration, counts, and the automaton that accepts them.

A root path is the sequence of element names from the root of a valid document to one of its
elements. With recursion there are infinitely many. They form a regular language, whose automaton
has one state per element. A path may *end* at an element that may have no child elements: such
paths lead to a document's leaves.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd(
...     "<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>"
...     "<!ELEMENT title (#PCDATA)>"
... )
>>> ["/".join(path) for path in root_paths(book, 3)]
['book', 'book/title', 'book/section', 'book/section/title', 'book/section/section']
>>> count_paths(book, 5)
[1, 2, 2, 2, 2]
>>> machine = PathAutomaton.of(book)
>>> machine.accepts(["book", "section", "section", "title"]), machine.accepts(["book", "section"])
(True, False)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pathcast.schema.schema import Schema

__all__ = ["START", "PathAutomaton", "count_paths", "root_paths"]

START = ""  # initial state; every other state is the name of the element just read


@dataclass(frozen=True, slots=True)
class PathAutomaton:
    """DFA of root paths: reading a name leads to the state of that name, or rejects."""

    transitions: Mapping[str, tuple[str, ...]]
    ends: frozenset[str]  # accepting states: elements that may be leaves

    @classmethod
    def of(cls, schema: Schema) -> PathAutomaton:
        graph = schema.graph
        below = {name: graph.children[name] for name in graph.depth}
        starts = tuple(root for root in schema.roots if root in graph.size)
        ends = (name for name in below if schema.graph.size[name] == 1)
        return cls({START: starts, **below}, frozenset(ends))

    def accepts_prefix(self, path: Sequence[str]) -> bool:
        """Return whether an element of some valid document has this root path."""
        state = START
        for name in path:
            if name not in self.transitions[state]:
                return False
            state = name
        return True

    def accepts(self, path: Sequence[str]) -> bool:
        """Return whether a leaf element of some valid document has this root path."""
        return bool(path) and self.accepts_prefix(path) and path[-1] in self.ends


def root_paths(schema: Schema, depth: int) -> Iterator[tuple[str, ...]]:
    """Yield all root paths of at most `depth` elements, shorter ones first, in DTD order.

    Each length is enumerated from the start, which at worst doubles the time and needs no memory.
    """
    machine = PathAutomaton.of(schema)
    for length in range(1, depth + 1):
        any_of_length = False
        for path in _of_length(machine, length):
            any_of_length = True
            yield path
        if not any_of_length:
            return


def _of_length(machine: PathAutomaton, length: int) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    open_names = [iter(machine.transitions[START])]
    while open_names:
        name = next(open_names[-1], None)
        if name is None:
            open_names.pop()
            if path:
                path.pop()
        elif len(open_names) == length:
            yield (*path, name)
        else:
            path.append(name)
            open_names.append(iter(machine.transitions[name]))


def count_paths(schema: Schema, depth: int) -> list[int]:
    """Return the number of root paths of 1, 2, ... elements, without enumerating them."""
    machine = PathAutomaton.of(schema)
    counts = []
    level: Counter[str] = Counter({START: 1})
    for _ in range(depth):
        below: Counter[str] = Counter()
        for state, count in level.items():
            for name in machine.transitions[state]:
                below[name] += count
        if not below:
            break
        counts.append(below.total())
        level = below
    return counts
