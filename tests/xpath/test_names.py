"""Names have the characters that libxml2 accepts in expressions, at every code point."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from lxml import etree

from pathcast import Matcher
from pathcast.errors import SubscriptionError
from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.xpath import parse
from pathcast.xpath.lexer import is_ncname
from tests.matching.engines import ENGINES

NAMESPACES = {"p": "urn:p"}
BASIC_PLANE = range(0x10000)
FIRST = "//{}"
LATER = "//a{}"
POSITIONS = (
    *(
        FIRST,
        LATER,
        "//@{}",
        "//@a{}",
        "//p:{}",
        "//p:a{}",
        "/{}/b",
        "/a{}/b",
        "//b[{}]",
        "//b[a{}]",
    ),
    *("//child::{}", "//child::p:{}", "a{}:b", "{}:b", "f{}()", "{}()", "//b[1{}]", "//b[.{}]"),
    *("//b[1.{}]", "//b[1e{}]", "1{}+ 1", "//child{}::b", "{}", "b[@{} = 'x']"),
)
NOT_SYNTAX = frozenset({"unknown-function", "undeclared-prefix", "arguments"})
"""Errors of names that were read: libxml2 reports them when it evaluates the expression."""
SYMBOLS = " \t\r\n/("
"""No characters of names; libxml2 also accepts `///b` and `a :b`."""


def libxml2_reads(text: str) -> bool:
    try:
        etree.XPath(text, namespaces=NAMESPACES)
    except (etree.XPathError, ValueError):  # ValueError: a character outside XML
        return False
    return True


def pathcast_reads(text: str) -> bool:
    try:
        parse(text, NAMESPACES)
    except SubscriptionError as error:
        return error.kind in NOT_SYNTAX
    return True


def boundaries(is_member: list[bool]) -> set[int]:
    """Return the code points on both sides of each change of membership."""
    changes = [code for code in range(1, len(is_member)) if is_member[code] != is_member[code - 1]]
    return {side for code in changes for side in (code - 1, code)}


def test_names_of_the_basic_plane_equal_those_of_libxml2() -> None:
    first = [libxml2_reads(FIRST.format(chr(code))) for code in BASIC_PLANE]
    later = [libxml2_reads(LATER.format(chr(code))) for code in BASIC_PLANE]
    differences = [
        hex(code)
        for code in BASIC_PLANE
        if chr(code) not in "*. \t\r\n"  # a wildcard, the context node, white space
        and (is_ncname(chr(code)), is_ncname(f"a{chr(code)}")) != (first[code], later[code])
    ]
    assert differences == []
    codes = sorted({*range(128), *boundaries(first), *boundaries(later), 0xFF11, 0x10000, 0x10FFFF})
    assert len(codes) > 900
    compare(codes, POSITIONS)


@pytest.mark.deep
def test_every_code_point_equals_libxml2() -> None:
    compare(range(0x110000), (FIRST, LATER, "//p:{}", "a{}:b", "f{}()", "//b[1{}]"))


def compare(codes: range | list[int], positions: Sequence[str]) -> None:
    differences = [
        (position, hex(code))
        for position in positions
        for code in codes
        if chr(code) not in SYMBOLS
        and pathcast_reads(position.format(chr(code))) != libxml2_reads(position.format(chr(code)))
    ]
    assert differences == []


def test_the_compiled_reader_accepts_no_other_names() -> None:
    """What it does not accept goes to the parser; names of ASCII letters must not."""
    paths = LinearPaths(Vocabulary())
    accepted = [
        text
        for position in POSITIONS
        for code in range(0x250)
        if paths.read(text := position.format(chr(code)))
    ]
    assert all(libxml2_reads(text) and pathcast_reads(text) for text in accepted)
    assert {"//a", "//_", "//a-", "//a9", "//@Z", "/a./b"} <= set(accepted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["//ſ", "//aſ", "//@ſ", "//a[１]", "//a１", "//\U00010000"])
def test_other_characters_are_refused_with_a_hint(engine: str, text: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        Matcher(engine=engine).add("x", text)  # type: ignore[arg-type]
    assert caught.value.kind == "syntax"
    assert caught.value.position is not None
    assert caught.value.hint is not None


def test_an_element_outside_these_names_is_selected_by_its_local_name() -> None:
    for engine in ENGINES:
        matcher = Matcher(engine=engine)
        matcher.add("x", "//*[local-name() = 'ſ']")
        assert list(matcher.match("<ſ/>")) == ["x"]
