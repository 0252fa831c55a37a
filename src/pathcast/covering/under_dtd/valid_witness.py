"""Witnesses that are valid: judged by libxml2 and by the DTD, and from which nothing can be taken away.

In a valid document it may not be is_satisfiable to take away one child alone: `(a, b)*` has them in pairs. So sets of siblings are tried as well, all of
them where there are few, and runs of neighbours.

>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> judge = ValidWitnessChecker(parse_dtd("<!ELEMENT r (a, b)*> <!ELEMENT a EMPTY> <!ELEMENT b (a?)>"), parse("//b/a"), parse("//a"))
>>> minimize_valid(b"<r><a/><b/><a/><b/></r>", judge)
b'<r><a/><b/></r>'
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import chain, combinations, islice

from lxml import etree

from pathcast.covering.witness import WitnessChecker, minimize
from pathcast.schema import Schema
from pathcast.xpath import Pattern

__all__ = ["ValidWitnessChecker", "minimize_valid", "substitute_values"]

_SETS = 500  # sets of siblings that are tried at one element


class ValidWitnessChecker(WitnessChecker):
    """Whether a document is valid and matches the narrow pattern and not the wide one."""

    def __init__(self, schema: Schema, wide: Pattern, narrow: Pattern) -> None:
        super().__init__(wide, narrow)
        self._schema = schema

    def is_witness(self, root: etree._Element) -> bool:
        return super().is_witness(root) and not self._schema.faults(root)


def minimize_valid(body: bytes, judge: ValidWitnessChecker) -> bytes | None:
    """The document with all taken away that may be; None if it does not tell the patterns apart."""
    root = _read(body)
    witness = None if root is None else minimize(root, judge)
    while witness is not None:
        told = (one for one in _fewer(etree.fromstring(witness)) if judge.is_witness(one))
        fewer = next(told, None)
        if fewer is None:
            break
        witness = minimize(fewer, judge)
    return witness


def _fewer(root: etree._Element) -> Iterator[etree._Element]:
    """The documents with two or more siblings less."""
    for index, node in enumerate(root.iter("*")):
        count = len(node)
        runs = combinations(range(count + 1), 2)
        sets = chain.from_iterable(combinations(range(count), size) for size in range(2, count + 1))
        chosen = chain((tuple(range(*run)) for run in runs), islice(sets, _SETS))
        for places in dict.fromkeys(chosen):
            if len(places) > 1 and not any(node[place].tail for place in places):
                copy = deepcopy(root)
                twin = next(islice(copy.iter("*"), index, None))
                for place in reversed(places):
                    del twin[place]
                yield copy


def substitute_values(body: bytes, other: bytes) -> Iterator[bytes]:
    """The document with one value changed, in turn, to each that another one has."""
    root = _read(body)
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


def _read(body: bytes) -> etree._Element | None:
    """The document; None for a value that no document can hold, a prefix without its namespace."""
    try:
        return etree.fromstring(body)
    except etree.XMLSyntaxError:
        return None
