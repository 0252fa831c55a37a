"""Corner cases of matching, each compared with libxml2: past defects and likely ones."""

from __future__ import annotations

import pytest

from pathcast.errors import SubscriptionError
from pathcast.matching import explain
from pathcast.matching.engine import EngineName
from pathcast.matching.matcher import Matcher
from pathcast.xpath import parse
from tests.matching.engines import each_engine
from tests.oracle import oracle
from tests.runner import InlineRunner

PAIRS = [
    ("//a[b = -(-5)]", "<r><a><b>5</b></a></r>"),
    ("-(-5) = 5", "<r/>"),
    ("//a[-(-1)]", "<r><a/></r>"),
    ("//a[- -1]", "<r><a/></r>"),
    ("-(- -2) > 1", "<r/>"),
    ("(/) or //a[b + 1 > 0]", "<r/>"),
    ("(/) and //a[b + 1 > 0]", "<r><a><b>5</b></a></r>"),
    ("(/) * 2 = 10", "<r>5</r>"),
    ("//a[(/) mod 2 = 1]", "<r><a>5</a></r>"),
    ("(//x = 1) + 1 > 0", "<r/>"),
    ("number(//x or //y) = 0", "<r/>"),
    ("-(//x or //y) = 0", "<r/>"),
    ("//a[(zz = 1) + 1 > 0]", "<r><a/></r>"),
    ("//@x/ancestor-or-self::node()[. = 5]", "<r x='5'/>"),
    ("//@x[ancestor-or-self::node()[. = 5]]", "<r x='5'/>"),
    ("//processing-instruction('i')", "<r><?i z?></r>"),
    ("//processing-instruction(' i')", "<r><?i z?></r>"),
    ("//processing-instruction('')", "<r><?i z?></r>"),
    ("0e400", "<r/>"),
    ("not(0e400)", "<r/>"),
    ("//a[not(position() < 0e400)]", "<r><a/></r>"),
    ("//a[not(last() >= 0e400)]", "<r><a/></r>"),
    ("//a[not(count(b) < 0e400)]", "<r><a/></r>"),
    ("//a[. = 0e400]", "<r><a>5</a></r>"),
    ("//a[. != 0e400]", "<r><a>5</a></r>"),
    ("//a[. < 0e400]", "<r><a>5</a></r>"),
    ("//a[b >= 0e400][. = 5]", "<r><a><b>5</b></a></r>"),
    ("/b/.. > 0", "<b>5</b>"),
    ("/self::node()[. = 6 or not(a)]", "<b><a/></b>"),
    ("/a[parent::d]", "<a><d/></a>"),
    ("//@x[descendant-or-self::node()[. = 5]]", "<r x='5'/>"),
    ("//@x[descendant-or-self::node() = 5 or b]", "<r x='5'/>"),
    ("//a[.. and position() = 2]", "<r><a/><a/></r>"),
    ("//a[count(following-sibling::*[1][self::a]) + 0 = 1]", "<r><a/><a/></r>"),
    ("//a[following-sibling::*[1][last()][. + 0 = 5]]", "<r><a/><a>5</a></r>"),
]


@each_engine
@pytest.mark.parametrize(("text", "body"), PAIRS)
def test_corner_case_equals_libxml2(text: str, body: str, engine: EngineName) -> None:
    matcher = Matcher(runner=InlineRunner(), engine=engine)
    matcher.add(1, text, allow_expensive=True)
    expected = oracle(text, None, body.encode())
    assert (1 in matcher.match(body.encode())) is expected
    pattern = parse(text)
    assert parse(pattern.text, dict(pattern.namespaces)) == pattern
    assert oracle(pattern.text, None, body.encode()) is expected
    assert explain(text, body.encode(), allow_expensive=True).matched is expected


@each_engine
def test_corner_cases_in_one_matcher_equal_libxml2(engine: EngineName) -> None:
    """Sharing between subscriptions must not change a result."""
    matcher = Matcher(runner=InlineRunner(), engine=engine)
    for number, (text, _) in enumerate(PAIRS):
        matcher.add(number, text, allow_expensive=True)
    for body in {body.encode() for _, body in PAIRS}:
        expected = [number for number, (text, _) in enumerate(PAIRS) if oracle(text, None, body)]
        assert list(matcher.match(body)) == expected


@each_engine
@pytest.mark.parametrize(
    ("text", "namespaces", "kind"),
    [
        ("//a[normalize-space(b) = '\x01']", None, "syntax"),
        ("//a[normalize-space(b) = '\ud800']", None, "syntax"),
        ("//p:a[b + 1 > 0]", {"p": "a\x00b"}, "namespace"),
        ("//p:a", {None: "x"}, "namespace"),
        ("//p:a", {"p": 5}, "namespace"),
        ("//p:a", {"p": ""}, "namespace"),
        ("//@xml:lang", {"xml": "urn:x"}, "namespace"),
    ],
)
def test_invalid_subscriptions_are_refused_by_kind(
    text: str, namespaces: dict[str, str] | None, kind: str, engine: EngineName
) -> None:
    matcher = Matcher(engine=engine)
    with pytest.raises(SubscriptionError) as caught:
        matcher.add(1, text, namespaces)
    assert caught.value.kind == kind
    assert len(matcher) == 0
    assert matcher.stats().states == 1


@each_engine
def test_ids_of_every_type(engine: EngineName) -> None:
    class Name(str):
        __slots__ = ()

    matcher = Matcher(engine=engine)
    matcher.add(Name("z"), "//a")
    matcher.add(1, "//a")
    matcher.add("1", "//a")
    huge = 10**5000
    matcher.add(huge, "//a")
    matches = matcher.match(b"<a/>")
    assert "z" in matches
    assert Name("z") in matches
    assert 1 in matches
    assert "1" in matches
    assert True not in matches
    assert 2 not in matches
    assert list(matches.numbers) == [0, 1, 2, 3]
    assert "Matches" in repr(matches)
    for duplicate in (Name("z"), "z", 1, huge):
        with pytest.raises(SubscriptionError) as caught:
            matcher.add(duplicate, "//b")
        assert caught.value.kind == "duplicate-id"
        assert "already" in str(caught.value)
    for invalid in (True, None, 1.5, b"x"):
        with pytest.raises(SubscriptionError) as caught:
            matcher.add(invalid, "//b")  # type: ignore[arg-type]
        assert caught.value.kind == "id"
    with pytest.raises(KeyError):
        matcher.remove("unknown")


@pytest.mark.parametrize("expression", [None, 5, b"//a"])
def test_an_expression_is_a_string(expression: object) -> None:
    with pytest.raises(TypeError):
        parse(expression)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "//a[namespace::* = 'q']",
        "//a[comment() = @x]",
        "//r[processing-instruction() = 3 + 1]",
        "//comment()[. + 1 > 0]",
        "//@x[. + 1 > 0]",
        "//text()[. + 1 > 0]",
        "//namespace::*",
        "//a[position() + 0 = 5]",
        "descendant::a[2][. = 5]",
        "count(//a) * 2 = 5",
    ],
)
def test_explain_locates_all_kinds_of_nodes(text: str) -> None:
    body = b"<r>\n\n<a x='1'>5<!--c-->t</a><?i z?><a/></r>"
    explanation = explain(text, body, allow_expensive=True)
    assert explanation.matched is oracle(text, None, body)
    assert explanation.nodes or explanation.reasons
    if text.startswith(("//@x", "//text")):
        assert explanation.nodes[0].line == 3
