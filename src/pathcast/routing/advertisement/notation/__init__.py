"""The paper's notation: text -> Expression -> Advertisement, and an Advertisement's expressions."""

from pathcast.routing.advertisement.notation.expression import Expression, Kind, union
from pathcast.routing.advertisement.notation.parser import parse_advertisement, parse_expression
from pathcast.routing.advertisement.notation.writing import expressions, tally

__all__ = [
    "Expression",
    "Kind",
    "expressions",
    "parse_advertisement",
    "parse_expression",
    "tally",
    "union",
]
