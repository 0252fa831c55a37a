"""Witnesses: documents that match the narrow pattern and not the wide one, minimised.

libxml2 evaluates both patterns. A minimal witness has no node, no value and no character that can
be removed; a value of more than 40 characters is only halved.

>>> from pathcast.xpath import parse
>>> checker = WitnessChecker(parse("//b/c"), parse("//b"), WorkBudget())
>>> minimize(etree.fromstring("<a x='1'><b><d/></b><b/>text</a>"), checker)
b'<b/>'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.canonical_models import CanonicalModel, ModelNode
from pathcast.covering.labels import LabelKind
from pathcast.schema.satisfiability.example import MAX_DEPTH
from pathcast.xpath import Pattern
from pathcast.xpath.evaluation_cost import DocumentSize, EvaluationCost

__all__ = ["WitnessChecker", "build_document", "minimize"]

_STEPS_PER_CHECK = 40  # besides the nodes of the document
MAX_CHARACTERWISE = 40  # longer values are halved, not cut by single characters
_XML_NAMESPACE = "{http://www.w3.org/XML/1998/namespace}"  # needs no declaration


class WitnessChecker:
    """Checks whether a document matches the narrow pattern and not the wide one."""

    def __init__(self, wide: Pattern, narrow: Pattern, budget: WorkBudget) -> None:
        self._wide, self._narrow = (_compile(pattern) for pattern in (wide, narrow))
        self._costs = [EvaluationCost(pattern) for pattern in (wide, narrow)]
        self.budget = budget

    def steps(self, root: etree._Element) -> int:
        """Return the steps to copy a document of this size and to check it."""
        size = DocumentSize.of(root)
        return _STEPS_PER_CHECK + size.nodes + sum(cost.steps(size) for cost in self._costs)

    def is_witness(self, root: etree._Element) -> bool:
        document = root.getroottree()
        return bool(self._narrow(document)) and not self._wide(document)


def _compile(pattern: Pattern) -> etree.XPath:
    check = pattern.check or f"boolean(/self::node()[boolean({pattern.text})])"
    return etree.XPath(check, namespaces=dict(pattern.namespaces), regexp=False)


def build_document(model: CanonicalModel) -> etree._Element | None:
    """Return the document of a model; None if it cannot be written as XML, or is too deep."""
    if model.height > MAX_DEPTH:
        return None
    # Declare all prefixes at the root: lxml invents clashing ones for nodes that are joined later.
    namespaces = sorted(dict.fromkeys(_namespaces(model.root)))
    prefixes = {f"n{index}": uri for index, uri in enumerate(namespaces)}
    try:
        root = etree.Element(model.root.label.name, nsmap=prefixes)
        _fill(root, model.root)
    except ValueError:  # a value with characters that XML does not allow
        return None
    return root


def _namespaces(node: ModelNode) -> Iterator[str]:
    name = node.label.name
    if name.startswith("{") and not name.startswith(_XML_NAMESPACE):
        yield name[1:].rpartition("}")[0]
    for child in node.children:
        yield from _namespaces(child)


def _fill(element: etree._Element, node: ModelNode) -> None:
    element.text = node.text or None
    last: etree._Element | None = None
    for child in node.children:
        match child.label.kind:
            case LabelKind.ATTRIBUTE:
                element.set(child.label.name, child.text)
            case LabelKind.TEXT:
                if last is None:
                    element.text = (element.text or "") + (child.text or "x")
                else:
                    last.tail = (last.tail or "") + (child.text or "x")
            case LabelKind.COMMENT:
                last = etree.Comment(child.text)
                element.append(last)
            case LabelKind.INSTRUCTION:
                last = etree.ProcessingInstruction(child.label.name or "z", child.text)
                element.append(last)
            case _:
                last = etree.SubElement(element, child.label.name)
                _fill(last, child)


def minimize(root: etree._Element, checker: WitnessChecker) -> bytes | None:
    """Remove from a witness all that can be removed; None if the document is no witness.

    The search is greedy: it takes the first smaller witness and starts again from it. When the
    budget ends, the witness is the smallest so far. Raises BudgetExceeded before the first check.
    """
    checker.budget.spend(checker.steps(root))
    body = etree.tostring(root)
    current = _parse(body)
    if current is None or not checker.is_witness(current):
        return None
    while True:
        steps = checker.steps(current)
        for smaller in _smaller(current):
            try:
                checker.budget.spend(steps)
            except BudgetExceeded:
                return body
            if not checker.is_witness(smaller):
                continue
            written = etree.tostring(smaller)
            parsed = _parse(written)  # check the bytes, not the tree in memory
            if parsed is not None and checker.is_witness(parsed):
                body, current = written, parsed
                break
        else:
            return body


def _parse(body: bytes) -> etree._Element | None:
    """Parse the bytes as a receiver does; None if it would reject them (a numeric xml:id, say)."""
    try:
        return etree.fromstring(body, etree.XMLParser(no_network=True, resolve_entities=False))
    except etree.XMLSyntaxError:
        return None


def _smaller(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the documents without one node or subtree, without a value, or with a shorter one."""
    for index, node in enumerate(root.iter()):
        if index:
            smaller, copied = _copy(root, index)
            _remove(copied)
            yield smaller
            if len(node):
                smaller, copied = _copy(root, index)
                _replace_by_children(copied)
                yield smaller
        elif len(node) == 1 and isinstance(node[0].tag, str):
            yield deepcopy(node[0])
        if isinstance(node.tag, str):
            for name in node.attrib:
                smaller, copied = _copy(root, index)
                del copied.attrib[name]
                yield smaller
            for name, value in node.attrib.items():
                for shorter in _shorter(value):
                    smaller, copied = _copy(root, index)
                    copied.set(name, shorter)
                    yield smaller
        for name in ("text", "tail"):
            if value := getattr(node, name):
                for shorter_text in (None, *_shorter(value)):
                    smaller, copied = _copy(root, index)
                    setattr(copied, name, shorter_text)
                    yield smaller


def _shorter(value: str) -> Iterator[str]:
    """Yield the halves of a long value, or a short value without one of its characters."""
    if len(value) > MAX_CHARACTERWISE:
        yield value[: len(value) // 2]
        yield value[len(value) // 2 :]
    else:
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]


def _copy(root: etree._Element, index: int) -> tuple[etree._Element, etree._Element]:
    """Return a copy of the document, and its node with this index."""
    copy = deepcopy(root)
    return copy, next(itertools.islice(copy.iter(), index, None))


def _replace_by_children(node: etree._Element) -> None:
    """Replace an element by its child elements."""
    parent = node.getparent()
    assert parent is not None
    index = parent.index(node)
    parent[index:index] = [deepcopy(child) for child in node]
    _remove(node)


def _remove(node: etree._Element) -> None:
    """Remove a node and keep its tail."""
    parent, before = node.getparent(), node.getprevious()
    assert parent is not None
    if node.tail:
        if before is None:
            parent.text = (parent.text or "") + node.tail
        else:
            before.tail = (before.tail or "") + node.tail
    parent.remove(node)
