"""The paper's notation: text -> Expression -> Advertisement, and an Advertisement's expressions."""

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
