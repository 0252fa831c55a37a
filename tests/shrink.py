"""A difference found in bulk, made small enough to read.

Greedy and dumb: runs of tokens leave the expression, and elements, attributes and texts leave the
document, for as long as the two engines still differ.
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
    """The smallest pair that greed finds; `differs` is false for what either side refuses."""
    while True:
        smaller = next((less for less in _expressions(text) if differs(less, body)), None)
        if smaller is not None:
            text = smaller
            continue
        fewer = next((less for less in _documents(body) if differs(text, less)), None)
        if fewer is None:
            return text, body
        body = fewer


def _expressions(text: str) -> Iterator[str]:
    try:
        words = [token.text for token in tokens(text)]
    except Refused:
        return
    plain = join(Random(0), words, 0)
    if len(plain) < len(text):
        yield plain
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            yield join(Random(0), words[:start] + words[start + length :], 0)


def _documents(body: bytes) -> Iterator[bytes]:
    plain = etree.tostring(document(body).getroot())
    if len(plain) < len(body):
        yield plain
    count = len(list(document(body).getroot().iter()))
    for index in range(count):
        for change in (_drop, _unwrap, _strip_text, _strip_tail):
            root = etree.fromstring(plain)
            if change(list(root.iter())[index]):
                yield etree.tostring(root)
        root = etree.fromstring(plain)
        for name in list(list(root.iter())[index].attrib):
            root = etree.fromstring(plain)
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
    at = parent.index(node)
    parent[at : at + 1] = list(node)
    return True


def _strip_text(node: etree._Element) -> bool:
    had = bool(node.text)
    node.text = None
    return had


def _strip_tail(node: etree._Element) -> bool:
    had = bool(node.tail)
    node.tail = None
    return had
