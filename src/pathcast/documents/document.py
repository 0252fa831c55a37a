"""A document as numbered nodes: XPath's data model in parallel lists.

Nodes are numbered in document order. Node 0 is the document; an element's attributes come right after
it, before its children. `right[i]` is the last number inside node i, so (i, right[i]) is a region
code: j lies inside i exactly when `i < j <= right[i]`, and whole twigs are joined by comparing
numbers. Lists by label give the streams that such joins read.

The nodes are those that libxml2 has: adjacent characters, CDATA and internal entities are one text node,
an empty CDATA section alone is an empty text node, namespace declarations are not attributes, the
document type declaration is no node.

>>> from pathcast.documents import parse
>>> d = parse(b"<a x='1'>hot <b>tea</b><!--now--></a>")
>>> [f"{KIND_NAMES[kind]} {label}{content}".strip() for kind, label, content in zip(d.kind, d.label, d.content)]
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

_MEMO: Final = (
    4 * 1024 * 1024
)  # characters: every level may have the document's whole text as its string


class Document:
    """The nodes of one document; all lists are indexed by node number, or hold node numbers.

    Made by `pathcast.documents.parse`. Nobody changes it afterwards, so threads may share it.
    """

    __slots__ = (
        "_lines",
        "_room",
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
        """A document of which only node 0 is there yet."""
        self.tree = tree
        self.kind: list[int] = [DOCUMENT]
        self.label: list[str] = [""]
        """Elements and attributes: `{uri}local`, or `local`. Processing instructions: the target."""
        self.parent: list[int] = [-1]
        self.right: list[int] = [0]
        """The last node inside; the node itself if there is none."""
        self.level: list[int] = [0]
        """How many ancestors: 0 for the document, 1 for the root element and for what stands beside it."""
        self.content: list[str] = [""]
        """The value of attributes, texts, comments and processing instructions."""
        self.elements: dict[str, list[int]] = {}
        self.attributes: dict[str, list[int]] = {}
        self.all_elements: list[int] = []
        self.all_attributes: list[int] = []
        self.texts: list[int] = []
        self.comments: list[int] = []
        self.instructions: list[int] = []
        self._strings: dict[int, str] = {}
        self._room = _MEMO
        self._lines: list[int] | None = None
        self._run: int | None = None

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        return f"<Document of {len(self)} nodes>"

    def string_value(self, number: int) -> str:
        """The node's string-value as XPath 1.0 (5.1 - 5.7) has it."""
        if self.kind[number] > ELEMENT:
            return self.content[number]
        known = self._strings.get(number)
        if known is None:
            known = self._string(number)
            if len(known) <= self._room:
                self._room -= len(known)
                self._strings[number] = known
        return known

    def _string(self, number: int) -> str:
        first = bisect_right(self.texts, number)
        last = bisect_right(self.texts, self.right[number])
        return "".join([self.content[text] for text in self.texts[first:last]])

    def longest_sibling_run(self) -> int:
        """How many siblings in a row are texts, comments or processing instructions, at most."""
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
        """The node's line, from 1; for an attribute or a text that of its element.

        libxml2 keeps 16 bits of it: what lies further down may be said to be on line 65535.
        """
        while self.kind[number] in (ATTRIBUTE, TEXT):
            number = self.parent[number]
        if self._lines is None:
            self._lines = self._find_lines()
        return self._lines[number]

    def _find_lines(self) -> list[int]:
        lines = [1] * len(self)
        found = iter_nodes(self.tree)
        for number, kind in enumerate(self.kind):
            if kind in (ELEMENT, COMMENT, PI):
                # What an entity brought may have no line of its own.
                lines[number] = next(found).sourceline or lines[self.parent[number]]
        return lines


def iter_nodes(tree: etree._ElementTree[etree._Element]) -> Iterator[etree._Element]:
    """All elements, comments and processing instructions in document order, as lxml has them."""
    root = tree.getroot()
    before = list(root.itersiblings(preceding=True))
    return chain(reversed(before), root.iter(), root.itersiblings())
