"""The reader of the core against the XPath parser: the same text, plan and condition."""

from __future__ import annotations

import doctest
from random import Random

import pytest

from pathcast import Matcher
from pathcast.errors import SubscriptionError
from pathcast.matching.compiled.core import pattern_plans, pattern_reader
from pathcast.matching.compiled.core.labels import Vocabulary
from pathcast.matching.compiled.core.pattern_plans import PlannedReader
from pathcast.matching.encode import PlanEncoder
from pathcast.matching.plan import linear_path, plan
from pathcast.xpath import parse
from tests import generate
from tests.pools import Knobs

NAMESPACES = {"p": "urn:p", "q": "urn:q"}

SUPPORTED = """
/a
//a/b
a
@x
a | b
a or b
a and (b or c)
not(a)
(a | b) = 'x'
10 < a
count(//a) > 2
//a//@x
//*[@*]
//@x[. = 'v']
@xml:lang
p:a/@q:x
//p:*[@q:x = 'a'][.//q:b]
/a[c][b]/d
/a/b[1]/c[last()]
/a[b = 'x' or b = "y'"]
//a/./b
//a[./b]
//a[@x='1' and b>2]//c[2]
//a[not(b='x')]
//a[.//b[@q]]
//a[2][b]
//a[b][2]/c
//a[10.50<b]
a[-5<b]
a[b=-0]
a[ 3 = b ]
a[007 < b]
a[b|c='x']
a[contains(.,'k')]
a[contains(b/c,'k')]
a[starts-with(@x,'q')]
a[string-length(@x)>3]
a[string-length() > 2]
a[string-length(.)>2]
a[count(b)>=2]
a[position()<3]
a[position()=last()]
a[2=position()]
a[last()>2]
a[text()='x']/comment()
a[b[c[d]]]
a[b/c/d][e]
a[@x][@y]/b
a[. = 'x'][. = 'y']
a[b='1'][b='1']
a[not(not(b))]
a[b and (c or d)]
a[/b/c = 'é']
""".strip().splitlines()


def compare(reader: PlannedReader, text: str, namespaces: dict[str, str] | None) -> bool:
    """Compare the reader with the parser, if it accepts the text; return whether it does."""
    if not reader.read(text, namespaces):
        return False
    pattern = parse(text, namespaces)
    assert pattern.residual is None, text
    assert reader.text() == (pattern.text, pattern.namespaces), text
    assert reader.condition() == pattern.condition, text
    alternatives = plan(pattern.condition)
    encoder = PlanEncoder(reader.vocabulary)
    assert in_any_order(reader.plan()) == in_any_order(encoder.encode_plan(alternatives)), text
    path = linear_path(alternatives)
    assert reader.linear_path() == (None if path is None else encoder.encode_path(path)), text
    return True


def in_any_order(alternatives: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return a plan with the required paths of general alternatives as sets."""
    return [
        (form, set(codes) if form == "general" else codes)  # type: ignore[call-overload]
        for form, codes in alternatives
    ]


@pytest.mark.parametrize("module", [pattern_reader, pattern_plans])
def test_doctests(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_supported_texts() -> None:
    reader = PlannedReader(Vocabulary())
    assert [text for text in SUPPORTED if not compare(reader, text, NAMESPACES)] == []


KNOBS = {
    "tree patterns": Knobs(),
    "deep predicates": Knobs(relative=0.1, depth=4),
    "odd spelling": Knobs(residual=0.05, odd=0.4),
    "all of XPath": Knobs(residual=0.3),
}


@pytest.mark.parametrize("kind", KNOBS)
def test_random_expressions_equal_the_parser(kind: str, deep: bool) -> None:
    rng = Random(f"reader {kind}")
    reader = PlannedReader(Vocabulary())
    count = 100_000 if deep else 2_000
    accepted = sum(
        compare(reader, generate.expression(rng, KNOBS[kind]), generate.NAMESPACES)
        for _ in range(count)
    )
    assert accepted > count / 10


def test_damaged_texts_are_never_accepted_wrongly(deep: bool) -> None:
    """Texts with a character removed, doubled, replaced or swapped are mostly invalid."""
    rng = Random(5)
    reader = PlannedReader(Vocabulary())
    refused = 0
    for _ in range(200_000 if deep else 5_000):
        text = rng.choice(SUPPORTED)
        at = rng.randrange(len(text))
        damaged = rng.choice(
            (
                text[:at] + text[at + 1 :],
                text[:at] + rng.choice("/@.*[]()'\"|=<>!-,: aé1") + text[at:],
                text[:at] + rng.choice("/@.*[]()'\"|=<>!-,: aé1") + text[at + 1 :],
            )
        )
        try:
            parse(damaged, NAMESPACES)
        except SubscriptionError:
            refused += 1
            assert not reader.read(damaged, NAMESPACES), damaged
        else:
            compare(reader, damaged, NAMESPACES)
    assert refused > 1_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "/",
        "//.",
        "a[.]",
        "a[..]",
        "a[b/..]",
        "child::a",
        "a[1 = 1]",
        "a[b + 1]",
        "a[0]",
        "a[1.5]",
        "a[contains(., '')]",
        "a[contains(b, @c)]",
        "a[b = c]",
        "a[b < 'x']",
        "@x/b",
        "@x[b]",
        "processing-instruction()",
        "u:a",
        "a" + "[b" * 60 + "]" * 60,
        "a" * 2_000,
        "é",
        "a[. = '\x01']",
        "a[. = '\ufffe']",
        "a[. = '\ud800']",
    ],
)
def test_other_texts_are_left_to_the_parser(text: str) -> None:
    assert not PlannedReader(Vocabulary()).read(text, NAMESPACES)


def test_both_ways_of_adding_are_one_pattern() -> None:
    """`a[b][1 = 1]` goes through the parser, `a[b][c]` through the reader."""
    matcher = Matcher(engine="core")
    matcher.add(1, "a[b][c]")
    matcher.add(2, "a[b and c][1 = 1]")
    matcher.add(3, "//p:a[c]", {"p": "urn:p"})
    matcher.add(4, "//q:a/child::c", {"q": "urn:p"})
    assert matcher.stats().patterns == 2
    assert list(matcher.match(b"<a><b/><c/></a>")) == [1, 2]
