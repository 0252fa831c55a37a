"""Indexes and aggregates against the definition of covering, after any sequence of changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.budget import WorkBudget
from pathcast.covering import containment
from pathcast.covering.aggregate import Aggregate
from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.encode import TwigEncoder
from pathcast.covering.homomorphism import Implications, has_homomorphism, relax_trailing_wildcards
from pathcast.covering.index_registry import (
    INDEXES,
    CoveringIndex,
    IndexFactory,
    PatternIndex,
    factorization_index,
    feature_index,
    region_index,
    scan_index,
)
from pathcast.covering.published_indexes.factorization_search import FactorizationIndex
from pathcast.covering.published_indexes.subscription_tree import SubscriptionTree
from pathcast.covering.to_twigs import to_twigs
from pathcast.covering.twig import Twig, TwigNode
from pathcast.errors import SubscriptionError
from pathcast.xpath import Pattern, parse
from tests import strategies
from tests.covering.patterns import paths, twigs
from tests.generate import NAMESPACES


def pure_walk(labels: LabelTable) -> CoveringIndex:
    """Return a tree without direct tests, which would replace the search of small sets."""
    return factorization_index(labels, scan_limit=0)


def pure_regions(labels: LabelTable) -> CoveringIndex:
    return region_index(labels, scan_limit=0)


def mixed_regions(labels: LabelTable) -> CoveringIndex:
    return region_index(labels, scan_limit=2)


FACTORIES: list[IndexFactory] = [
    scan_index,
    feature_index,
    pure_walk,
    pure_regions,
    mixed_regions,
    SubscriptionTree,
]
all_indexes = pytest.mark.parametrize("factory", FACTORIES, ids=lambda made: made.__name__)


def covers(wide: Pattern, narrow: Pattern) -> bool:
    """Decide the relation of all indexes straight from its definition."""
    wide_twigs, narrow_twigs = (
        [relax_trailing_wildcards(twig) for twig in to_twigs(pattern)] for pattern in (wide, narrow)
    )
    return all(
        any(has_homomorphism(top, twig, Implications(WorkBudget())) for top in wide_twigs)
        for twig in narrow_twigs
    )


def fill(factory: IndexFactory, patterns: list[Pattern]) -> tuple[TwigEncoder, CoveringIndex]:
    encoder = TwigEncoder()
    index = factory(encoder.labels)
    for key, pattern in enumerate(patterns):
        index.add(key, encoder.encode(pattern))
    return encoder, index


@all_indexes
def test_worked_examples_of_cao(factory: IndexFactory) -> None:
    """Cao 2012, figures 4.7 and 4.12: u covers q4 alone, and q1, q2 and q3 cover u."""
    texts = ["/a//b", "/a[.//c]//b/e", "/a[.//b/d][.//b/e]//b/c", "/a//b[d][e][c]"]
    encoder, index = fill(factory, [parse(text) for text in texts])
    u = encoder.encode(parse("/a[.//b/e]//b[c][d]"))
    assert index.covered_by(u) == {3}
    assert index.covering(u) == {0, 1, 2}


@all_indexes
@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("/b/c", "/a/b/c"), ("/a", "//a"), ("/a/b", "/a//b"), ("//b[c][d]", "/b[c]/b[d]/x/c")],
)
def test_where_the_printed_algorithms_err(factory: IndexFactory, wide: str, narrow: str) -> None:
    """Cao's containee and container, as printed, find that the first covers the second."""
    encoder, index = fill(factory, [parse(narrow)])
    assert index.covered_by(encoder.encode(parse(wide))) == set()
    encoder, index = fill(factory, [parse(wide)])
    assert index.covering(encoder.encode(parse(narrow))) == set()


@all_indexes
def test_worked_examples_of_chand_and_felber(factory: IndexFactory) -> None:
    """Chand 2004, figure 3.

    Its patterns are only drawn. These fit both traces: two twins `b` below `a`, the first with
    `b`, `c` and `d`.
    """
    texts = ["/c/e", "/c", "/a/b/c", "/a[b/d]/b/c", "/a/d", "/a/b[b]/c", "/a/b/d"]
    encoder, index = fill(factory, [parse(text) for text in texts])
    s3, s4, s6, s7 = 2, 3, 5, 6
    assert index.covered_by(encoder.encode(parse("/a[*/c]/b/b"))) == {s6}
    assert index.covered_by(encoder.encode(parse("/a//b"))) == {s3, s4, s6, s7}


@pytest.mark.parametrize("factory", [pure_walk, pure_regions])
def test_tree_searches_visit_each_pair_of_nodes_once(factory: IndexFactory) -> None:
    """Without a memo by pair of nodes, both searches take exponential time here."""
    encoder, index = fill(factory, [parse("//a/a" * 20)])
    assert isinstance(index, PatternIndex)
    assert isinstance(index.store, FactorizationIndex)
    assert index.covered_by(encoder.encode(parse("//a/a" * 21))) == set()
    assert index.covering(encoder.encode(parse("//a/a" * 19))) == set()
    assert 0 < index.store.looked_at < 40 * 42 * 42


def test_regions_are_relabelled_when_a_gap_is_full() -> None:
    """Many siblings fill a gap: region codes change, results do not."""
    texts = [f"/a/b/c{n}//d" for n in range(800)] + [f"//x{n}/d" for n in range(400)]
    patterns = [parse(text) for text in texts]
    encoder, index = fill(region_index, patterns)
    assert index.stats()["relabelled"] > 0
    assert index.covered_by(encoder.encode(parse("//d"))) == set(range(1_200))
    assert index.covered_by(encoder.encode(parse("/a//*/d"))) == set()
    assert index.covered_by(encoder.encode(parse("/a//d"))) == set(range(800))
    assert index.covering(encoder.encode(parse("/a/b/c799/z/d"))) == {799}
    for key in range(0, 1_200, 2):
        index.remove(key)
    for key in range(0, 1_200, 2):
        index.add(key, encoder.encode(patterns[key]))
    assert index.covered_by(encoder.encode(parse("/a//d"))) == set(range(800))
    assert index.covering(encoder.encode(parse("/q/x7/d"))) == {807}


def test_shapes_of_the_subscription_tree() -> None:
    """Li 2008, section 4.1: a new pattern goes between two nodes, below one, or beside one."""
    encoder = TwigEncoder()
    tree = SubscriptionTree(encoder.labels)
    for key, text in enumerate(["/a/b", "/a/b/c", "//b/c", "/a"]):
        tree.add(key, encoder.encode(parse(text)))
    assert tree.shape() == {3: [0], 0: [1], 2: []}  # case 2: /a between the top and /a/b
    assert tree.stats()["pointers"] == 0  # //b/c, added later, is not compared with /a/b/c
    tree.add(4, encoder.encode(parse("/a/b/c/d")))
    assert tree.shape() == {3: [0], 0: [1], 2: [4]}  # case 3: below the first that covers it
    assert tree.stats()["pointers"] == 1  # from /a/b/c, which covers it as well
    tree.remove(0)
    assert tree.shape() == {3: [1], 2: [4]}
    tree.remove(4)
    assert tree.stats()["pointers"] == 0


def test_super_pointers_move_to_a_new_child_and_back() -> None:
    """Cases 1 and 2: a new child takes over its parent's pointers to patterns that it covers."""
    encoder = TwigEncoder()
    tree = SubscriptionTree(encoder.labels)
    for key, text in enumerate(["//c", "/a", "/a/b/c/d"]):
        tree.add(key, encoder.encode(parse(text)))
    assert tree.shape() == {0: [2], 1: []}
    assert tree.pointers() == {1: {2}}
    tree.add(3, encoder.encode(parse("/a/b")))
    assert tree.shape() == {0: [2], 1: [3]}
    assert tree.pointers() == {3: {2}}
    tree.remove(3)
    assert tree.pointers() == {1: {2}}


@all_indexes
def test_an_unsatisfiable_pattern_is_covered_by_all(factory: IndexFactory) -> None:
    encoder, index = fill(factory, [parse("/a and /b"), parse("//c")])
    assert index.covered_by(encoder.encode(parse("/x"))) == {0}
    assert index.covering(encoder.encode(parse("/x and /y"))) == {0, 1}


@all_indexes
def test_alternatives(factory: IndexFactory) -> None:
    texts = ["//a|//b", "//a[c]", "//b|//c", "//a[x or y]"]
    encoder, index = fill(factory, [parse(text) for text in texts])
    assert index.covered_by(encoder.encode(parse("//a|//b"))) == {0, 1, 3}
    assert index.covering(encoder.encode(parse("//a[c]|//b[d]"))) == {0, 2}


expressions = st.one_of(paths(), twigs(), twigs(values=True), strategies.expressions())


def parse_distinct(texts: list[str]) -> list[Pattern]:
    patterns: dict[str, Pattern] = {}
    for text in texts:
        try:
            pattern = parse(text, NAMESPACES)
        except SubscriptionError:
            continue
        patterns.setdefault(f"{pattern.text} {pattern.namespaces}", pattern)
    return list(patterns.values())


@all_indexes
@given(
    texts=st.lists(expressions, max_size=14),
    queries=st.lists(expressions, min_size=1, max_size=4),
)
def test_searches_agree_with_the_definition(
    factory: IndexFactory, texts: list[str], queries: list[str]
) -> None:
    patterns = parse_distinct(texts)
    encoder, index = fill(factory, patterns)
    for query in [*parse_distinct(queries), *patterns[:2]]:
        encoded = encoder.encode(query)
        assert index.covered_by(encoded) == {
            key for key, pattern in enumerate(patterns) if covers(query, pattern)
        }
        assert index.covering(encoded) == {
            key for key, pattern in enumerate(patterns) if covers(pattern, query)
        }


def roots_of(present: dict[int, Pattern]) -> set[int]:
    """Compute the roots by definition. Ids are assigned in order, so the smaller is the older."""
    oldest: dict[tuple[str, object], int] = {}
    for id, pattern in sorted(present.items()):
        oldest.setdefault((pattern.text, pattern.namespaces), id)
    roots = set()
    for id in oldest.values():
        others = (other for other in oldest.values() if other != id)
        if not any(
            covers(present[other], present[id])
            and (other < id or not covers(present[id], present[other]))
            for other in others
        ):
            roots.add(id)
    return roots


@all_indexes
@given(
    texts=st.lists(expressions, min_size=1, max_size=12),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 11)), max_size=24),
)
def test_roots_after_any_changes(
    factory: IndexFactory, texts: list[str], moves: list[tuple[bool, int]]
) -> None:
    patterns = parse_distinct(texts)
    if not patterns:
        return
    table: Aggregate[int] = Aggregate.of(factory)
    present: dict[int, Pattern] = {}
    roots: set[int] = set()
    for id, (adding, choice) in enumerate(moves):
        if adding or not present:
            pattern = patterns[choice % len(patterns)]
            change = table.add(id, pattern)
            present[id] = pattern
        else:
            removed = sorted(present)[choice % len(present)]
            change = table.remove(removed)
            del present[removed]
        assert change.hidden <= roots
        assert not change.exposed & roots
        roots = (roots - change.hidden) | change.exposed
        assert roots == set(table.roots()) == roots_of(present)
        query = patterns[choice % len(patterns)]
        assert table.covered_by(query) == {
            id for id, pattern in present.items() if covers(query, pattern) or query == pattern
        }
        assert table.covering(query) == {
            id for id, pattern in present.items() if covers(pattern, query) or query == pattern
        }
        assert table.stats()["subscriptions"] == len(present)
        assert table.stats()["roots"] == len(roots)
        for member, pattern in present.items():
            root = table.root_of(member)
            assert root in roots
            assert root == member or covers(present[root], pattern) or present[root] == pattern
    for id in list(present):
        table.remove(id)
    assert set(table.roots()) == set()
    assert table.stats()["patterns"] == 0
    assert table.stats().get("nodes", 0) == 0


@given(
    texts=st.lists(expressions, min_size=1, max_size=12),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 11)), max_size=24),
)
def test_all_selectable_indexes_yield_the_same_forest(
    texts: list[str], moves: list[tuple[bool, int]]
) -> None:
    patterns = parse_distinct(texts)
    tables: dict[str, Aggregate[int]] = {
        name: Aggregate.of(factory) for name, factory in INDEXES.items()
    }
    for id, pattern in enumerate(patterns):
        for table in tables.values():
            table.add(id, pattern)
    present = list(range(len(patterns)))
    for id, (adding, choice) in enumerate(moves, len(patterns)):
        if adding and patterns:
            changes = [table.add(id, patterns[choice % len(patterns)]) for table in tables.values()]
            present.append(id)
        elif present:
            removed = present.pop(choice % len(present))
            changes = [table.remove(removed) for table in tables.values()]
        else:
            continue
        assert all(change == changes[0] for change in changes)
    default = tables.pop("features")
    for table in tables.values():
        assert list(table.roots()) == list(default.roots())
        assert [table.parent_of(id) for id in present] == [default.parent_of(id) for id in present]


@all_indexes
def test_the_exactness_gap_is_counted(factory: IndexFactory) -> None:
    """The first covers the second, and the third the fourth, but without a homomorphism."""
    table: Aggregate[int] = Aggregate.of(factory)
    texts = ["/a/*//*/d", "/a//b/c/d", "/*[.//e]//*", "//*[.//e]//*[f]", "//c[@x>1]", "/z"]
    for id, text in enumerate(texts):
        table.add(id, parse(text))
    assert set(table.roots()) == set(range(6))
    stats = table.stats(exact=True)
    assert stats["missed"] == 2
    assert stats["undecided"] == 0
    assert "missed" not in table.stats()


@given(st.lists(st.one_of(paths(), twigs(), twigs(values=True)), max_size=8))
def test_the_exactness_gap_agrees_with_exact_containment(texts: list[str]) -> None:
    table: Aggregate[int] = Aggregate.of()
    present = dict(enumerate(parse_distinct(texts)))
    for id, pattern in present.items():
        table.add(id, pattern)
    roots = sorted(table.roots())
    hidden = undecided = 0
    for root in roots:
        answers = {
            other: containment.covers(present[other], present[root], effort=200).answer
            for other in roots
            if other != root
        }
        equivalent = [
            other
            for other, answer in answers.items()
            if answer and other > root and containment.covers(present[root], present[other])
        ]
        hides = any(answer for other, answer in answers.items() if other not in equivalent)
        hidden += hides
        undecided += not hides and None in answers.values()
    stats = table.stats(exact=True)
    assert stats["missed"] == hidden
    assert stats["undecided"] >= undecided  # it does not try likely witnesses


@given(expressions)
def test_simple_twigs_equal_those_of_the_general_way(text: str) -> None:
    for pattern in parse_distinct([text]):
        if pattern.exact:
            general = [Twig.of(top) for top in _expand_or_nothing(pattern)]
            simple = to_twigs(pattern)
            if general:
                assert len(simple) == len(general)
                for left, right in zip(simple, general, strict=True):
                    assert has_homomorphism(left, right, Implications(WorkBudget()))
                    assert has_homomorphism(right, left, Implications(WorkBudget()))
                    assert len(left) == len(right)


def _expand_or_nothing(pattern: Pattern) -> list[TwigNode]:
    try:
        return expand_alternatives(pattern.tree_pattern, WorkBudget())
    except NotExpandable:
        return []


@given(st.lists(expressions, min_size=3, max_size=3))
def test_covering_is_transitive(texts: list[str]) -> None:
    """Roots stand for all subscriptions below them only if it is."""
    patterns = parse_distinct(texts)
    if len(patterns) == 3:
        first, second, third = patterns
        if covers(first, second) and covers(second, third):
            assert covers(first, third)
