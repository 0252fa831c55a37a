"""Random walks and trees over the element graph, from which subscriptions are derived.

A *walk* starts at a root and moves to a child at every level, along productive edges only. So every
prefix of it is a root path of some valid document. A *tree* is a walk with further walks that start
at its elements. The siblings of a tree can occur together in one valid document: each is a distinct
child, and the content model has a word with all of them (`fits`). So a query derived from a tree by
weakening is satisfiable.

The next element is drawn by Zipf's law among the children, ranked by their first occurrence in the
content model: rank n has weight 1 / n ** theta. Theta 0 is uniform. Roots are ranked in the order
of the schema. A walk with a minimal number of levels skips children with too few levels below them.

>>> from pathcast.schema import parse_dtd
>>> from pathcast.rng import SeededRandom
>>> book = parse_dtd(
...     "<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>"
...     "<!ELEMENT title (#PCDATA)>"
... )
>>> walks = SchemaWalks(book)
>>> walks.draw_path(SeededRandom(2), walks.choices_by_level(4, 4))
['book', 'section', 'section', 'title']
>>> walks.fits("book", {"title": 1, "section": 2}), walks.fits("book", {"title": 2})
(True, False)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from pathcast.errors import WorkloadError
from pathcast.rng import SeededRandom
from pathcast.schema import ContentKind, Schema, cheapest_word

__all__ = ["START", "ChildChoices", "InstanceNode", "SchemaWalks", "WalkState"]

START = ""  # the document node, whose children are the roots
_MAX_BRANCH_DRAWS = 4  # draws of a sibling that fits beside the others
_MIN_SECTORS = 8
_MAX_CACHED_FITS = 100_000  # results of `fits`


@dataclass(slots=True, eq=False)
class InstanceNode:
    """One element of a tree; `required` is the least number of children of each name."""

    name: str
    parent: InstanceNode | None
    level: int  # the root is at 1
    children: list[InstanceNode] = field(default_factory=list)
    required: dict[str, int] = field(default_factory=dict)

    def add(self, name: str) -> InstanceNode:
        child = InstanceNode(name, self, self.level + 1)
        self.children.append(child)
        self.required[name] = self.required.get(name, 0) + 1
        return child


ChildChoices = dict[str, tuple[tuple[str, ...], list[float]]]
"""Element -> possible children, and the cumulative shares to draw from them by bisect."""


class WalkState:
    """An element at a level of a walk, with its successors; `shares` is None if uniform."""

    __slots__ = ("children", "name", "shares")

    def __init__(self, name: str) -> None:
        self.name = name
        self.children: list[WalkState] = []
        self.shares: list[float] | None = None


class SchemaWalks:
    """The walks of one schema, for one theta."""

    __slots__ = ("_fits", "_theta", "choices", "schema")

    def __init__(self, schema: Schema, theta: float = 0.0) -> None:
        graph = schema.graph
        roots = tuple(root for root in schema.roots if root in graph.size)
        if not roots:
            raise WorkloadError(
                "schema",
                f"no valid document exists under {schema.name}: none of its roots can be finished",
                hint="every root needs itself, or an element that is not declared",
            )
        self.schema = schema
        self._theta = theta
        self._fits: dict[tuple[str, tuple[tuple[str, int], ...]], bool] = {}
        below = {START: roots, **{name: graph.children[name] for name in graph.depth}}
        self.choices: ChildChoices = {
            name: (names, _shares(range(1, len(names) + 1), theta)) for name, names in below.items()
        }

    def choices_by_level(self, min_levels: int, max_levels: int) -> list[ChildChoices]:
        """Return the choices at each of `max_levels`, for walks of at least `min_levels`."""
        rows = []
        reach = dict.fromkeys(self.choices, 0)  # levels below each element, up to `min_levels`
        deep: list[set[str]] = [set(self.choices)]  # elements with 0, 1, 2, ... levels below
        for level in range(1, min_levels + 1):
            above = {n for n, (names, _) in self.choices.items() if not deep[-1].isdisjoint(names)}
            deep.append(above)
            reach.update(dict.fromkeys(above, level))
        if START not in deep[min_levels]:
            raise WorkloadError(
                "depth",
                f"no path of {self.schema.name} has {min_levels} steps: "
                f"the longest has {reach[START]}",
                hint="ask for a lower least depth",
            )
        for level in range(min_levels - 1):
            enough = deep[min_levels - 1 - level]
            rows.append({name: self._restrict(name, enough) for name in self.choices})
        return rows + [self.choices] * (max_levels - len(rows))

    def _restrict(self, name: str, enough: set[str]) -> tuple[tuple[str, ...], list[float]]:
        """Return the choices among `enough`, with the weights of their ranks."""
        ranked = [(rank, n) for rank, n in enumerate(self.choices[name][0], 1) if n in enough]
        return tuple(n for _, n in ranked), _shares([rank for rank, _ in ranked], self._theta)

    def to_states(self, rows: Sequence[ChildChoices]) -> WalkState:
        """Return the choices as linked states, from the document node on."""
        after: dict[str, WalkState] = {}
        done: ChildChoices | None = None
        for row in reversed(rows):
            if row is done:  # same choices at all further levels
                continue
            states = {name: WalkState(name) for name in row}
            for name, (names, shares) in row.items():
                states[name].children = [(after or states)[child] for child in names]
                states[name].shares = shares if self._theta else None
            after, done = states, row
        return after[START]

    def sectors(self, start: WalkState, levels: int) -> list[tuple[tuple[WalkState, ...], float]]:
        """Return the shortest prefixes of walks that number `_MIN_SECTORS`, with probabilities."""
        starts: list[tuple[tuple[WalkState, ...], float]] = [((), 1.0)]
        for level in range(levels):
            longer: list[tuple[tuple[WalkState, ...], float]] = []
            for prefix, share in starts:
                state = prefix[-1] if prefix else start
                if len(prefix) < level or not state.children:  # the walk has ended
                    longer.append((prefix, share))
                    continue
                ends = state.shares or [
                    n / len(state.children) for n in range(1, len(state.children))
                ]
                for child, low, high in zip(
                    state.children, [0.0, *ends], [*ends, 1.0], strict=True
                ):
                    longer.append(((*prefix, child), share * (high - low)))
            starts = longer
            if len(starts) >= _MIN_SECTORS:
                break
        return starts

    def draw_path(
        self, rng: SeededRandom, choices_by_level: Sequence[ChildChoices], start: str = START
    ) -> list[str]:
        """Draw a walk below `start`, one level per choice; it may end in a leaf earlier."""
        random = rng.random
        names_on_path = []
        name = start
        for choices in choices_by_level:
            names, shares = choices[name]
            if not names:
                break
            name = names[bisect_right(shares, random())]
            names_on_path.append(name)
        return names_on_path

    def tree(self, path: list[str]) -> InstanceNode:
        """Return the document node of a tree that consists of this walk."""
        top = node = InstanceNode(START, None, 0)
        for name in path:
            node = node.add(name)
        return top

    def draw_branch(
        self, rng: SeededRandom, node: InstanceNode, levels: int
    ) -> InstanceNode | None:
        """Draw a further walk below a node; return its first element, or None if none fits."""
        for _ in range(_MAX_BRANCH_DRAWS):
            path = self.draw_path(rng, [self.choices] * levels, node.name)
            if path and self.fits(
                node.name, {**node.required, path[0]: node.required.get(path[0], 0) + 1}
            ):
                first = tip = node.add(path[0])
                for name in path[1:]:
                    tip = tip.add(name)
                return first
        return None

    def fits(self, name: str, required: Mapping[str, int]) -> bool:
        """Return whether an element may have at least these children together."""
        if name == START:
            return sum(required.values()) <= 1
        element = self.schema.elements[name]
        if element.kind is not ContentKind.CHILDREN:  # mixed content and ANY allow any number
            return all(child in self.choices[name][0] for child in required)
        key = (name, tuple(sorted(required.items())))
        fits = self._fits.get(key)
        if fits is None:
            if len(self._fits) >= _MAX_CACHED_FITS:
                self._fits.clear()
            fits = cheapest_word(element.content, required, self.schema.graph.size.get) is not None
            self._fits[key] = fits
        return fits


def _shares(ranks: Sequence[int], theta: float) -> list[float]:
    """Return the cumulative shares of these ranks, without the last."""
    # Rounded, because the power function of C libraries may differ in the last bit.
    sums = list(accumulate(round(1.0 / rank**theta, 12) for rank in ranks))
    return [partial / sums[-1] for partial in sums[:-1]]
