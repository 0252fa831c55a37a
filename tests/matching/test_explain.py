"""Tests of explanations: the nodes of a match, or the reason of a failure with hints."""

from __future__ import annotations

import pytest
from hypothesis import given

from pathcast.errors import SubscriptionError
from pathcast.matching import explain
from pathcast.matching.matcher import Matcher
from tests.generate import NAMESPACES
from tests.oracle import oracle
from tests.strategies import documents, expressions

NEWS = b"""<news xmlns:m="urn:m">
  <item lang="en" id="1">
    <title>Rain</title>
    <body>Some <b>rain</b>.</body>
  </item>
  <item id="2">
    <title>Sun</title>
    <m:rating>4</m:rating>
  </item>
</news>"""


def lines(text: str, body: bytes = NEWS, **namespaces: str) -> list[str]:
    return str(explain(text, body, namespaces)).splitlines()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "//item/title",
            ["line 3: /news/item[1]/title  'Rain'", "line 7: /news/item[2]/title  'Sun'"],
        ),
        ("//item[title = 'Sun']", ["line 6: /news/item[2]  'Sun 4'"]),
        ("//@lang", ["line 2: /news/item[1]/@lang  'en'"]),
        ("//b/text()", ["line 4: /news/item[1]/body/b/text()  'rain'"]),
        ("//m:rating", ["line 8: /news/item[2]/m:rating  '4'"]),
        ("not(//x)", ["not(//x) is true"]),
        ("//title | //b", None),
    ],
)
def test_match_lists_its_nodes(text: str, expected: list[str] | None) -> None:
    output = lines(text, m="urn:m")
    assert output[0] == "match"
    if expected is not None:
        assert [line.strip() for line in output[1:]] == expected
    else:
        assert len(output) == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/news/itm/title", "step 2, /itm: /news (line 1) has no child 'itm'"),
        ("//item[@lang = 'de']", "found 'en' (line 2)"),
        ("//item[3]", "step 1, //item: [position() = 3] failed (there were 2)"),
        ("//item[title = 'Fog']/body", "[. = 'Fog'] failed, found 'Rain' (line 3), 'Sun' (line 7)"),
        ("//item[not(title)]", "[not(title)] failed: there is /news/item[1]/title (line 3)"),
        ("count(//item) > 5", "[count(//item) > 5] failed, counted 2"),
        ("contains(//title, 'Sun')", "found 'Rain'"),
        (
            "//item/title/preceding::x",
            "step 3, /preceding::x: /news/item[1]/title (line 3) and 1 more",
        ),
        ("//item[@id * 2 = 5]", "[@id * 2 = 5] failed, found 2.0 (line 2), 4.0 (line 6)"),
    ],
)
def test_failure_names_the_step_or_predicate(text: str, reason: str) -> None:
    explanation = explain(text, NEWS)
    assert not explanation.matched
    assert any(reason in given for given in explanation.reasons), explanation.reasons


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("/news/itm", "no 'itm'; did you mean 'item'?"),
        ("/news/title", "there is a 'title' elsewhere: line 3"),
        (
            "//rating",
            "'rating' is in namespace 'urn:m': declare a prefix for it and write p:rating",
        ),
        ("//item/@lnag", "no 'lnag'; did you mean 'lang'?"),
        ("//item[lang = 'en']", "there is an attribute 'lang': write @lang"),
        ("//item/@title", "there is an element 'title': write title"),
        ("//item[title = 'Rain '] | //item[@id = en]", "en is a name: for the string write 'en'"),
        ("//item[0]", None),
        ("//body = 'Some  rain .'", None),
    ],
)
def test_hints_for_common_mistakes(text: str, hint: str | None) -> None:
    hints = explain(text, NEWS).hints
    if hint is not None:
        assert hint in hints
    else:
        assert not any("did you mean" in given for given in hints)


def test_values_are_quoted_verbatim() -> None:
    explanation = explain("//t = 'x'", b"<r><t> x </t></r>")
    assert "found ' x '" in explanation.reasons[0]
    assert explanation.hints == ("there is white space around it: compare normalize-space(.)",)
    assert explain("//q > 9", b"<r><q>1,200</q></r>").hints == ("'1,200' is not a number",)
    assert explain("//t[0]", b"<t/>").reasons == ("no document can match it",)
    other = explain("//p:e", b"<e xmlns='urn:Atom'/>", {"p": "urn:atom"})
    assert other.hints == ("'e' is in namespace 'urn:Atom', not in 'urn:atom'",)


def test_hint_at_the_default_namespace() -> None:
    body = b"<feed xmlns='http://www.w3.org/2005/Atom'><title/></feed>"
    (hint,) = explain("/feed/title", body).hints
    assert hint == (
        "'feed' is in the document's default namespace 'http://www.w3.org/2005/Atom': "
        "declare a prefix for it and write p:feed"
    )
    named = explain("/feed", body, {"atom": "http://www.w3.org/2005/Atom"})
    assert "write atom:feed" in named.hints[0]


def test_expensive_expressions_need_permission() -> None:
    with pytest.raises(SubscriptionError) as caught:
        explain("//item[//b = //title]", NEWS)
    assert caught.value.kind == "expensive"
    assert not explain("//item[//b = //title]", NEWS, allow_expensive=True).matched
    assert not explain(
        "//item[//x = //title]", NEWS
    ).matched  # the skeleton fails, libxml2 is not needed


def test_explanation_as_json() -> None:
    explanation = Matcher().explain("//b", NEWS).as_dict()
    assert explanation["matched"] is True
    assert explanation["nodes"] == [{"path": "/news/item[1]/body/b", "line": 4, "text": "rain"}]


@given(expressions(), documents())
def test_explanations_equal_the_oracle_and_are_never_empty(text: str, body: bytes) -> None:
    explanation = explain(text, body, NAMESPACES, allow_expensive=True)
    assert explanation.matched is oracle(text, NAMESPACES, body)
    assert explanation.nodes or explanation.reasons


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("/news/itm/title", "step 2, /itm: no child 'itm'"),
        ("//item[3]", "step 1, //item: [position() = 3] failed"),
        ("count(//item) > 5", "[count(//item) > 5] failed"),
        ("//item[not(title)]", "step 1, //item: [not(title)] failed"),
        ("contains(//title, 'Sun')", "[contains(//title, 'Sun')] failed"),
        ("//item[@id * 2 = 5]", "//item: [@id * 2 = 5] failed"),
        (
            "//item[@id * 2 = 2]/following-sibling::x[1]",
            "step 2, /following-sibling::x: no following sibling 'x'",
        ),
        ("//item[0]", "no document can match it"),
        ("1 + 1 = 3 * count(//item)", "1 + 1 = 3 * count(//item) is false"),
    ],
)
def test_failures_have_no_nodes_and_no_values(text: str, failure: str) -> None:
    assert explain(text, NEWS).failures == (failure,)


@given(expressions(), documents())
def test_failures_do_not_depend_on_lines(text: str, body: bytes) -> None:
    explanation = explain(text, body, NAMESPACES, allow_expensive=True)
    assert len(explanation.failures) == (0 if explanation.matched else len(explanation.reasons))
    assert bool(explanation.failures) is not explanation.matched
    moved = explain(text, b"\n\n" + body, NAMESPACES, allow_expensive=True)
    assert moved.failures == explanation.failures
