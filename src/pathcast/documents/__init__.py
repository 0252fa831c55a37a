"""XML documents: parsing under limits into numbered nodes.

    bytes -> encoding -> precheck (-> exact_counts) -> libxml2 -> numbering -> Document
                                                                                 |
                                                        structure: tag tree, label paths, regions

- `reader`: `parse` and `parse_tree`, the entry points.
- `limits`: the limits on size, depth, elements and attributes.
- `encoding`: converts a document to an encoding in which markup can be counted.
- `precheck`: bounds on elements and attributes from the bytes, before a tree exists.
- `exact_counts`: the exact counts, for documents that the bounds do not clear.
- `numbering`: numbers the nodes of libxml2's tree.
- `document`: `Document`, the numbered nodes.
- `records`: the records of a large document, without its tree.
- `structure`: views of a document without its text.
- `parse_errors`: translates libxml2's errors.

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
from pathcast.documents.encoding import mark_utf8, to_octets
from pathcast.documents.limits import Limits
from pathcast.documents.parse_errors import ERROR_KINDS
from pathcast.documents.reader import ParsedTree, new_parser, parse, parse_tree
from pathcast.documents.records import check_record_name, split_records
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
    "check_record_name",
    "label_paths",
    "mark_utf8",
    "new_parser",
    "parse",
    "parse_tree",
    "regions",
    "split_records",
    "tag_tree",
    "to_octets",
]
