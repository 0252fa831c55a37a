"""The notation of Li, Hou and Jacobsen (2008) for advertisements, such as `/a(/b)+/c`.

expression      `AdvertisementExpression`, its class, and its automaton
parser          text -> AdvertisementExpression
to_expressions  Advertisement -> AdvertisementExpressions
"""

from pathcast.routing.advertisement.notation.expression import (
    AdvertisementExpression,
    RecursionClass,
    union,
)
from pathcast.routing.advertisement.notation.parser import parse_advertisement, parse_expression
from pathcast.routing.advertisement.notation.to_expressions import expressions, tally

__all__ = [
    "AdvertisementExpression",
    "RecursionClass",
    "expressions",
    "parse_advertisement",
    "parse_expression",
    "tally",
    "union",
]
