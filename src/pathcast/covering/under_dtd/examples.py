"""Example documents of a DTD difference that match a pattern, or the proof that there are none.

This is the satisfiability question of `pathcast.schema.satisfiability`. Its solver runs on the
variants of `dtd_difference`: a variant passes the name tests of its element, and is written with
its element's name. A negative answer is always right; an example is likely to match, and the caller
checks it.

>>> from pathcast.covering.to_twigs import to_twigs
>>> from pathcast.covering.under_dtd.dtd_difference import dtd_difference
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd('''<!ELEMENT bib (book | note)*> <!ELEMENT book (title?)>
...     <!ELEMENT note (title)> <!ELEMENT title EMPTY>''')
>>> difference = dtd_difference(bib, to_twigs(parse("//book/title")), WorkBudget())
>>> next(examples(parse("//title"), difference, WorkBudget()))
b'<bib><note><title/></note></bib>'
>>> examples(parse("//book//title"), difference, WorkBudget()) is None
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from pathcast.budget import WorkBudget
from pathcast.covering.under_dtd.dtd_difference import plain_name
from pathcast.schema import AttributeType, Element, Schema
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.schema.satisfiability.example import write_example
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.satisfiability.solve import Goal, Solver
from pathcast.xpath import Pattern, parse
from pathcast.xpath.syntax import Test
from pathcast.xpath.tree import Condition

__all__ = ["examples"]

MAX_ID_ATTRIBUTES = 50  # attributes of type ID that an example may use


def examples(narrow: Pattern, variants: Schema, budget: WorkBudget) -> Iterator[bytes] | None:
    """Return documents that are likely to match; None if no document matches.

    Raises SearchLimitExceeded, though not for linear paths, and BudgetExceeded.
    """
    solver = _VariantSolver(variants, budget)
    goal = solver.solve(frozenset([narrow.tree_pattern]))
    return None if goal is None else _write(solver, goal)


def _write(solver: Solver, goal: Goal) -> Iterator[bytes]:
    """Yield the document with and without namespaces, then one with an ID to refer to."""
    for namespaces in (False, True):
        body = write_example(solver, goal, namespaces=namespaces)
        if body is not None:
            yield body
    has_id = _id_condition(solver.schema)
    if has_id is not None:
        solver = _VariantSolver(solver.schema, solver.budget)
        with suppress(SearchLimitExceeded):
            goal_with_id = solver.solve(goal[1] | {has_id})
            if goal_with_id is not None:
                body = write_example(solver, goal_with_id, namespaces=False)
                if body is not None:
                    yield body


class _VariantNames(DtdNamespaces):
    """Name tests of variants: those of their elements, and the test of their own name."""

    def may_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return test.name == name or super().may_match(test, plain_name(name), attribute=attribute)

    def must_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return super().must_match(test, plain_name(name), attribute=attribute)


class _VariantSolver(Solver):
    """A solver that writes variants with the names of their elements."""

    def __init__(self, variants: Schema, budget: WorkBudget) -> None:
        super().__init__(variants, budget)
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
