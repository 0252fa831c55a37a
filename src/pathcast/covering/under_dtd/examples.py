"""Documents of a DTD's variants (see `dtd_difference`) that match the narrow pattern, or the certainty that there are none.

The question is the one of `pathcast.schema.satisfiability`, and so is the work: its solver is asked about the variants, which pass
the tests of their elements and are written with the names of their elements. Its no is never wrong; what it writes is likely to
match, and is for others to check. For a path the way down is looked for first, which is a search in a graph, and the solver then only has to
fill in what must stand beside it.

>>> from pathcast.covering.to_twigs import twigs
>>> from pathcast.covering.under_dtd.dtd_difference import dtd_difference
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd("<!ELEMENT bib (book | note)*> <!ELEMENT book (title?)> <!ELEMENT note (title)> <!ELEMENT title EMPTY>")
>>> rest = dtd_difference(bib, twigs(parse("//book/title")))
>>> next(examples(parse("//title"), rest)), examples(parse("//book//title"), rest)
(b'<bib><note><title/></note></bib>', None)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.to_twigs import twigs
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

_IDS = 50  # elements that an ID is looked for in
_Place = tuple[str, int, int]  # an element, a path, and its node that was found last


def examples(narrow: Pattern, variants: Schema) -> Iterator[bytes] | None:
    """Documents that may match; None if no document does. Raises SearchLimitExceeded, though not for paths."""
    solver = _Solver(variants)
    asked: Condition | None = narrow.condition
    chains = twigs(narrow)
    linear = all(_linear(one) for one in chains)
    if linear:
        asked = _shortest(chains, solver)
    if asked is None:
        return None
    goal = solver.solve(frozenset([asked]))
    way = linear and isinstance(
        asked, Exists
    )  # without one, any document will do, and there may be none
    assert goal is not None or not way, "a way in the graph is one of valid documents"
    return None if goal is None else _written(solver, goal, asked)


def _written(solver: Solver, goal: Goal, asked: Condition) -> Iterator[bytes]:
    """The document, with and without namespaces; then one that has an ID for others to refer to."""
    for spelled in (False, True):
        body = write_example(solver, goal, namespaces=spelled)
        if body is not None:
            yield body
    identified = _some_id(solver.schema)
    if identified is not None:
        solver = _Solver(solver.schema)
        with suppress(SearchLimitExceeded):
            again = solver.solve(frozenset([asked, identified]))
            body = None if again is None else write_example(solver, again, namespaces=False)
            if body is not None:
                yield body


def _linear(twig: Twig) -> bool:
    return all(len(children) < 2 for children in twig.children) and all(
        isinstance(label, NameLabel) and label.kind is LabelKind.ELEMENT
        for label in twig.labels[1:]
    )


def _shortest(chains: Sequence[Twig], solver: Solver) -> Condition | None:
    """A shortest way from the root that one of the paths may mean, variant by variant; None if there is none."""
    waiting: list[tuple[_Place, tuple[str, ...]]]
    waiting = [((DOCUMENT, index, 0), ()) for index in range(len(chains))]
    seen = {place for place, _ in waiting}
    for (name, index, at), way in waiting:  # grows meanwhile
        chain = chains[index]
        if at + 1 == len(chain):
            steps = (Step(Axis.CHILD, Test(TestKind.NAME, variant)) for variant in way)
            return Exists(Path(True, tuple(steps))) if way else Always(True)
        label = chain.labels[at + 1]
        assert isinstance(label, NameLabel)
        for child in solver.children(name):
            nodes = [at + 1] if solver.names.may_match(test_of(label), child) else []
            nodes += [at] if chain.descendant[at + 1] else []
            for place in ((child, index, node) for node in nodes):
                if place not in seen:
                    seen.add(place)
                    waiting.append((place, (*way, child)))
    return None


class _Names(DtdNamespaces):
    """Variants pass the tests that their elements pass, and the test of their own name."""

    def may_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return test.name == name or super().may_match(test, plain_name(name), attribute=attribute)

    def must_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        return super().must_match(test, plain_name(name), attribute=attribute)


class _Solver(Solver):
    """Variants are written as what they are variants of."""

    def __init__(self, variants: Schema) -> None:
        super().__init__(variants)
        self.names = _Names(variants.elements.values())

    def element(self, name: str) -> Element:
        element = super().element(name)
        return replace(element, name=plain_name(element.name))


def _some_id(variants: Schema) -> Condition | None:
    """That an ID stands somewhere in the document; None if there is nobody who has to refer to one."""
    every = [
        (plain_name(element.name), one)
        for element in variants.elements.values()
        for one in element.attributes
        if ":" not in element.name + one.name
    ]
    if not any(one.type.name.startswith("IDREF") for _, one in every):
        return None
    paths = {f"//{name}/@{one.name}": None for name, one in every if one.type is AttributeType.ID}
    return parse(" | ".join(list(paths)[:_IDS])).condition if paths else None
