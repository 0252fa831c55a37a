"""Numbers as libxml2 reads and compares them.

libxml2 converts digit by digit (integer part, then at most twenty significant digits of fraction
divided by a power of ten) and accepts an exponent. The result may differ from Python's correctly rounded
`float()` in the last bit, and a comparison would show it, so the same steps are taken here.

>>> number(" -12.50 "), number("1e3"), number("twelve")
(-12.5, 1000.0, nan)
>>> canonical_number("007.50"), canonical_number("1e3")
('7.5', '1000')
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

__all__ = ["canonical_number", "number"]

# Possessive throughout: what comes from documents must not make an expression try again and again.
_NUMBER = re.compile(
    r"[ \t\r\n]*+(-?)(?:([0-9]++)(?:\.(0*+)([0-9]*+))?+|\.(0*+)([0-9]*+))"
    r"(?:[eE]([-+]?)([0-9]*+))?+[ \t\r\n]*+\Z"
)
_PLAIN = re.compile(r"-?[0-9]{1,15}\Z")
_FRACTION_DIGITS = 20
_EXPONENT_CAP = 1_000_000


def number(text: str) -> float:
    """XPath's number() of a string; NaN where it is not a number."""
    if _PLAIN.match(text):  # up to 15 digits are exact in a double: nothing to imitate
        return float(text)
    hit = _NUMBER.match(text)
    if hit is None:
        return math.nan
    sign, whole, zeros, digits, bare_zeros, bare_digits, exponent_sign, exponent = hit.groups()
    if whole is None:
        zeros, digits = bare_zeros, bare_digits
        if not zeros and not digits:
            return math.nan
    value = 0.0
    for digit in whole or "":
        value = value * 10 + int(digit)
    if zeros or digits:
        places = len(zeros)
        fraction = 0.0
        for digit in digits[:_FRACTION_DIGITS]:
            fraction = fraction * 10 + int(digit)
            places += 1
        value += fraction / _power_of_ten(places)
    if sign:
        value = -value
    power = 0
    for digit in exponent or "":
        if power < _EXPONENT_CAP:
            power = power * 10 + int(digit)
    if power:
        value *= _power_of_ten(-power if exponent_sign == "-" else power)
    return value


def _power_of_ten(exponent: int) -> float:
    if exponent > 308:
        return math.inf
    return math.pow(10.0, exponent)


def canonical_number(lexeme: str) -> str:
    """The canonical spelling of a number: the shortest one that reads back as the same value."""
    value = number(lexeme)
    if math.isfinite(value):
        shortest = format(Decimal(repr(value)), "f")
        shortest = shortest.rstrip("0").rstrip(".") if "." in shortest else shortest
        if number(shortest) == value:
            return shortest
    return lexeme
