"""Advertisements: the paths that a publisher's documents may contain, as finite automata.

    DTD             -> Advertisement.of ----\\
    samples         -> infer, widen ---------> Advertisement -> overlaps, covers, allows
    paper notation  -> parse_advertisement -/                -> expressions, leaf_paths

advertisement  `Advertisement`: the automaton as a value, with JSON and a canonical text
labels         `ElementLabel`: the set of element names that one state accepts
bits           sets of states as integer bit masks
elements       the elements of a document in pre-order, the input of an automaton
nfa            `AdvertisementNfa`: an automaton compiled for documents and patterns
overlap        whether a document of the advertisement may match a pattern
inclusion      whether one advertisement covers another
inference      advertisements from sample documents
paths          leaf paths up to a depth
budget_errors  the error of a conversion that exceeds its work budget
notation       the notation of Li, Hou and Jacobsen (2008): parser and writer
"""

from pathcast.routing.advertisement.advertisement import ANYTHING, Advertisement
from pathcast.routing.advertisement.inclusion import covers
from pathcast.routing.advertisement.inference import infer, widen
from pathcast.routing.advertisement.notation import (
    AdvertisementExpression,
    RecursionClass,
    expressions,
    parse_advertisement,
    parse_expression,
    tally,
    union,
)
from pathcast.routing.advertisement.overlap import decide_overlap, overlaps
from pathcast.routing.advertisement.paths import count_paths, leaf_paths

__all__ = [
    "ANYTHING",
    "Advertisement",
    "AdvertisementExpression",
    "RecursionClass",
    "count_paths",
    "covers",
    "decide_overlap",
    "expressions",
    "infer",
    "leaf_paths",
    "overlaps",
    "parse_advertisement",
    "parse_expression",
    "tally",
    "union",
    "widen",
]
