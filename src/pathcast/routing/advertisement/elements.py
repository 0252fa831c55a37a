"""The elements of a document, parents first: all that an advertisement looks at."""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.documents import Document, parse_tree

__all__ = ["elements"]


def elements(document: bytes | Document) -> Iterator[tuple[int, str, bool]]:
    """Of each element: which one of those before it is its parent (-1: none), its name (Clark's), whether it is a leaf.

    Raises DocumentError for bytes that are no document.
    """
    return _of_document(document) if isinstance(document, Document) else _of_bytes(document)


def _of_document(document: Document) -> Iterator[tuple[int, str, bool]]:
    number = {0: -1}
    found = document.all_elements
    for at, one in enumerate(found):
        number[one] = at
        leaf = at + 1 == len(found) or document.level[found[at + 1]] <= document.level[one]
        yield number[document.parent[one]], document.label[one], leaf


def _of_bytes(body: bytes) -> Iterator[tuple[int, str, bool]]:
    waiting = [(-1, parse_tree(body).root)]
    at = 0
    while waiting:
        parent, element = waiting.pop()
        below = [child for child in element if isinstance(child.tag, str)]  # else comments and such
        yield parent, str(element.tag), not below
        waiting += [(at, child) for child in below]
        at += 1
