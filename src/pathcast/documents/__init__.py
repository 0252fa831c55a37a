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
from pathcast.documents.parse_errors import ERROR_KINDS
from pathcast.documents.reader import ParsedTree, new_parser, parse, parse_tree
from pathcast.documents.structure import Region, TagTree, label_paths, regions, tag_tree

__all__ = [
    "ATTRIBUTE",
    "COMMENT",
    "DOCUMENT",
    "ELEMENT",
    "ERROR_KINDS",
    "PI",
    "TEXT",
    "Document",
    "Limits",
    "ParsedTree",
    "Region",
    "TagTree",
    "label_paths",
    "new_parser",
    "parse",
    "parse_tree",
    "regions",
    "tag_tree",
]
