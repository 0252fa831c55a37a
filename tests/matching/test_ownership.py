"""Tests of key ownership: no match is missed, and a key has the same owner on every machine."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import Document, label_paths
from pathcast.documents import parse as parse_document
from pathcast.errors import SubscriptionError
from pathcast.matching.nfa import Edge, Label, Nfa
from pathcast.matching.paths import requirements
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.matching.sharding import START, StateKey
from pathcast.matching.sharding.ownership import (
    KeyDirectory,
    hash_owner,
    identifier,
    pattern_keys,
    plan_ownership,
    stored_states,
)
from pathcast.xpath import Pattern, parse
from pathcast.xpath.syntax import NO_TARGET, Test, TestKind
from tests import generate, strategies
from tests.generate import NAMESPACES, Knobs
from tests.oracle import document, expression, holds, oracle

LENGTHS = (0, 1, 2, 3, 9)
_lengths = st.sampled_from(LENGTHS)


def texts_of(keys: Iterable[StateKey]) -> list[str]:
    return sorted(map(str, keys))


def keys_of(text: str, length: int = 1) -> list[str]:
    return texts_of(pattern_keys(parse(text, NAMESPACES), length))


# Miliaraki 2008

FIGURE_1 = (
    "/dblp/phdthesis/year",
    "/dblp/www/title",
    "/dblp/proceedings/school",
    "/dblp/proceedings/title",
    "/dblp/*/author",
    "//*/cite",
)


def build_nfa(queries: Iterable[str]) -> Nfa[str]:
    nfa: Nfa[str] = Nfa()
    for text in queries:
        (requirement,) = requirements(parse(text).condition)
        nfa.add(requirement.paths[0], text)
    return nfa


def test_keys_of_figure_1() -> None:
    """Section 3: "start" + "dblp" + "phdthesis". A state behind "$" is an edge here."""
    assert texts_of(StateKey(state.path()) for state in build_nfa(FIGURE_1).states()) == [
        "start",
        "start//*",
        "start//*/cite",
        "start/dblp",
        "start/dblp/*",
        "start/dblp/*/author",
        "start/dblp/phdthesis",
        "start/dblp/phdthesis/year",
        "start/dblp/proceedings",
        "start/dblp/proceedings/school",
        "start/dblp/proceedings/title",
        "start/dblp/www",
        "start/dblp/www/title",
    ]


def test_stored_states_of_figure_2() -> None:
    """Section 3.1, l = 1: the states that each peer stores, p3.states = {0, 1, 9, 10} first.

    Figure 2 has no q2. State 9 is the target of the ε-transition, "because the ε-transition does
    not contribute to the specified length".
    """
    nfa = build_nfa(text for text in FIGURE_1 if "www" not in text)
    state = {
        0: "start",
        1: "start/dblp",
        2: "start/dblp/phdthesis",
        3: "start/dblp/phdthesis/year",
        4: "start/dblp/proceedings",
        5: "start/dblp/proceedings/school",
        6: "start/dblp/proceedings/title",
        7: "start/dblp/*",
        8: "start/dblp/*/author",
        10: "start//*",
        11: "start//*/cite",
    }
    stored = {
        0: {0, 1, 10},
        1: {1, 2, 4, 7},
        2: {2, 3},
        3: {3},
        4: {4, 5, 6},
        5: {5},
        6: {6},
        7: {7, 8},
        8: {8},
        10: {10, 11},
        11: {11},
    }
    number_of = {text: number for number, text in state.items()}
    for number, text in state.items():
        keys = stored_states(nfa, StateKey.parse(text), 1)
        assert {number_of[str(key)] for key in keys} == stored[number]
        assert stored_states(nfa, StateKey.parse(text), 0) == {StateKey.parse(text)}
    assert len(stored_states(nfa, START, 2)) == 7
    assert len(stored_states(nfa, START, 99)) == nfa.size
    with pytest.raises(KeyError):
        stored_states(nfa, StateKey.parse("start/www"), 1)


def test_a_document_activates_keys() -> None:
    """Sections 5.1 and 5.2: an element activates states below those of its parent."""
    directory = KeyDirectory()
    for text in FIGURE_1:
        directory.add(pattern_keys(parse(text), 2))
    assert len(directory) == 5
    thesis = parse_document(b"<dblp><phdthesis><author/></phdthesis></dblp>")
    expected = ["start/dblp/*", "start/dblp/phdthesis"]
    assert texts_of(directory.activated_keys(thesis)) == expected  # no cite below anything
    cited = parse_document(b"<x><y><cite/></y></x>")
    assert texts_of(directory.activated_keys(cited)) == ["start//*/cite"]


def test_keys_have_a_separator() -> None:
    """Concatenated without one, as printed in section 3, these two would be one key."""
    assert keys_of("/a/bc", 2) == ["start/a/bc"]
    assert keys_of("/ab/c", 2) == ["start/ab/c"]


# the text form of a key


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("/a", Label(Edge.CHILD, Test(TestKind.NAME, "a"))),
        ("//é.-1", Label(Edge.DESCENDANT, Test(TestKind.NAME, "é.-1"))),
        ("/*", Label(Edge.CHILD, Test(TestKind.ANY))),
        ("/@*", Label(Edge.ATTRIBUTE, Test(TestKind.ANY))),
        ("//@x", Label(Edge.DEEP_ATTRIBUTE, Test(TestKind.NAME, "x"))),
        ("/node", Label(Edge.CHILD, Test(TestKind.NAME, "node"))),
        ("/node()", Label(Edge.CHILD, Test(TestKind.NODE))),
        ("//@node()", Label(Edge.DEEP_ATTRIBUTE, Test(TestKind.NODE))),
        ("/text()", Label(Edge.CHILD, Test(TestKind.TEXT))),
        ("//comment()", Label(Edge.DESCENDANT, Test(TestKind.COMMENT))),
        ("/processing-instruction()", Label(Edge.CHILD, Test(TestKind.INSTRUCTION))),
        ("/processing-instruction('x/y')", Label(Edge.CHILD, Test(TestKind.INSTRUCTION, "x/y"))),
        ("/processing-instruction('''')", Label(Edge.CHILD, Test(TestKind.INSTRUCTION, "'"))),
        ("/processing-instruction('')", Label(Edge.CHILD, Test(TestKind.INSTRUCTION, NO_TARGET))),
        ("/{urn:p}a", Label(Edge.CHILD, Test(TestKind.NAME, "{urn:p}a"))),
        ("/{http://x/y}a", Label(Edge.CHILD, Test(TestKind.NAME, "{http://x/y}a"))),
        ("/{urn:p}*", Label(Edge.CHILD, Test(TestKind.ANY_IN, "urn:p"))),
        ("/{}}{}*", Label(Edge.CHILD, Test(TestKind.ANY_IN, "}{"))),
        ("/{u}}a/{v}b", Label(Edge.CHILD, Test(TestKind.NAME, "{u}a/{v}b"))),
    ],
)
def test_every_label_has_a_text_form(text: str, label: Label) -> None:
    for key in (StateKey((label,)), StateKey((label, label))):
        assert str(key) == "start" + text * len(key)
        assert StateKey.parse(str(key)) == key


def test_braces_in_a_namespace_are_not_two_steps() -> None:
    braces = pattern_keys(parse("/p:b", {"p": "u}a/{v"}), 9)
    two_steps = pattern_keys(parse("/p:a/q:b", {"p": "u", "q": "v"}), 9)
    assert texts_of(braces) == ["start/{u}}a/{v}b"]
    assert texts_of(two_steps) == ["start/{u}a/{v}b"]


_names = st.text("ab-é", min_size=1, max_size=3)
_uris = st.text("u{}'/@*()%: ", min_size=1, max_size=6)
_tests = st.one_of(
    st.sampled_from([TestKind.ANY, TestKind.NODE, TestKind.TEXT, TestKind.COMMENT]).map(Test),
    _names.map(partial(Test, TestKind.NAME)),
    _uris.map(partial(Test, TestKind.ANY_IN)),
    st.builds(lambda uri, name: Test(TestKind.NAME, f"{{{uri}}}{name}"), _uris, _names),
    st.text("a'\"/ ()", max_size=4).map(partial(Test, TestKind.INSTRUCTION)),
)
_keys = st.lists(st.builds(Label, st.sampled_from(list(Edge)), _tests), max_size=4).map(
    lambda labels: StateKey(tuple(labels))
)


@given(_keys, _keys)
def test_text_form_is_injective_and_parses_back(key: StateKey, other: StateKey) -> None:
    assert StateKey.parse(str(key)) == key
    assert (str(key) == str(other)) is (key == other)
    assert len(key) == len(key.labels)
    assert all(str(key).startswith(str(prefix)) for prefix in key.prefixes())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/a",
        "starts",
        "start/",
        "start///a",
        "start/a/",
        "start/{u}",
        "start/{u}}a",
        "start/a()",
        "start/processing-instruction(' ')",
        "start/processing-instruction(x)",
        "start/@@a",
        "star",
    ],
)
def test_non_canonical_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the text of a key"):
        StateKey.parse(text)


# the keys of a query


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("/a/b/c", 0, ["start"]),
        ("/a/b/c", 1, ["start/a"]),
        ("/a/b/c", 2, ["start/a/b"]),
        ("/a/b/c", 9, ["start/a/b/c"]),
        ("a/b", 1, ["start//a"]),  # relative: at any depth
        ("/p:a/@q:x", 2, ["start/{urn:p}a/@{urn:q}x"]),
        ("//text()", 1, ["start//text()"]),
        ("not(//a)", 1, ["start"]),
        ("/", 1, ["start"]),
        ("false()", 1, ["start"]),  # every query has a key
        # one key per alternative
        ("/a/b | //c", 2, ["start/a/b", "start//c"]),
        ("/a or not(//b)", 1, ["start"]),  # START is a prefix of every key
        ("/a | /a/b", 2, ["start/a"]),
        ("//a[b or c]", 2, ["start//a/b", "start//a/c"]),
        # the most names
        ("//*/a and //b/c", 2, ["start//b/c"]),
        ("/*/p:* and //b", 1, ["start//b"]),
        ("//processing-instruction('i') and /*", 1, ["start//processing-instruction('i')"]),
        # the fewest //
        ("/a[b][c//d]", 3, ["start/a/c//d"]),
        ("//z and /a", 1, ["start/a"]),
        ("//a//b and /x//y", 2, ["start/x//y"]),
        # the longest
        ("/a/*/* and /b", 3, ["start/a/*/*"]),
        ("/a and /b/text()", 2, ["start/b/text()"]),
        # the longest element prefix
        ("/a[@b][c]", 2, ["start/a/c"]),
        # the first by its text
        ("/a[b][c]", 2, ["start/a/b"]),
        # values and positions do not count; residuals have the keys of their skeleton
        ("/a[b = 5][2]", 2, ["start/a/b"]),
        ("//item[price * 2 > 30]", 2, ["start//item/price"]),
        ("//a/following-sibling::b", 1, ["start//a"]),
    ],
)
def test_keys_of_a_query(text: str, length: int, expected: list[str]) -> None:
    assert keys_of(text, length) == sorted(expected)


def test_equivalent_queries_have_equal_keys() -> None:
    assert keys_of("/a[c][b]", 2) == keys_of("/a[b]/c", 2)
    assert pattern_keys(parse("p:a", {"p": "urn:q"})) == pattern_keys(parse("q:a", NAMESPACES))


def test_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="not -1"):
        pattern_keys(parse("//a"), -1)


@given(strategies.expressions(), strategies.documents(), _lengths)
def test_a_match_activates_a_key(text: str, body: bytes, length: int) -> None:
    try:
        pattern = parse(text, NAMESPACES)
    except SubscriptionError:
        return
    keys = pattern_keys(pattern, length)
    assert keys
    activated = KeyDirectory(dict.fromkeys(keys, 1)).activated_keys(parse_document(body))
    if oracle(text, NAMESPACES, body):
        assert activated
    evaluator = Evaluator(parse_document(body))
    for alternative in requirements(pattern.condition):
        if evaluator.holds(alternative.condition):  # residuals: by their skeleton
            assert any(is_prefix(key, alternative.paths) for key in activated)


def is_prefix(key: StateKey, paths: Iterable[tuple[Label, ...]]) -> bool:
    return not key.labels or any(path[: len(key)] == key.labels for path in paths)


KINDS = {
    "tree patterns": generate.NATIVE,
    "the whole language": generate.WHOLE,
    "mostly outside tree patterns": Knobs(residual=0.6),
}


def random_queries(rng: Random, knobs: Knobs, number: int) -> list[tuple[str, Pattern]]:
    texts = [generate.expression(rng, knobs) for _ in range(number)]
    return [(text, parse(text, NAMESPACES)) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_owners_of_a_document_hold_all_its_matches(kind: str, deep: bool) -> None:
    """Sets of random queries, planned by hash and by weight; documents and bare label paths."""
    matches = sent = visits = 0
    for seed in range(40 if deep else 4):
        rng = Random(f"{kind} {seed}")
        queries = random_queries(rng, KINDS[kind], 100)
        patterns = [pattern for _, pattern in queries]
        xpaths = [expression(text, NAMESPACES) for text, _ in queries]
        plans = [
            plan_ownership(patterns, 7, rng.choice(LENGTHS)),
            plan_ownership(patterns, 5, rng.choice(LENGTHS), balance=True),
            plan_ownership(patterns, 64, 2),
        ]
        for _ in range(50):
            body = generate.document(rng, *rng.choice(((2, 2), (8, 6), (14, 20))))
            parsed, tree = parse_document(body), document(body)
            matching = {number for number, xpath in enumerate(xpaths) if holds(xpath, tree)}
            matches += len(matching)
            for plan in plans:
                owners = plan.owners_for(parsed)
                assert matching <= {number for owner in owners for number in plan.queries[owner]}
                assert owners <= plan.owners_for_paths(label_paths(parsed))
                sent += len(owners)
                visits += len(plan.queries)
    assert matches > 4_000
    assert sent < 0.7 * visits, "a plan that sends every document to every owner proves nothing"


# the keys that a document activates


def key_xpath(key: StateKey) -> str:
    """Return the XPath that asks libxml2 whether a document has a node with this path."""
    return "".join(label.edge.value + _test_xpath(label.test) for label in key.labels) or "true()"


def _test_xpath(test: Test) -> str:
    match test.kind:
        case TestKind.NAME:
            uri, _, local = test.name.rpartition("}")
            return f"*[local-name() = '{local}' and namespace-uri() = '{uri[1:]}']"
        case TestKind.ANY_IN:
            return f"*[namespace-uri() = '{test.name}']"
        case TestKind.INSTRUCTION if test.name:
            return f"processing-instruction('{test.name}')"
        case _:
            return str(test.kind.value)


def all_prefixes(texts: Iterable[str]) -> dict[StateKey, int]:
    """Return every prefix of every required path, not only those that `pattern_keys` chooses."""
    keys = {START: 1}
    for text in texts:
        for alternative in requirements(parse(text, NAMESPACES).condition):
            for path in alternative.paths:
                keys.update(dict.fromkeys([StateKey(path), *StateKey(path).prefixes()], 1))
    return keys


@given(st.lists(strategies.expressions(), min_size=1, max_size=5), strategies.documents())
def test_activated_keys_are_those_that_libxml2_finds(texts: list[str], body: bytes) -> None:
    keys = all_prefixes(texts)
    activated = KeyDirectory(keys).activated_keys(parse_document(body))
    assert activated == {key for key in keys if oracle(key_xpath(key), None, body)}


@given(
    st.lists(strategies.expressions(), min_size=1, max_size=5),
    strategies.documents(),
    st.booleans(),
)
def test_possible_keys_are_those_of_the_fullest_document(
    texts: list[str], body: bytes, leaves_only: bool
) -> None:
    """Label paths alone: the keys of a document that has every other node everywhere."""
    keys = all_prefixes(texts)
    directory = KeyDirectory(keys)
    parsed = parse_document(body)
    paths = label_paths(parsed)
    if leaves_only:  # prefixes of other paths may be left out
        paths = tuple(
            path for path in paths if not any(is_extension(other, path) for other in paths)
        )
    possible = directory.possible_keys(paths)
    assert possible >= directory.activated_keys(parsed)
    fullest = fullest_document(paths, keys)
    sure = {key for key in keys if holds(expression(key_xpath(key)), fullest)}
    assert possible >= sure
    assert {key for key in possible if is_satisfiable(key)} <= sure


def is_extension(path: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    return len(path) > len(prefix) and path[: len(prefix)] == prefix


def is_satisfiable(key: StateKey) -> bool:
    """Whether some document has the path: not for /@x, text()/a, @text()."""
    nodes = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN, TestKind.NODE)
    for index, (edge, test) in enumerate(key.labels):
        attribute = edge in (Edge.ATTRIBUTE, Edge.DEEP_ATTRIBUTE)
        leaf = attribute or test.kind not in nodes
        if attribute and test.kind not in nodes:
            return False
        if leaf and index + 1 < len(key):
            return False
        if index == 0 and (edge is Edge.ATTRIBUTE or is_child_text(edge, test)):
            return False
    return True


def is_child_text(edge: Edge, test: Test) -> bool:
    return edge is Edge.CHILD and test.kind is TestKind.TEXT


def fullest_document(
    paths: Iterable[tuple[str, ...]], keys: Iterable[StateKey]
) -> etree._ElementTree:
    """Return a document with these label paths and every other node that a key may require."""
    tests = [label.test for key in keys for label in key.labels]
    targets = {test.name for test in tests if test.kind is TestKind.INSTRUCTION} | {"any"}
    attributes = {test.name for test in tests if test.kind is TestKind.NAME} | {"any"}
    attributes |= {f"{{{test.name}}}any" for test in tests if test.kind is TestKind.ANY_IN}
    elements: dict[tuple[str, ...], etree._Element] = {}
    for path in paths:
        for end in range(1, len(path) + 1):
            if path[:end] in elements:
                continue
            element = elements[path[:end]] = etree.Element(path[end - 1])
            if end > 1:
                elements[path[: end - 1]].append(element)
            element.text = "text"
            element.append(etree.Comment("comment"))
            for name in attributes:
                element.set(name, "value")
            for target in targets - {"", NO_TARGET}:
                element.append(etree.PI(target))
    root = next(element for path, element in elements.items() if len(path) == 1)
    root.addprevious(etree.Comment("comment"))
    for target in targets - {"", NO_TARGET}:
        root.addprevious(etree.PI(target))
    return root.getroottree()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("start", True),
        ("start/a/b", True),
        ("start/a/c", False),
        ("start//b", True),
        ("start/b", False),
        ("start//@x", True),
        ("start/a/b/@x", True),
        ("start/a/c/@x", False),
        ("start/a/b/text()", True),
        ("start/a/b/node()", True),  # possibly a text
        ("start/a/b/node()/node()", False),
        ("start/a/node()/node()", True),
        ("start/a/node()/c", False),
        ("start//processing-instruction('i')", True),
        ("start/{urn:p}a", False),
        ("start//{urn:p}*", True),
        ("start//{urn:q}*", False),
    ],
)
def test_possible_keys_of_label_paths(key: str, expected: bool) -> None:
    directory = KeyDirectory({StateKey.parse(key): 1})
    assert bool(directory.possible_keys([("a", "b"), ("a", "{urn:p}d")])) is expected


def test_without_paths_only_start_is_possible() -> None:
    directory = KeyDirectory({START: 1, StateKey.parse("start/a"): 1})
    assert directory.possible_keys([]) == {START}


def test_a_str_is_not_a_label_path() -> None:
    with pytest.raises(TypeError, match="'/a/b'"):
        KeyDirectory({StateKey.parse("start/a"): 1}).possible_keys(["/a/b"])


# changes of a directory


def test_queries_are_counted() -> None:
    directory = KeyDirectory()
    union, single = pattern_keys(parse("/a | //b")), pattern_keys(parse("/a"))
    directory.add(union)
    directory.add(single)
    assert {str(key): count for key, count in directory.counts().items()} == {
        "start/a": 2,
        "start//b": 1,
    }
    directory.remove(union)
    assert list(directory) == [StateKey.parse("start/a")]
    assert StateKey.parse("start//b") not in directory
    with pytest.raises(KeyError):
        directory.remove([StateKey.parse("start/a"), StateKey.parse("start//b")])
    assert len(directory) == 1  # nothing was removed
    directory.remove(single)
    assert not directory.activated_keys(parse_document(b"<a/>"))
    assert not directory.possible_keys([("a",)])
    with pytest.raises(ValueError, match="0 queries at start"):
        KeyDirectory({START: 0})


@given(
    st.lists(st.tuples(strategies.native_expressions(), st.booleans()), max_size=4),
    st.lists(strategies.documents(), min_size=1, max_size=2),
    _lengths,
)
def test_churn_equals_a_directory_of_the_remaining_queries(
    texts: list[tuple[str, bool]], bodies: list[bytes], length: int
) -> None:
    """Queries are added and removed between documents."""
    documents = [parse_document(body) for body in bodies]
    directory = KeyDirectory()
    queries = [(pattern_keys(parse(text, NAMESPACES), length), stays) for text, stays in texts]
    for keys, _ in queries:
        directory.add(keys)
        directory.activated_keys(documents[0])
        directory.possible_keys(label_paths(documents[0]))
    for keys, stays in queries:
        if not stays:
            directory.remove(keys)
    remaining = Counter(key for keys, stays in queries if stays for key in keys)
    assert directory.counts() == remaining
    for parsed in documents:
        assert key_sets(directory, parsed) == key_sets(KeyDirectory(remaining), parsed)


def key_sets(
    directory: KeyDirectory, parsed: Document
) -> tuple[frozenset[StateKey], frozenset[StateKey]]:
    return directory.activated_keys(parsed), directory.possible_keys(label_paths(parsed))


@given(
    st.lists(strategies.native_expressions(), min_size=1, max_size=2),
    st.lists(strategies.documents(), min_size=2, max_size=2),
)
def test_memo_limit_changes_no_result(texts: list[str], bodies: list[bytes]) -> None:
    keys = all_prefixes(texts)
    small, large = KeyDirectory(keys, limit=3), KeyDirectory(keys)
    for body in bodies * 2:
        parsed = parse_document(body)
        assert (
            key_sets(small, parsed)
            == key_sets(large, parsed)
            == key_sets(KeyDirectory(keys), parsed)
        )


def test_repeated_label_paths_hit_the_memos() -> None:
    directory = KeyDirectory(all_prefixes(["//a/b", "/r//c"]))
    parsed = parse_document(b"<r><a><b/></a><c/></r>")
    key_sets(directory, parsed)
    misses, weight = directory._memo.misses, directory._tags._weight
    key_sets(directory, parsed)
    assert (directory._memo.misses, directory._tags._weight) == (misses, weight)


def test_a_plan_can_be_pickled() -> None:
    plan = plan_ownership([parse("//p:a/b", NAMESPACES), parse("/a/@x")], 3, 2)
    parsed = parse_document(b"<a x='1'/>")
    copy = pickle.loads(pickle.dumps(plan))
    assert copy == plan
    assert copy.directory.counts() == plan.directory.counts()
    assert copy.owners_for(parsed) == plan.owners_for(parsed) != frozenset()


# owners

PINNED = {
    "start": (0xA10467D48ED7E7B8D90F4F880879BAE3B7FA4354, [0, 0, 0, 31, 761]),
    "start/dblp": (0xF0CBAE4E353CCD3D7AD8371CC57C4D2B56603DF5, [0, 0, 0, 21, 994]),
    "start/dblp/phdthesis": (0x5D831D6F83ED842BB8D4CE8DF1DC9D4BF331B3C4, [0, 1, 6, 18, 598]),
    "start//*": (0xCC6A494F65633EC02C1E83E4D74204B38B1314A2, [0, 0, 2, 52, 602]),
    "start//*/cite": (0xCB715DF7A15FD2B4CE9A84BE2F720B56F493E1FB, [0, 1, 3, 20, 104]),
    "start//@{urn:p}x": (0x21332D830A1CB4C73C95C178A573CFEC0FF97EAB, [0, 1, 5, 12, 583]),
    "start/{urn:a}}b}c/text()": (0xF1F513220C108A741A47A169DCD192A4B6966D6D, [0, 0, 3, 13, 216]),
}


@pytest.mark.parametrize("text", PINNED)
def test_identifiers_and_owners_are_stable(text: str) -> None:
    ring_identifier, owners = PINNED[text]
    key = StateKey.parse(text)
    assert identifier(key) == ring_identifier
    assert [hash_owner(key, number) for number in (1, 2, 7, 64, 1000)] == owners
    digest = blake2b(text.encode()).digest()
    assert identifier(key) == int.from_bytes(digest[:20], "big")
    assert identifier(key, 512) == int.from_bytes(digest, "big")


def item_keys() -> list[StateKey]:
    return [StateKey.parse(f"start/news/item{number}") for number in range(10_000)]


@pytest.mark.parametrize("owners", [2, 7, 10, 64])
def test_hash_owners_are_uniform(owners: int) -> None:
    """Chi-square test of 10,000 keys, with a margin of four standard deviations."""
    counts = Counter(hash_owner(key, owners) for key in item_keys())
    assert set(counts) == set(range(owners))
    expected = 10_000 / owners
    square = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = owners - 1
    assert square < freedom + 4 * (2 * freedom) ** 0.5


def test_identifiers_are_uniform() -> None:
    counts = Counter(identifier(key, 4) for key in item_keys())
    assert len(counts) == 16
    assert all(abs(count - 625) < 4 * 625**0.5 for count in counts.values())


def test_identifiers_of_a_smaller_ring_are_prefixes() -> None:
    for key in item_keys()[:100]:
        assert identifier(key, 32) == identifier(key) >> 128
        assert 0 <= identifier(key, 1) <= 1


def test_a_new_owner_takes_its_share_and_no_other_key_moves() -> None:
    for owners in (1, 4, 31):
        before = {key: hash_owner(key, owners) for key in item_keys()}
        moved = {key for key in before if hash_owner(key, owners + 1) != before[key]}
        assert all(hash_owner(key, owners + 1) == owners for key in moved)
        assert abs(len(moved) - 10_000 / (owners + 1)) < 4 * (10_000 / (owners + 1)) ** 0.5


def test_invalid_counts_are_refused() -> None:
    for bits in (0, 513):
        with pytest.raises(ValueError, match=f"not {bits}"):
            identifier(START, bits)
    with pytest.raises(ValueError, match="not 0"):
        hash_owner(START, 0)
    with pytest.raises(ValueError, match="not 0"):
        plan_ownership([], 0)


# plans


def item_patterns(count: int) -> list[Pattern]:
    return [parse(f"/news/item{number}") for number in range(count)]


def test_a_plan_by_hash() -> None:
    texts = ["/a/x", "/a/y", "//b", "not(//c)", "//b | //d"]
    plan = plan_ownership(map(parse, texts), 4)
    assert plan.owner_of == {key: hash_owner(key, 4) for key in plan.directory}
    for number, text in enumerate(texts):
        owners = {hash_owner(key, 4) for key in pattern_keys(parse(text))}
        assert {owner for owner, queries in enumerate(plan.queries) if number in queries} == owners
    assert sum(plan.loads) == 6  # a query counts at each of its keys
    assert plan.owners_for(parse_document(b"<z/>")) == {hash_owner(START, 4)}


def test_weights_change_only_the_loads_of_a_plan_by_hash() -> None:
    patterns = item_patterns(20)
    weights = {key: 2.5 for pattern in patterns for key in pattern_keys(pattern, 2)}
    plan = plan_ownership(patterns, 3, 2)
    weighted = plan_ownership(patterns, 3, 2, weights=weights)
    assert plan.owner_of == weighted.owner_of
    assert [2.5 * load for load in plan.loads] == list(weighted.loads)


_weights = st.lists(st.integers(0, 20), min_size=1, max_size=7)


@given(_weights, st.integers(1, 3))
def test_balance_is_within_grahams_bound(weights: list[int], owners: int) -> None:
    """Graham 1969: at most 4/3 - 1/3m of the optimum, found here by exhaustive search."""
    patterns = item_patterns(len(weights))
    keys = [next(iter(pattern_keys(pattern, 2))) for pattern in patterns]
    given_weights = {key: float(weight) for key, weight in zip(keys, weights, strict=True)}
    plan = plan_ownership(patterns, owners, 2, balance=True, weights=given_weights)
    assert sum(plan.loads) == sum(weights)
    optimum = min(
        max(
            sum(
                weight for weight, owner in zip(weights, assignment, strict=True) if owner == number
            )
            for number in range(owners)
        )
        for assignment in product(range(owners), repeat=len(weights))
    )
    assert max(plan.loads) <= optimum * (4 / 3 - 1 / (3 * owners)) + 1e-9


def test_balance_is_longest_processing_time_first() -> None:
    patterns = item_patterns(5)
    keys = [next(iter(pattern_keys(pattern, 2))) for pattern in patterns]
    weights = dict(zip(keys, (3.0, 3.0, 4.0, 5.0, 5.0), strict=True))
    plan = plan_ownership(patterns, 2, 2, balance=True, weights=weights)
    assert [plan.owner_of[key] for key in keys] == [1, 1, 0, 0, 1]
    assert plan.loads == (9.0, 11.0)  # the optimum is 10 and 10
    assert plan.queries == ((2, 3), (0, 1, 4))


def test_balance_beats_hashing_on_skewed_keys() -> None:
    texts = [f"/news/{'a' if number % 2 else f'item{number}'}" for number in range(40)]
    hashed = plan_ownership(map(parse, texts), 4, 2)
    balanced = plan_ownership(map(parse, texts), 4, 2, balance=True)
    assert max(balanced.loads) == 20  # one key has half of the queries
    assert sorted(balanced.loads)[:3] == [6, 7, 7]
    assert max(hashed.loads) > 20


def test_keys_without_a_weight_are_distributed_by_their_queries() -> None:
    plan = plan_ownership(item_patterns(12), 3, 2, balance=True, weights={})
    assert set(plan.loads) == {0}
    assert [len(queries) for queries in plan.queries] == [4, 4, 4]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_invalid_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match=r"start/news/item0$"):
        plan_ownership(item_patterns(2), 3, 2, weights={StateKey.parse("start/news/item0"): weight})


def test_an_empty_plan_has_no_owners() -> None:
    plan = plan_ownership([], 3)
    assert plan.queries == ((), (), ())
    assert not plan.owners_for(parse_document(b"<a/>"))
