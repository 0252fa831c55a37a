"""The elements of a document in pre-order, which is all that an advertisement reads of it."""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.documents import Document, parse_tree

__all__ = ["elements"]


def elements(document: bytes | Document) -> Iterator[tuple[int, str, bool]]:
    """Yield (parent, name, is_leaf) for each element, parents before children.

    `parent` is the index of an earlier element, or -1 for the root. `name` is in Clark notation. A
    leaf has no child elements. Raise DocumentError for bytes that are not a document.
    """
    return _of_document(document) if isinstance(document, Document) else _of_bytes(document)


def _of_document(document: Document) -> Iterator[tuple[int, str, bool]]:
    index = {0: -1}
    nodes = document.all_elements
    for at, node in enumerate(nodes):
        index[node] = at
        leaf = at + 1 == len(nodes) or document.level[nodes[at + 1]] <= document.level[node]
        yield index[document.parent[node]], document.label[node], leaf


def _of_bytes(body: bytes) -> Iterator[tuple[int, str, bool]]:
    stack = [(-1, parse_tree(body).root)]
    at = 0
    while stack:
        parent, element = stack.pop()
        # Comments and processing instructions have a function as their tag.
        children = [child for child in element if isinstance(child.tag, str)]
        yield parent, str(element.tag), not children
        stack += [(at, child) for child in children]
        at += 1
