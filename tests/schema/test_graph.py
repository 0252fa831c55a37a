"""Words, element graph and root paths against brute-force enumeration."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from random import Random

import pytest
from lxml import etree

from pathcast.schema import (
    Child,
    Choice,
    Content,
    ContentKind,
    PathAutomaton,
    Sequence,
    cheapest_word,
    count_paths,
    parse_dtd,
    root_paths,
)
from pathcast.schema.glushkov import GlushkovAutomaton
from pathcast.schema.words import names_in_words
from tests.dtds import NAMES, random_dtd


def expression(content: Content) -> str:
    """Return a content model over one-letter names as a regular expression."""
    match content:
        case Child(name=name, occurs=occurs):
            return name + occurs.value
        case Sequence(parts=parts, occurs=occurs):
            return f"(?:{''.join(map(expression, parts))}){occurs.value}"
        case Choice(parts=parts, occurs=occurs):
            return f"(?:{'|'.join(map(expression, parts))}){occurs.value}"


WORDS = ["".join(word) for length in range(8) for word in itertools.product(NAMES, repeat=length)]


def test_cheapest_words_against_all_words(deep: bool) -> None:
    rng = Random(2)
    compared = 0
    while compared < (300 if deep else 40):
        element = parse_dtd(random_dtd(rng).text).elements["a"]
        if element.kind is not ContentKind.CHILDREN:
            continue
        assert element.content is not None
        compared += 1
        pattern = re.compile(expression(element.content))
        words = [word for word in WORDS if pattern.fullmatch(word)]
        for _ in range(4):
            costs = {name: rng.randint(1, 5) for name in rng.sample(NAMES, 3)}
            required = Counter(rng.choices(NAMES, k=rng.randint(0, 3)))
            fitting = [
                word for word in words if set(word) <= set(costs) and required <= Counter(word)
            ]
            cheapest = cheapest_word(element.content, required, costs.get)
            best = min((sum(costs[name] for name in word) for word in fitting), default=None)
            if cheapest is None:
                assert not fitting
                continue
            cost, word = cheapest
            text = "".join(word)
            assert pattern.fullmatch(text)
            assert required <= Counter(text)
            assert set(text) <= set(costs)
            assert cost == sum(costs[name] for name in text)
            assert best is None or cost <= best  # None: only longer words qualify


def test_productive_elements_have_documents(deep: bool) -> None:
    """Sizes, heights and edges of the graph against random valid documents."""
    rng = Random(3)
    seen: Counter[str] = Counter()
    for _ in range(400 if deep else 80):
        dtd = random_dtd(rng)
        schema = parse_dtd(dtd.text, root="a")
        graph = schema.graph
        machine = PathAutomaton.of(schema)
        for body in filter(None, (dtd.document(rng) for _ in range(20))):
            for element in etree.fromstring(body).iter("*"):
                path = [*[ancestor.tag for ancestor in element.iterancestors()][::-1], element.tag]
                names = [str(tag) for tag in path]
                assert machine.accepts_prefix(names), (dtd.text, names)
                if len(element) == len(element.xpath("comment() | processing-instruction()")):
                    assert machine.accepts(names)
                name = names[-1]
                size = len(list(element.iter("*")))
                height = (
                    1
                    + max(len(list(ancestor.iterancestors())) for ancestor in element.iter("*"))
                    - len(names)
                    + 1
                )
                assert graph.size[name] <= size
                assert graph.height[name] <= height
                assert graph.depth[name] <= len(names)
                seen[name] += 1
        if "a" not in graph.size:
            seen["nothing"] += 1
    assert min(seen.values()) > 3


def test_glushkov_automata_accept_the_words_of_a_model(deep: bool) -> None:
    rng = Random(8)
    ambiguous = 0
    for _ in range(400 if deep else 60):
        element = parse_dtd(random_dtd(rng).text).elements["a"]
        if element.kind is not ContentKind.CHILDREN or element.content is None:
            continue
        positions = GlushkovAutomaton(element.content)
        ambiguous += positions.ambiguous is not None
        pattern = re.compile(expression(element.content))
        for word in rng.sample(WORDS, 300):
            assert positions.accepts(word) == bool(pattern.fullmatch(word)), (element.model, word)
    assert ambiguous > 3


def test_wide_and_long_dtds_take_linear_time() -> None:
    """Each of these took seconds to minutes when the time was quadratic."""
    wide = [f"e{number}" for number in range(20_000)]
    text = f"<!ELEMENT r ({'|'.join(wide)})*>" + "".join(
        f"<!ELEMENT {name} EMPTY>" for name in wide
    )
    assert len(parse_dtd(text).graph.children["r"]) == 20_000
    chain = [f"<!ELEMENT n{number} (n{number + 1})>" for number in range(1000)]
    for order in (1, -1):
        graph = parse_dtd("".join(chain[::order]) + "<!ELEMENT n1000 EMPTY>").graph
        assert graph.height["n0"] == graph.size["n0"] == 1001


def test_the_lowest_tree_may_not_be_the_smallest() -> None:
    text = "<!ELEMENT d EMPTY><!ELEMENT c EMPTY><!ELEMENT b (d)><!ELEMENT a (b | (c, c, c, c))>"
    graph = parse_dtd(text).graph
    assert (graph.height["a"], graph.size["a"]) == (2, 3)


def test_unproductive_elements() -> None:
    schema = parse_dtd(
        """<!ELEMENT a (b | c | d)*> <!ELEMENT b (b)> <!ELEMENT c (e)> <!ELEMENT d ((b, d) | f)>
        <!ELEMENT f EMPTY>"""
    )
    graph = schema.graph
    assert graph.size == {"a": 1, "d": 2, "f": 1}
    assert graph.children["a"] == ("d",)
    assert graph.children["d"] == ("f",)
    assert graph.cyclic == {"b", "d"}
    assert schema.undeclared_names == ("e",)
    assert list(root_paths(schema, 9)) == [("a",), ("a", "d"), ("a", "d", "f")]


def test_recursion() -> None:
    schema = parse_dtd(
        """<!ELEMENT a (b?, e?)> <!ELEMENT b (c*)> <!ELEMENT c (b*, d*)> <!ELEMENT d (#PCDATA | d)*>
        <!ELEMENT e EMPTY>"""
    )
    graph = schema.graph
    assert graph.components == (("b", "c"), ("d",))
    assert graph.self_recursive == {"d"}
    assert graph.depth == {"a": 1, "b": 2, "e": 2, "c": 3, "d": 4}
    assert graph.with_text == {"a", "b", "c", "d"}


def test_path_counts_equal_enumeration(deep: bool) -> None:
    rng = Random(6)
    for _ in range(200 if deep else 40):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        levels = Counter(len(path) for path in root_paths(schema, 6))
        assert count_paths(schema, 6) == [levels[depth] for depth in sorted(levels)]


@pytest.mark.parametrize(
    ("path", "prefix", "accepted"),
    [
        ("b", True, True),
        ("b/s", True, False),
        ("b/s/t", True, True),
        ("t", False, False),
        ("b/s/s/s/t", True, True),
        ("", True, False),
    ],
)
def test_paths_end_at_elements_that_may_be_leaves(path: str, prefix: bool, accepted: bool) -> None:
    schema = parse_dtd("<!ELEMENT b (s*)><!ELEMENT s (t, s*)><!ELEMENT t (#PCDATA)>")
    machine = PathAutomaton.of(schema)
    names = path.split("/") if path else []
    assert (machine.accepts_prefix(names), machine.accepts(names)) == (prefix, accepted)


def test_names_in_words_against_the_cheapest_words(deep: bool) -> None:
    """A name is in some word if one may require it, and in every word if none lacks it."""
    rng = Random(9)
    without_words = 0
    for _ in range(800 if deep else 200):
        content = parse_dtd(random_dtd(rng).text).elements["a"].content
        usable = set(rng.sample(NAMES, rng.choice((2, 3, 4))))
        costs = dict.fromkeys(usable, 1)
        in_words = names_in_words(content, usable)
        if cheapest_word(content, {}, costs.get) is None:
            assert in_words is None
            without_words += 1
            continue
        some = {name for name in NAMES if cheapest_word(content, {name: 1}, costs.get)}
        every = {
            name for name in NAMES if cheapest_word(content, {}, {**costs, name: None}.get) is None
        }
        assert in_words == (frozenset(some), frozenset(every))
    assert without_words > 3


def test_parents_and_descendants_against_walks(deep: bool) -> None:
    rng = Random(10)
    for _ in range(200 if deep else 40):
        graph = parse_dtd(random_dtd(rng).text, root="a").graph
        for name in graph.children:
            below = set(graph.children[name])
            while (
                further := {child for reached in below for child in graph.children[reached]} - below
            ):
                below |= further
            assert graph.descendants(name) == below
            assert set(graph.parents[name]) == {
                other for other in graph.children if name in graph.children[other]
            }
