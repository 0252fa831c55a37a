"""The compiled number parser yields the same bits as the plain one, for any text."""

from __future__ import annotations

import struct
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pathcast.matching.compiled.core import numbers as core
from pathcast.xpath.numbers import number

SPACES = st.text(" \t\r\n", max_size=3)
ODD_SPACES = st.text(" \t\r\n\v\f\x00\x1c\x85\xa0\u2003\u3000\ufeff", max_size=3)
DIGITS = st.text("0123456789", max_size=30)
CORNERS = """
|-|.|-.|..|-.e|e5|.e5|5.|-5.|.5|-.5|0|-0|-0.0|00|+1|--1|- 1|1-|1e|1e+|1e-|1e+-1|1E5|1e5.|1e 5|1 e5
|1e0|1e-0|1e308|1e309|-1e309|1e-308|1e-323|1e-324|1e-400|0e999|0e-999|-0e9|1e999999|1e1000000|1e9999999
|1e-99999999999999999999|.1e1000000|0x10|1_000|1,5|Infinity|NaN|inf|nan|1d|0.1|0.2|0.3|1.1|123456789.987654321
|999999999999999|9999999999999999|9007199254740993|-9007199254740993|18446744073709551616|1..2|1.2.3|.0|0.|00.00
|.00000000000000000000000000001|0.123456789012345678901234567890|3.14159265358979323846264338327950288
""".replace("\n", "").split("|")


def bits(value: float) -> bytes:
    return b"nan" if value != value else struct.pack("<d", value)


def check_same_bits(text: str) -> None:
    assert bits(core.number(text)) == bits(number(text)), text


@pytest.mark.parametrize("text", CORNERS)
def test_corners(text: str) -> None:
    for before in ("", " ", "\n\t", "\xa0", "\x00"):
        for behind in ("", " ", "\r\n", "\u2003", "\x00", "x"):
            check_same_bits(before + text + behind)


@pytest.mark.parametrize("length", [15, 16, 17, 19, 20, 21, 22, 40, 307, 308, 309, 310, 400, 2000])
def test_long(length: int) -> None:
    rng = Random(length)
    for _ in range(50):
        run = "".join(rng.choices("0123456789", k=length))
        for text in (
            run,
            f"-{run}",
            f".{run}",
            f"{run}.{run}",
            f"{run}e-{length}",
            f".{run}e{length}",
        ):
            check_same_bits(text)
        check_same_bits("0" * length + run)
        check_same_bits("." + "0" * length + run)
        check_same_bits("1." + "0" * length + run + f"e{length}")


@given(SPACES | ODD_SPACES, st.sampled_from(["", "-", "+"]), DIGITS, st.none() | DIGITS, SPACES)
def test_decimals(before: str, sign: str, integer: str, fraction: str | None, behind: str) -> None:
    check_same_bits(before + sign + integer + ("" if fraction is None else f".{fraction}") + behind)


@given(
    st.from_regex(r"-?[0-9]{0,25}(\.0{0,330}[0-9]{0,25})?", fullmatch=True),
    st.from_regex(r"[eE][-+]?[0-9]{0,9}", fullmatch=True),
)
def test_exponents(mantissa: str, exponent: str) -> None:
    check_same_bits(mantissa + exponent)


@given(st.floats())
def test_every_double(value: float) -> None:
    check_same_bits(repr(value))
    check_same_bits(f"{value:.25f}")
    check_same_bits(f"{value:.17e}")


@given(st.text("-+.eE0123456789 \t\n\x00٣²Ⅷ١𝟗", max_size=12))
def test_near_numbers(text: str) -> None:
    check_same_bits(text)


@given(st.text(st.characters()))
@example("\ud800")
@example("1\udfff")
def test_any_text(text: str) -> None:
    check_same_bits(text)
