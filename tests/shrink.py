"""Shrinking of a difference that a bulk comparison found.

A greedy search: it removes runs of tokens from the expression, and elements, attributes and texts
from the document, as long as the two engines still differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from lxml import etree

from tests.generate import join
from tests.oracle import Refused, document, tokens

__all__ = ["shrink"]

Differs = Callable[[str, bytes], bool]


def shrink(text: str, body: bytes, differs: Differs) -> tuple[str, bytes]:
    """Return a locally minimal pair; `differs` is false for a pair that either engine rejects."""
    while True:
        shorter = next((other for other in _expressions(text) if differs(other, body)), None)
        if shorter is not None:
            text = shorter
            continue
        smaller = next((other for other in _documents(body) if differs(text, other)), None)
        if smaller is None:
            return text, body
        body = smaller


def _expressions(text: str) -> Iterator[str]:
    """Yield shorter expressions, those with the most tokens removed first."""
    try:
        words = [token.text for token in tokens(text)]
    except Refused:
        return
    compact = join(Random(0), words, 0)
    if len(compact) < len(text):
        yield compact
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            yield join(Random(0), words[:start] + words[start + length :], 0)


def _documents(body: bytes) -> Iterator[bytes]:
    """Yield smaller documents, each with one node, text or attribute removed."""
    compact = etree.tostring(document(body).getroot())
    if len(compact) < len(body):
        yield compact
    count = len(list(document(body).getroot().iter()))
    for index in range(count):
        for change in (_drop, _unwrap, _strip_text, _strip_tail):
            root = etree.fromstring(compact)
            if change(list(root.iter())[index]):
                yield etree.tostring(root)
        root = etree.fromstring(compact)
        for name in list(list(root.iter())[index].attrib):
            root = etree.fromstring(compact)
            del list(root.iter())[index].attrib[name]
            yield etree.tostring(root)


def _drop(node: etree._Element) -> bool:
    parent = node.getparent()
    if parent is not None:
        parent.remove(node)
    return parent is not None


def _unwrap(node: etree._Element) -> bool:
    parent = node.getparent()
    if parent is None or not len(node):
        return False
    index = parent.index(node)
    parent[index : index + 1] = list(node)
    return True


def _strip_text(node: etree._Element) -> bool:
    removed = bool(node.text)
    node.text = None
    return removed


def _strip_tail(node: etree._Element) -> bool:
    removed = bool(node.tail)
    node.tail = None
    return removed
