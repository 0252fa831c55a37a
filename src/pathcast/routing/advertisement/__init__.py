"""What publishers will send: advertisements, from a DTD or inferred, and which subscriptions they concern.

    DTD            -> Advertisement.of --\\
    samples        -> infer, widen   -----> Advertisement -> overlaps(advertisement, pattern), covers(a, b), allows(document)
    paper's text   -> parse_advertisement /               -> expressions (paper's notation), leaf_paths
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
from pathcast.routing.advertisement.overlap import overlaps
from pathcast.routing.advertisement.paths import count_paths, leaf_paths

__all__ = [
    "ANYTHING",
    "Advertisement",
    "AdvertisementExpression",
    "RecursionClass",
    "count_paths",
    "covers",
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
