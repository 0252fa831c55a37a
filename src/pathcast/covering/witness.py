"""Witnesses: documents that match one pattern and not another, judged by libxml2, from which nothing can be taken away:
no node, no value, and no character of a value of up to 40; longer ones are cut by halves.

>>> from pathcast.xpath import parse
>>> judge = WitnessChecker(parse("//b/c"), parse("//b"))
>>> minimize(etree.fromstring("<a x='1'><b><d/></b><b/>text</a>"), judge)
b'<b/>'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree

from pathcast.covering.canonical_models import Model, ModelNode
from pathcast.covering.labels import LabelKind
from pathcast.xpath import Pattern

__all__ = ["WitnessChecker", "build_document", "minimize"]

_FEW = 40  # characters of a value that are looked at one by one
_XML = "{http://www.w3.org/XML/1998/namespace}"  # needs no declaration


class WitnessChecker:
    """Whether a document matches the narrow pattern and not the wide one."""

    def __init__(self, wide: Pattern, narrow: Pattern) -> None:
        self._wide, self._narrow = (_compiled(pattern) for pattern in (wide, narrow))

    def is_witness(self, root: etree._Element) -> bool:
        document = root.getroottree()
        return bool(self._narrow(document)) and not self._wide(document)


def _compiled(pattern: Pattern) -> etree.XPath:
    check = pattern.check or f"boolean(/self::node()[boolean({pattern.text})])"
    return etree.XPath(check, namespaces=dict(pattern.namespaces), regexp=False)


def build_document(model: Model) -> etree._Element | None:
    """The document of a model; None where it cannot be written as XML."""
    # One prefix for each namespace, all on top: lxml gives elements that are put together later prefixes that clash.
    spaces = sorted(dict.fromkeys(_spaces(model.root)))
    prefixes = {f"n{index}": space for index, space in enumerate(spaces)}
    try:
        root = etree.Element(model.root.label.name, nsmap=prefixes)
        _fill(root, model.root)
    except ValueError:  # a value with characters that XML does not have
        return None
    return root


def _spaces(node: ModelNode) -> Iterator[str]:
    name = node.label.name
    if name.startswith("{") and not name.startswith(_XML):
        yield name[1:].rpartition("}")[0]
    for child in node.children:
        yield from _spaces(child)


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


def minimize(root: etree._Element, judge: WitnessChecker) -> bytes | None:
    """The document with all taken away that may be, as long as it still is_witness the patterns apart; None if it never did."""
    body = etree.tostring(root)
    current = _read(body)
    if current is None or not judge.is_witness(current):
        return None
    while True:
        for smaller in _smaller(current):
            if not judge.is_witness(smaller):
                continue
            written = etree.tostring(smaller)
            read = _read(written)  # what is written counts, not what stood in memory
            if read is not None and judge.is_witness(read):
                body, current = written, read
                break
        else:
            return body


def _read(body: bytes) -> etree._Element | None:
    """The document as whoever gets it reads it; None if it would be refused (an xml:id that is a number, say)."""
    try:
        return etree.fromstring(body, etree.XMLParser(no_network=True, resolve_entities=False))
    except etree.XMLSyntaxError:
        return None


def _smaller(root: etree._Element) -> Iterator[etree._Element]:
    """The documents with one node less, with or without all below it, one value less, or a shorter one."""
    for index, node in enumerate(root.iter()):
        if index:
            smaller, twin = _copied(root, index)
            _cut(twin)
            yield smaller
            if len(node):
                smaller, twin = _copied(root, index)
                _open(twin)
                yield smaller
        elif len(node) == 1 and isinstance(node[0].tag, str):
            yield deepcopy(node[0])
        if isinstance(node.tag, str):
            for name in node.attrib:
                smaller, twin = _copied(root, index)
                del twin.attrib[name]
                yield smaller
            for name, value in node.attrib.items():
                for shorter in _shorter(value):
                    smaller, twin = _copied(root, index)
                    twin.set(name, shorter)
                    yield smaller
        for name in ("text", "tail"):
            if value := getattr(node, name):
                for less in (None, *_shorter(value)):
                    smaller, twin = _copied(root, index)
                    setattr(twin, name, less)
                    yield smaller


def _shorter(value: str) -> Iterator[str]:
    """The value by half, or without one of its characters if they are few."""
    if len(value) > _FEW:
        yield value[: len(value) // 2]
        yield value[len(value) // 2 :]
    else:
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]


def _copied(root: etree._Element, index: int) -> tuple[etree._Element, etree._Element]:
    """A copy of the document, and its node of this number."""
    copy = deepcopy(root)
    return copy, next(itertools.islice(copy.iter(), index, None))


def _open(node: etree._Element) -> None:
    """Put what an element holds in its place."""
    parent = node.getparent()
    assert parent is not None
    index = parent.index(node)
    parent[index:index] = [deepcopy(child) for child in node]
    _cut(node)


def _cut(node: etree._Element) -> None:
    """Take a node out; the text behind it stays."""
    parent, before = node.getparent(), node.getprevious()
    assert parent is not None
    if node.tail:
        if before is None:
            parent.text = (parent.text or "") + node.tail
        else:
            before.tail = (before.tail or "") + node.tail
    parent.remove(node)
