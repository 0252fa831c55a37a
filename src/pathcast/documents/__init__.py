"""Documents: bytes become numbered nodes, under limits.

    bytes -> octets -> precheck (-> counting) -> libxml2 -> building -> Document
                                                                          |-> summary, label_paths, regions

>>> document = parse(b"<a><b/><b/></a>")
>>> document.elements
{'a': [1], 'b': [2, 3]}
"""

from __future__ import annotations

from pathcast.documents.document import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    PI,
    TEXT,
    Document,
)
from pathcast.documents.limits import Limits
from pathcast.documents.parse_errors import KINDS
from pathcast.documents.reader import Tree, new_parser, parse, parse_tree
from pathcast.documents.structure import Region, Summary, label_paths, regions, summary

__all__ = [
    "ATTRIBUTE",
    "COMMENT",
    "DOCUMENT",
    "ELEMENT",
    "KINDS",
    "PI",
    "TEXT",
    "Document",
    "Limits",
    "Region",
    "Summary",
    "Tree",
    "label_paths",
    "new_parser",
    "parse",
    "parse_tree",
    "regions",
    "summary",
]
