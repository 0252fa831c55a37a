"""Witnesses that are valid under a DTD, minimised.

In a valid document a child often cannot be removed alone: `(a, b)*` has them in pairs. So the
search also removes sets of siblings: all sets where there are few, and runs of neighbours.

>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT r (a, b)*> <!ELEMENT a EMPTY> <!ELEMENT b (a?)>")
>>> checker = ValidWitnessChecker(schema, parse("//b/a"), parse("//a"), WorkBudget())
>>> minimize_valid(b"<r><a/><b/><a/><b/></r>", checker)
b'<r><a/><b/></r>'
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import chain, combinations, islice

from lxml import etree

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.witness import WitnessChecker, minimize
from pathcast.schema import Schema
from pathcast.xpath import Pattern

__all__ = ["ValidWitnessChecker", "minimize_valid", "substitute_values"]

MAX_SIBLING_SETS = 500  # sets to try to remove at one element


class ValidWitnessChecker(WitnessChecker):
    """Checks whether a document is a witness and valid."""

    def __init__(self, schema: Schema, wide: Pattern, narrow: Pattern, budget: WorkBudget) -> None:
        super().__init__(wide, narrow, budget)
        self._schema = schema

    def is_witness(self, root: etree._Element) -> bool:
        return super().is_witness(root) and not self._schema.faults(root)


def minimize_valid(body: bytes, checker: ValidWitnessChecker) -> bytes | None:
    """Remove from a valid witness all that can be removed; None if the document is no witness.

    When the budget ends, the witness is the smallest so far. Raises BudgetExceeded before the first
    check.
    """
    root = _parse(body)
    smaller = None if root is None else minimize(root, checker)
    witness = smaller
    try:
        while smaller is not None:
            witness = smaller
            without = _smaller_witness(etree.fromstring(witness), checker)
            smaller = None if without is None else minimize(without, checker)
    except BudgetExceeded:
        pass
    return witness


def _smaller_witness(root: etree._Element, checker: ValidWitnessChecker) -> etree._Element | None:
    """Return a witness without some siblings, or None."""
    steps = checker.steps(root)
    for candidate in _without_siblings(root):
        checker.budget.spend(steps)
        if checker.is_witness(candidate):
            return candidate
    return None


def _without_siblings(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the documents without two or more siblings."""
    for index, node in enumerate(root.iter("*")):
        count = len(node)
        runs = combinations(range(count + 1), 2)
        sets = chain.from_iterable(combinations(range(count), size) for size in range(2, count + 1))
        chosen = chain((tuple(range(*run)) for run in runs), islice(sets, MAX_SIBLING_SETS))
        for places in dict.fromkeys(chosen):
            if len(places) > 1 and not any(node[place].tail for place in places):
                copy = deepcopy(root)
                copied_node = next(islice(copy.iter("*"), index, None))
                for place in reversed(places):
                    del copied_node[place]
                yield copy


def substitute_values(body: bytes, other: bytes) -> Iterator[bytes]:
    """Yield the document with a single value replaced by a value of another document."""
    root = _parse(body)
    if root is None:
        return
    values = dict.fromkeys(
        text
        for node in etree.fromstring(other).iter("*")
        for text in (node.text, *node.attrib.values())
        if text
    )
    for value in values:
        for node in root.iter("*"):
            if node.text:
                before, node.text = node.text, value
                yield etree.tostring(root)
                node.text = before
            for name, given in node.attrib.items():
                node.set(name, value)
                yield etree.tostring(root)
                node.set(name, given)


def _parse(body: bytes) -> etree._Element | None:
    """Parse a document; None if it has a prefix without a namespace declaration."""
    try:
        return etree.fromstring(body)
    except etree.XMLSyntaxError:
        return None
