"""Subscriptions from DTDs: satisfiable, with the properties of the options, reproducible.

The oracle for satisfiability is `pathcast.schema.satisfiable`, which does not depend on the
sampler. A yes comes with a document that lxml validates and libxml2 matches, a no with its reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.statistics import SubscriptionStatistics
from pathcast.generators.subscriptions import PredicateKinds, SubscriptionOptions, subscriptions
from pathcast.generators.subscriptions import stream as module
from pathcast.generators.values import ValueDomain
from pathcast.schema import Schema, parse_dtd, root_paths, satisfiable
from tests.dtds import random_dtd
from tests.generators.document_dtds import dtds

ALL_KINDS = PredicateKinds(attribute=1, value=1, position=1, existence=1)
RICH = SubscriptionOptions(
    branch=0.4, branches=4, predicate=0.7, predicates=2, kinds=ALL_KINDS, distinct=False
)


def figures(texts: list[str]) -> SubscriptionStatistics:
    statistics = SubscriptionStatistics()
    for text in texts:
        statistics.add(text)
    return statistics


def some(schema: Schema, options: SubscriptionOptions, count: int, seed: int = 1) -> list[str]:
    return list(subscriptions(schema, options, seed, count))


def possible(schema: Schema, options: SubscriptionOptions, count: int, seed: int) -> list[str]:
    """Return some, or none if there is no document or no place for a predicate."""
    try:
        return some(schema, options, count, seed)
    except WorkloadError as error:
        if error.kind in ("schema", "impossible"):
            return []
        raise


# satisfiable


@given(
    dtds(),
    st.builds(
        SubscriptionOptions,
        max_depth=st.integers(1, 7),
        full=st.booleans(),
        wildcard=st.sampled_from([0, 0.3]),
        descendant=st.sampled_from([0, 0.3]),
        relative=st.sampled_from([0, 0.3]),
        branch=st.sampled_from([0, 0.5, 1]),
        branches=st.integers(1, 4),
        branching=st.just("node"),
        predicate=st.sampled_from([0, 0, 1]),
        kinds=st.sampled_from([ALL_KINDS, PredicateKinds(position=1)]),
        theta=st.sampled_from([0, 1]),
        distinct=st.just(False),
    ),
    st.integers(0, 3),
)
def test_subscriptions_of_random_dtds_are_satisfiable(
    dtd: str, options: SubscriptionOptions, seed: int
) -> None:
    schema = parse_dtd(dtd, root="e0")
    for text in possible(schema, options, 4, seed):
        assert satisfiable(text, schema).answer is not False, text


def test_nearly_all_have_an_example_document(deep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FUTILE_DRAWS", 200)
    rng = Random(7)
    answers: Counter[bool | None] = Counter()
    for _ in range(2000 if deep else 150):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        for text in possible(schema, RICH, 3, rng.randrange(1000)):
            answer = satisfiable(text, schema)
            answers[answer.answer] += 1
            assert answer.answer is not False, (text, answer.reason, schema.text)
    assert answers[True] > 0.95 * answers.total() > 200


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_subscriptions_of_bundled_schemas_are_satisfiable(name: str, deep: bool) -> None:
    schema = bundled_schema(name)
    structural = replace(RICH, kinds=PredicateKinds(0, 0, position=1, existence=1))
    query = replace(structural, branching="query", branch=0.5, branches=3)
    count = 100 if deep else 6
    for options in (SubscriptionOptions(max_depth=8), structural, query):
        for text in some(schema, options, count):
            assert satisfiable(text, schema).answer, text
    for text in some(schema, RICH, count):  # an example with all values may not be found
        assert satisfiable(text, schema).answer is not False, text


@pytest.mark.parametrize("name", ["news", "bib", "auction"])
def test_linear_subscriptions_match_root_paths_of_the_schema(name: str) -> None:
    """Oracle: every linear subscription matches a chain that is a root path."""
    schema = bundled_schema(name)
    depth = 5
    chains = [etree.ElementTree(_chain(path)) for path in root_paths(schema, depth)]
    for text in some(schema, SubscriptionOptions(max_depth=depth), 150):
        compiled = etree.XPath(text)
        assert any(compiled(chain) for chain in chains), text


def _chain(path: tuple[str, ...]) -> etree._Element:
    root = etree.Element(path[0])
    last = root
    for name in path[1:]:
        last = etree.SubElement(last, name)
    return root


def test_names_with_a_prefix_become_wildcards() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (m:b | c)*> <!ELEMENT m:b (c?)> <!ELEMENT c EMPTY>"
        "<!ATTLIST a xmlns:m CDATA #FIXED 'urn:m' m:x CDATA #IMPLIED xml:lang CDATA #IMPLIED>"
    )
    for options in (SubscriptionOptions(wildcard=0), replace(RICH, wildcard=0)):
        texts = some(schema, replace(options, distinct=False), 200)
        assert all(":" not in text.replace("@xml:lang", "") for text in texts)
        assert any("*/c" in text for text in texts)


# as the options say


@pytest.mark.parametrize("plain", [True, False])  # the two samplers of linear paths
def test_shares_of_wildcards_and_descendants(plain: bool) -> None:
    options = SubscriptionOptions(
        max_depth=8, wildcard=0.3, descendant=0.1, distinct=False, predicate=0 if plain else 1e-9
    )
    statistics = figures(some(bundled_schema("news"), options, 8000))
    assert statistics.wildcards / statistics.steps == pytest.approx(0.3, abs=0.02)
    assert statistics.descendants / statistics.steps == pytest.approx(0.1, abs=0.02)


def test_both_samplers_of_linear_paths_agree() -> None:
    options = SubscriptionOptions(max_depth=7, min_depth=2, relative=0.1, distinct=False)
    other = replace(options, predicate=1e-9)
    depths, again = (
        figures(some(bundled_schema("news"), o, 8000)).depths for o in (options, other)
    )
    assert set(depths) == set(again) == set(range(2, 8))
    for depth in depths:
        assert depths[depth] / 8000 == pytest.approx(again[depth] / 8000, abs=0.02)


def test_depths_are_uniform_or_full() -> None:
    options = SubscriptionOptions(max_depth=6, wildcard=0, descendant=0, distinct=False)
    book = bundled_schema("book")
    spread = figures(some(book, options, 4000)).depths
    full = figures(some(book, replace(options, full=True), 4000)).depths
    assert spread[1] / 4000 == pytest.approx(1 / 6, abs=0.02)
    assert full[1] == 0  # a book has children
    exact = figures(some(book, replace(options, min_depth=6), 1000)).depths
    assert set(exact) == {6}


def test_min_depth_holds_with_descendant_steps() -> None:
    options = SubscriptionOptions(max_depth=9, min_depth=4, descendant=0.6, branch=0.2, full=True)
    assert min(figures(some(bundled_schema("news"), options, 2000)).depths) == 4
    assert min(figures(some(bundled_schema("news"), replace(options, branch=0), 2000)).depths) == 4


def test_relative_subscriptions_have_no_leading_slash() -> None:
    for options in (SubscriptionOptions(relative=0.25), replace(RICH, relative=0.25)):
        statistics = figures(some(bundled_schema("news"), replace(options, distinct=False), 4000))
        assert statistics.relative / 4000 == pytest.approx(0.25, abs=0.03)


def test_theta_prefers_children_named_first() -> None:
    schema = parse_dtd(f"<!ELEMENT r ({'|'.join('abcde')})>{''.join(map(_empty, 'abcde'))}")
    options = SubscriptionOptions(
        max_depth=2, min_depth=2, wildcard=0, descendant=0, distinct=False
    )
    counts = {
        theta: Counter(some(schema, replace(options, theta=theta), 6000)) for theta in (0.0, 1.0)
    }
    total = 1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5
    for rank, name in enumerate("abcde", 1):
        assert counts[0.0][f"/r/{name}"] / 6000 == pytest.approx(1 / 5, abs=0.02)
        assert counts[1.0][f"/r/{name}"] / 6000 == pytest.approx(1 / rank / total, abs=0.02)


def _empty(name: str) -> str:
    return f"<!ELEMENT {name} EMPTY>"


@pytest.mark.parametrize("branches", [2, 3, 4])
def test_a_query_has_exactly_its_branches(branches: int) -> None:
    options = SubscriptionOptions(branch=1, branches=branches, branching="query", max_depth=6)
    for text in some(bundled_schema("news"), options, 200):
        assert _paths(text) == branches, text


def test_branch_probability_per_query() -> None:
    options = SubscriptionOptions(branch=0.3, branching="query", max_depth=6, min_depth=3)
    statistics = figures(some(bundled_schema("news"), replace(options, distinct=False), 3000))
    assert statistics.branched / 3000 == pytest.approx(0.3, abs=0.03)


def test_branch_probability_per_node() -> None:
    """On chains of four names with room for two of each, three nodes may branch, each with p."""
    names = "abcd"
    schema = parse_dtd(
        "".join(
            f"<!ELEMENT {n} ({m}*, {m}x?)><!ELEMENT {m}x EMPTY>"
            for n, m in zip("abc", "bcd", strict=True)
        )
        + _empty("d")
    )
    options = SubscriptionOptions(
        max_depth=4, min_depth=4, wildcard=0, descendant=0, branch=0.2, branches=100, distinct=False
    )
    texts = some(schema, options, 4000)
    forked = sum(_forks(text, name) for text in texts for name in names[:3])
    assert 0.15 < forked / (3 * 4000) < 0.25


def _paths(text: str) -> int:
    """Return the root-to-leaf paths: every branch in brackets, and the path itself."""
    return 1 + text.count("[")


def _forks(text: str, name: str) -> bool:
    return f"/{name}[" in text


def test_number_and_kinds_of_predicates() -> None:
    options = SubscriptionOptions(predicate=0.5, predicates=2, distinct=False)
    statistics = figures(some(bundled_schema("news"), options, 3000))
    assert statistics.predicated / 3000 == pytest.approx(0.5, abs=0.03)
    assert statistics.predicates == 2 * statistics.predicated
    for only, sign in (
        (PredicateKinds(1, 0), "[@"),
        (PredicateKinds(0, 1), "[text()"),
        (PredicateKinds(0, 0, existence=1), "[@"),
    ):
        for text in some(bundled_schema("news"), replace(options, kinds=only, predicate=1), 50):
            assert text.count("[") == text.count(sign) == 2
            assert not only.existence or " " not in text
    for text in some(
        bundled_schema("news"),
        replace(options, kinds=PredicateKinds(0, 0, position=1), predicate=1),
        50,
    ):
        assert not set(text) & set("@('")


def test_predicates_use_satisfiable_attributes_only() -> None:
    """No entity, no reference without an ID to refer to, no comparison of an ID with a number."""
    declared = (
        "a CDATA #IMPLIED  b NMTOKEN #REQUIRED  c NMTOKENS 'x'  d ID #IMPLIED  e IDREF #IMPLIED"
        "  f IDREFS #IMPLIED g ENTITY #IMPLIED  h ENTITIES #IMPLIED  i (u | v) #IMPLIED"
        "  j CDATA #FIXED 'it''s'  k CDATA #FIXED '7'"
        " xmlns CDATA #IMPLIED  xmlns:p CDATA #IMPLIED  p:q CDATA #IMPLIED  xml:lang CDATA #IMPLIED"
    ).replace("'it''s'", '"it&apos;s"')
    schema = parse_dtd(
        f"<!ELEMENT r (s)> <!ELEMENT s EMPTY> <!ATTLIST r {declared}>"
        "<!ATTLIST s e IDREF #IMPLIED n NOTATION (gif) #IMPLIED><!NOTATION gif SYSTEM 'g'>"
    )
    options = SubscriptionOptions(max_depth=1, wildcard=0, descendant=0, predicate=1)
    present = replace(options, kinds=PredicateKinds(0, 0, existence=1))
    assert {text[4:-1] for text in subscriptions(schema, present, 1)} == {
        *"abcdefijk",
        "xml:lang",
    }
    compared = replace(
        options, kinds=PredicateKinds(1, 0, values=ValueDomain(high=1), operators=("<",))
    )
    assert {text[3:-1] for text in subscriptions(schema, compared, 1)} == {
        *(f"@{name} < 1" for name in ("a", "b", "c", "xml:lang")),
        "@i = 'u'",
        "@i = 'v'",
        '@j = "it\'s"',
        "@k = '7'",
    }
    deeper = replace(present, max_depth=2)
    assert not any("/s[" in text for text in subscriptions(schema, deeper, 1))


def test_branches_never_compete_for_one_position() -> None:
    """Each b has a c or a d, so /a[b[1]/c]/b[1]/d is unsatisfiable, though there may be two b."""
    schema = parse_dtd(
        "<!ELEMENT a (b, b)> <!ELEMENT b (c | d)> <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>"
    )
    options = SubscriptionOptions(
        min_depth=3, max_depth=3, wildcard=0, descendant=0, branch=1, predicate=1, predicates=2
    )
    for text in subscriptions(schema, replace(options, kinds=PredicateKinds(0, 0, 1)), 1):
        assert satisfiable(text, schema).answer, text


def test_operands_are_from_the_domain() -> None:
    kinds = PredicateKinds(attribute=0, values=ValueDomain(low=5, high=7), operators=("=", ">="))
    texts = some(
        bundled_schema("bib"), SubscriptionOptions(predicate=1, kinds=kinds, distinct=False), 300
    )
    ends = Counter(text[text.index("text()") :].split("]")[0] for text in texts)
    assert set(ends) == {f"text() {op} {n}" for op in ("=", ">=") for n in (5, 6, 7)}
    words = PredicateKinds(values=ValueDomain(kind="words", vocabulary=("sun", "it's")))
    texts = some(
        bundled_schema("bib"), SubscriptionOptions(predicate=1, kinds=words, distinct=False), 300
    )
    assert {"'sun'", '"it\'s"'} == {text[text.index(" = ") + 3 :].split("]")[0] for text in texts}
