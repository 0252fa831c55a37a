"""Walks and trees: every one is part of a valid document, and siblings fit together."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.subscriptions.walks import SchemaWalks
from pathcast.rng import SeededRandom
from pathcast.schema import PathAutomaton, parse_dtd
from tests.generators.document_dtds import dtds


@given(dtds(), st.integers(1, 6), st.integers(0, 5))
def test_a_walk_is_a_root_path(dtd: str, levels: int, seed: int) -> None:
    schema = parse_dtd(dtd, root="e0")
    if "e0" not in schema.graph.size:
        with pytest.raises(WorkloadError):
            SchemaWalks(schema)
        return
    walks = SchemaWalks(schema, theta=0.5)
    path = walks.draw_path(SeededRandom(seed), walks.choices_by_level(1, levels))
    machine = PathAutomaton.of(schema)
    assert machine.accepts_prefix(path)
    assert len(path) == levels or not machine.transitions[path[-1]]


@given(dtds(), st.integers(1, 5), st.integers(0, 5))
def test_walks_have_the_minimal_number_of_levels(dtd: str, least: int, seed: int) -> None:
    schema = parse_dtd(dtd, root="e0")
    if "e0" not in schema.graph.size:
        return
    machine = PathAutomaton.of(schema)
    level = {"e0"}
    for _ in range(least - 1):
        level = {child for name in level for child in machine.transitions[name]}
    walks = SchemaWalks(schema)
    if not level:
        with pytest.raises(WorkloadError, match="the longest has"):
            walks.choices_by_level(least, 5)
        return
    path = walks.draw_path(SeededRandom(seed), walks.choices_by_level(least, 5))
    assert machine.accepts_prefix(path)
    assert least <= len(path) <= 5


def test_siblings_fit_if_a_word_has_them() -> None:
    """Against all words of up to five children, validated by lxml."""
    schema = parse_dtd(
        "<!ELEMENT a (b?, (c | d)+, (e, b)?)>"
        + "".join(f"<!ELEMENT {name} EMPTY>" for name in "bcde"),
        root="a",
    )
    walks = SchemaWalks(schema)
    words = [word for length in range(6) for word in product("bcde", repeat=length)]
    valid = [
        word
        for word in words
        if not schema.faults(f"<a>{''.join(f'<{name}/>' for name in word)}</a>".encode())
    ]
    for counts in product(range(3), repeat=4):
        required = dict(zip("bcde", counts, strict=True))
        if sum(counts) <= 3:
            room = any(all(word.count(n) >= k for n, k in required.items()) for word in valid)
            assert walks.fits("a", {n: k for n, k in required.items() if k}) == room, required


def test_branches_fit_beside_the_first_walk() -> None:
    walks = SchemaWalks(bundled_schema("bib"))
    rng = SeededRandom(3)
    for _ in range(300):
        top = walks.tree(walks.draw_path(rng, walks.choices_by_level(4, 4)))
        book = top.children[0].children[0].children[0]
        assert book.name == "book"
        for _ in range(3):
            walks.draw_branch(rng, book, 1)
        names = [kid.name for kid in book.children]
        assert not {"author", "editor"} <= set(names)
        assert names.count("title") <= 1
