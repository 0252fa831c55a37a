"""Example documents of a DTD difference that match a pattern, or the proof that there are none.

This is the satisfiability question of `pathcast.schema.satisfiability`. Its solver runs on the
variants of `dtd_difference`: a variant passes the name tests of its element, and is written with
its element's name. A negative answer is always right; an example is likely to match, and the caller
checks it. For a linear path, a graph search finds a shortest path first, so that the solver only
fills in the required siblings.

>>> from pathcast.covering.to_twigs import to_twigs
>>> from pathcast.covering.under_dtd.dtd_difference import dtd_difference
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd('''<!ELEMENT bib (book | note)*> <!ELEMENT book (title?)>
...     <!ELEMENT note (title)> <!ELEMENT title EMPTY>''')
>>> difference = dtd_difference(bib, to_twigs(parse("//book/title")))
>>> next(examples(parse("//title"), difference)), examples(parse("//book//title"), difference)
(b'<bib><note><title/></note></bib>', None)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.to_twigs import to_twigs
from pathcast.covering.twig import Twig
from pathcast.covering.under_dtd.dtd_difference import plain_name, test_of
from pathcast.schema import AttributeType, Element, Schema
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.schema.satisfiability.example import write_example
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.satisfiability.solve import DOCUMENT, Goal, Solver
from pathcast.xpath import Pattern, parse
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import Always, Condition, Exists, Path, Step

__all__ = ["examples"]

MAX_ID_ATTRIBUTES = 50  # attributes of type ID that an example may use
_SearchState = tuple[str, int, int]  # an element, a path, and the last node matched on it


def examples(narrow: Pattern, variants: Schema) -> Iterator[bytes] | None:
    """Return documents that are likely to match; None if no document matches.

    Raises SearchLimitExceeded, though not for linear paths.
    """
    solver = _VariantSolver(variants)
    condition: Condition | None = narrow.tree_pattern
    twigs = to_twigs(narrow)
    linear = all(_is_linear(twig) for twig in twigs)
    if linear:
        condition = _shortest_path(twigs, solver)
    if condition is None:
        return None
    goal = solver.solve(frozenset([condition]))
    # A path found in the graph is satisfiable; without one, the DTD may have no documents at all.
    assert goal is not None or not (linear and isinstance(condition, Exists))
    return None if goal is None else _write(solver, goal, condition)


def _write(solver: Solver, goal: Goal, condition: Condition) -> Iterator[bytes]:
    """Yield the document with and without namespaces, then one with an ID to refer to."""
    for namespaces in (False, True):
        body = write_example(solver, goal, namespaces=namespaces)
        if body is not None:
            yield body
    has_id = _id_condition(solver.schema)
    if has_id is not None:
        solver = _VariantSolver(solver.schema)
        with suppress(SearchLimitExceeded):
            goal_with_id = solver.solve(frozenset([condition, has_id]))
            if goal_with_id is not None:
                body = write_example(solver, goal_with_id, namespaces=False)
                if body is not None:
                    yield body


def _is_linear(twig: Twig) -> bool:
    return all(len(children) < 2 for children in twig.children) and all(
        isinstance(label, NameLabel) and label.kind is LabelKind.ELEMENT
        for label in twig.labels[1:]
    )


def _shortest_path(paths: Sequence[Twig], solver: Solver) -> Condition | None:
    """Return a shortest path of variants from the root that one of the paths selects, or None.

    Breadth-first search in the product of the DTD's graph with the paths.
    """
    waiting: list[tuple[_SearchState, tuple[str, ...]]]
    waiting = [((DOCUMENT, index, 0), ()) for index in range(len(paths))]
    seen = {state for state, _ in waiting}
    for (name, index, at), variants in waiting:  # grows meanwhile
        path = paths[index]
        if at + 1 == len(path):
            steps = (Step(Axis.CHILD, Test(TestKind.NAME, variant)) for variant in variants)
            return Exists(Path(True, tuple(steps))) if variants else Always(True)
        label = path.labels[at + 1]
        assert isinstance(label, NameLabel)
        for child in solver.children(name):
            nodes = [at + 1] if solver.names.may_match(test_of(label), child) else []
            nodes += [at] if path.descendant[at + 1] else []
            for state in ((child, index, node) for node in nodes):
                if state not in seen:
                    seen.add(state)
                    waiting.append((state, (*variants, child)))
    return None


class _VariantNames(DtdNamespaces):
    """Name tests of variants: those of their elements, and the test of their own name."""

    def may_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return test.name == name or super().may_match(test, plain_name(name), attribute=attribute)

    def must_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return super().must_match(test, plain_name(name), attribute=attribute)


class _VariantSolver(Solver):
    """A solver that writes variants with the names of their elements."""

    def __init__(self, variants: Schema) -> None:
        super().__init__(variants)
        self.names = _VariantNames(variants.elements.values())

    def element(self, name: str) -> Element:
        element = super().element(name)
        return replace(element, name=plain_name(element.name))


def _id_condition(variants: Schema) -> Condition | None:
    """Return the condition that the document has an ID; None if no attribute refers to IDs."""
    attributes = [
        (plain_name(element.name), attribute)
        for element in variants.elements.values()
        for attribute in element.attributes
        if ":" not in element.name + attribute.name
    ]
    if not any(attribute.type.name.startswith("IDREF") for _, attribute in attributes):
        return None
    paths = {
        f"//{name}/@{attribute.name}": None
        for name, attribute in attributes
        if attribute.type is AttributeType.ID
    }
    return parse(" | ".join(list(paths)[:MAX_ID_ATTRIBUTES])).condition if paths else None
