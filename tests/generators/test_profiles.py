"""Disjoint profiles: no document matches two different ones."""

from __future__ import annotations

import pytest

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.generators.subscriptions.profiles import single_value_template
from pathcast.generators.values import ValueDomain
from pathcast.matching import Matcher
from pathcast.schema import parse_dtd


@pytest.mark.parametrize(
    "name", ["news", "protein", "book", "auction", "alert", "weather", "stock", "invoice"]
)
def test_a_document_matches_one_profile_at_most(name: str) -> None:
    schema = bundled_schema(name)
    options = SubscriptionOptions(disjoint=5)
    texts = list(subscriptions(schema, options, 1))
    assert len(texts) == 5
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    documents = Documents(schema, DocumentOptions(values=ValueDomain(high=5)), 1)
    counts = [len(matcher.match(documents[number])) for number in range(60)]
    assert max(counts) == 1


def test_every_document_matches_one_where_the_value_is_required() -> None:
    texts = list(subscriptions(bundled_schema("weather"), SubscriptionOptions(disjoint=7), 1, 7))
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    documents = Documents(bundled_schema("weather"), DocumentOptions(values=ValueDomain(high=7)), 1)
    assert all(len(matcher.match(documents[number])) == 1 for number in range(30))


@pytest.mark.parametrize(
    ("dtd", "expected"),
    [
        ("<!ELEMENT a (b, c)><!ELEMENT b (#PCDATA)><!ELEMENT c EMPTY>", "/a/b[. = {}]"),
        ("<!ELEMENT a (b?, c)><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA)>", "/a/c[. = {}]"),
        ("<!ELEMENT a (b?)><!ELEMENT b (#PCDATA)>", "/a/b[. = {}]"),
        (
            "<!ELEMENT a (b)><!ELEMENT b (#PCDATA)><!ATTLIST a x CDATA #IMPLIED y ID #IMPLIED>",
            "/a/b[. = {}]",
        ),
        ("<!ELEMENT a (b*)><!ELEMENT b EMPTY><!ATTLIST a x CDATA #IMPLIED>", "/a[@x = {}]"),
        (
            "<!ELEMENT a (b | c)><!ELEMENT b EMPTY><!ELEMENT c (d)><!ELEMENT d (#PCDATA)>",
            "/a/c/d[. = {}]",
        ),
    ],
)
def test_the_value_that_profiles_compare(dtd: str, expected: str) -> None:
    assert single_value_template(parse_dtd(dtd)) == expected


@pytest.mark.parametrize(
    ("dtd", "message"),
    [
        ("<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)>", "only once"),
        ("<!ELEMENT a (#PCDATA)><!ELEMENT b (#PCDATA)>", "2 roots"),
        ("<!ELEMENT a (#PCDATA | b)*><!ELEMENT b (#PCDATA)>", "only once"),
    ],
)
def test_schemas_without_a_single_value_are_rejected(dtd: str, message: str) -> None:
    with pytest.raises(WorkloadError, match=message) as caught:
        subscriptions(parse_dtd(dtd), SubscriptionOptions(disjoint=2), 1, 1).__next__()
    assert caught.value.kind == "disjoint"
