"""Conversion of strings to numbers exactly as libxml2 does it.

libxml2 converts digit by digit: the integer part, then at most twenty significant digits of
fraction divided by a power of ten. It accepts an exponent. The result may differ in the last bit
from Python's correctly rounded `float()`, and a comparison would show it. So this module takes the
same steps.

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

# Possessive quantifiers: text from documents must not cause backtracking.
_NUMBER = re.compile(
    r"[ \t\r\n]*+(-?)(?:([0-9]++)(?:\.(0*+)([0-9]*+))?+|\.(0*+)([0-9]*+))"
    r"(?:[eE]([-+]?)([0-9]*+))?+[ \t\r\n]*+\Z"
)
_SHORT_INTEGER = re.compile(r"-?[0-9]{1,15}\Z")
_FRACTION_DIGITS = 20
_MAX_EXPONENT = 1_000_000


def number(text: str) -> float:
    """Return XPath's number() of a string; NaN if it is not a number."""
    if _SHORT_INTEGER.match(text):  # up to 15 digits are exact in a double
        return float(text)
    parsed = _NUMBER.match(text)
    if parsed is None:
        return math.nan
    (
        sign,
        integer,
        zeros,
        digits,
        bare_zeros,
        bare_digits,
        exponent_sign,
        exponent,
    ) = parsed.groups()
    if integer is None:
        zeros, digits = bare_zeros, bare_digits
        if not zeros and not digits:
            return math.nan
    value = 0.0
    for digit in integer or "":
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
        if power < _MAX_EXPONENT:
            power = power * 10 + int(digit)
    if power:
        value *= _power_of_ten(-power if exponent_sign == "-" else power)
    return value


def _power_of_ten(exponent: int) -> float:
    if exponent > 308:
        return math.inf
    return math.pow(10.0, exponent)


def canonical_number(lexeme: str) -> str:
    """Return the shortest spelling that converts to the same value."""
    value = number(lexeme)
    if math.isfinite(value):
        shortest = format(Decimal(repr(value)), "f")
        shortest = shortest.rstrip("0").rstrip(".") if "." in shortest else shortest
        if number(shortest) == value:
            return shortest
    return lexeme
