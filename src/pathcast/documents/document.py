"""A document as numbered nodes: the XPath data model in parallel lists.

Nodes are numbered in document order. Node 0 is the document node. An element's attributes come
right after it, before its children. `right[i]` is the last number inside node i, so (i, right[i])
is a region code: j lies inside i exactly when `i < j <= right[i]`. Twig joins therefore compare
numbers. The lists of nodes by label are the sorted streams that such joins read.

The nodes are those of libxml2. Adjacent characters, CDATA sections and internal entities form one
text node. An element that contains only an empty CDATA section has an empty text node. Namespace
declarations are not attributes, and the document type declaration is no node.

>>> from pathcast.documents import parse
>>> d = parse(b"<a x='1'>hot <b>tea</b><!--now--></a>")
>>> nodes = zip(d.kind, d.label, d.content)
>>> [f"{KIND_NAMES[kind]} {label}{content}".strip() for kind, label, content in nodes]
['document', 'element a', 'attribute x1', 'text hot', 'element b', 'text tea', 'comment now']
>>> d.right
[6, 6, 2, 3, 5, 5, 6]
>>> d.string_value(1)
'hot tea'
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Final

from lxml import etree

__all__ = [
    "ATTRIBUTE",
    "COMMENT",
    "DOCUMENT",
    "ELEMENT",
    "KIND_NAMES",
    "PI",
    "TEXT",
    "Document",
    "iter_nodes",
]

DOCUMENT: Final = 0
ELEMENT: Final = 1
ATTRIBUTE: Final = 2
TEXT: Final = 3
COMMENT: Final = 4
PI: Final = 5
KIND_NAMES: Final = (
    "document",
    "element",
    "attribute",
    "text",
    "comment",
    "processing-instruction",
)

# Characters of cached string-values. Unbounded, every level could hold the document's entire text.
_MAX_CACHED_CHARACTERS: Final = 4 * 1024 * 1024


class Document:
    """The nodes of one document; all lists are indexed by node number, or hold node numbers.

    `pathcast.documents.parse` creates it. It is immutable afterwards, so threads may share it.
    """

    __slots__ = (
        "_cache_room",
        "_lines",
        "_run",
        "_strings",
        "all_attributes",
        "all_elements",
        "attributes",
        "comments",
        "content",
        "elements",
        "instructions",
        "kind",
        "label",
        "level",
        "parent",
        "right",
        "texts",
        "tree",
    )

    def __init__(self, tree: etree._ElementTree[etree._Element]) -> None:
        """Create a document that has only node 0."""
        self.tree = tree
        self.kind: list[int] = [DOCUMENT]
        self.label: list[str] = [""]
        """Elements and attributes: `{uri}local` or `local`; processing instructions: the target."""
        self.parent: list[int] = [-1]
        self.right: list[int] = [0]
        """The last node of the subtree; the node itself if it has no descendants."""
        self.level: list[int] = [0]
        """Depth: 0 for the document node, 1 for the root element and its siblings."""
        self.content: list[str] = [""]
        """The value of an attribute, text, comment or processing instruction."""
        self.elements: dict[str, list[int]] = {}
        self.attributes: dict[str, list[int]] = {}
        self.all_elements: list[int] = []
        self.all_attributes: list[int] = []
        self.texts: list[int] = []
        self.comments: list[int] = []
        self.instructions: list[int] = []
        self._strings: dict[int, str] = {}
        self._cache_room = _MAX_CACHED_CHARACTERS
        self._lines: list[int] | None = None
        self._run: int | None = None

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        return f"<Document of {len(self)} nodes>"

    def string_value(self, number: int) -> str:
        """Return the node's string-value (XPath 1.0, sections 5.1 to 5.7)."""
        if self.kind[number] > ELEMENT:
            return self.content[number]
        string = self._strings.get(number)
        if string is None:
            string = self._concatenate_texts(number)
            if len(string) <= self._cache_room:
                self._cache_room -= len(string)
                self._strings[number] = string
        return string

    def _concatenate_texts(self, number: int) -> str:
        first = bisect_right(self.texts, number)
        last = bisect_right(self.texts, self.right[number])
        return "".join([self.content[text] for text in self.texts[first:last]])

    def longest_sibling_run(self) -> int:
        """Return the length of the longest run of siblings that are not elements."""
        if self._run is None:
            runs: dict[int, int] = {}
            longest = 0
            for kind, parent in zip(self.kind, self.parent, strict=True):
                if kind == ELEMENT:
                    runs[parent] = 0
                elif kind > ATTRIBUTE:
                    run = runs[parent] = runs.get(parent, 0) + 1
                    longest = max(longest, run)
            self._run = longest
        return self._run

    def line(self, number: int) -> int:
        """Return the node's line, from 1; for an attribute or a text the line of its element.

        libxml2 stores 16 bits, so nodes further down may report line 65535.
        """
        while self.kind[number] in (ATTRIBUTE, TEXT):
            number = self.parent[number]
        if self._lines is None:
            self._lines = self._find_lines()
        return self._lines[number]

    def _find_lines(self) -> list[int]:
        lines = [1] * len(self)
        nodes = iter_nodes(self.tree)
        for number, kind in enumerate(self.kind):
            if kind in (ELEMENT, COMMENT, PI):
                # A node from an entity may have no line of its own.
                lines[number] = next(nodes).sourceline or lines[self.parent[number]]
        return lines


def iter_nodes(tree: etree._ElementTree[etree._Element]) -> Iterator[etree._Element]:
    """Iterate over elements, comments and processing instructions in document order."""
    root = tree.getroot()
    before = list(root.itersiblings(preceding=True))
    return chain(reversed(before), root.iter(), root.itersiblings())
