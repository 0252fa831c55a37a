"""Names that no document has: the reasons are right, and finding them takes bounded work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.documents import parse
from pathcast.matching import NameCensus
from pathcast.matching.name_census import SAMPLING_STEP, SETTLED_DOCUMENTS
from tests import strategies
from tests.generate import NAMESPACES
from tests.oracle import oracle

BODY = b"""<feed xmlns='urn:atom' xmlns:x='urn:x'>
<entry id='7' x:lang='en'><title/></entry><plain xmlns=''><body/></plain></feed>"""


@given(strategies.expressions(), st.lists(strategies.documents(), min_size=1, max_size=4))
def test_a_subscription_with_a_reason_matches_no_document(text: str, bodies: list[bytes]) -> None:
    census = NameCensus()
    for body in bodies:
        census.add(body)
    if census.explain(text, NAMESPACES) is not None:
        assert not any(oracle(text, NAMESPACES, body) for body in bodies)


@given(strategies.documents())
def test_names_equal_those_of_the_parsed_document(body: bytes) -> None:
    census = NameCensus()
    census.add(body)
    document = parse(body)
    assert set(census.elements) == set(document.elements)
    assert set(census.attributes) == set(document.attributes)


@pytest.mark.parametrize(
    ("xpath", "reason"),
    [
        ("//entry", "no element 'entry'; 'entry' is in namespace 'urn:atom': declare a prefix"),
        ("//y:entry", "no element 'entry'; 'entry' is in namespace 'urn:atom', not in 'urn:y'"),
        ("//a:body", "no element 'body'; 'body' is there in no namespace: write it without"),
        ("//a:entry/@idd", "no attribute 'idd'; did you mean 'id'?"),
        ("//boddy", "no element 'boddy'; did you mean 'body'?"),
        ("//id", "no element 'id'; there is an attribute 'id': write @id"),
        ("//@body", "no attribute 'body'; there is an element 'body': write body"),
        ("//xyzzy", "no element 'xyzzy'"),
        ("//y:*", "no element in namespace 'urn:y'"),
        ("//@a:*", "no attribute in namespace 'urn:atom'"),
        ("//a:entry[xyzzy]", "no element 'xyzzy'"),
        ("//a:entry[a:title and xyzzy]", "no element 'xyzzy'"),
        ("//xyzzy | //yzzyx", "no element 'xyzzy'"),
        ("//xyzzy[number(.) * 2 = 4]", "no element 'xyzzy'"),
    ],
)
def test_reasons(xpath: str, reason: str) -> None:
    census = NameCensus()
    census.add(BODY)
    explanation = census.explain(xpath, {"a": "urn:atom", "y": "urn:y"})
    assert explanation is not None
    assert explanation.startswith(reason)


@pytest.mark.parametrize(
    "xpath",
    [
        "//body/plain",
        "//body | //xyzzy",
        "//body[not(xyzzy)]",
        "//body[plain or xyzzy]",
        "count(//xyzzy) = 1",
        "//*",
        "//comment()",
        "//a:*/@x:*",
    ],
)
def test_no_reason_where_all_names_occur(xpath: str) -> None:
    census = NameCensus()
    census.add(BODY)
    assert census.explain(xpath, {"a": "urn:atom", "x": "urn:x"}) is None


def test_settled_names_are_sampled() -> None:
    census = NameCensus()
    for _ in range(SETTLED_DOCUMENTS + 1):
        census.add(b"<a/>")
    assert census.documents == SETTLED_DOCUMENTS + 1
    for _ in range(50 * SAMPLING_STEP):
        census.add(b"<a/>")
    assert census.documents == SETTLED_DOCUMENTS + 1 + 50
    for _ in range(SAMPLING_STEP):
        census.add(b"<b/>")
    examined = census.documents
    for _ in range(SETTLED_DOCUMENTS // 2):
        census.add(b"<a/>")
    assert census.documents == examined + SETTLED_DOCUMENTS // 2, "after a new name, all again"
