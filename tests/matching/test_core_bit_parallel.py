"""Bit-parallel matching of recent paths equals libxml2, and ends when there are too many."""

from __future__ import annotations

from random import Random

import pytest

from pathcast import Matcher
from pathcast.matching.compiled import tiers
from pathcast.matching.compiled.engine import CompiledEngine
from pathcast.matching.compiled.tiers import MatchView
from tests.oracle import oracle

SPACES = {"p": "urn:p", "q": "urn:q"}
FILLERS = [f"/filler/of/{name}" for name in ("a", "b", "c")]


@pytest.fixture
def matcher(monkeypatch: pytest.MonkeyPatch) -> Matcher:
    """Return a matcher with a main automaton that knows the names a, b and c."""
    monkeypatch.setattr(tiers, "MIN_MAIN_SIZE", len(FILLERS))
    matcher = Matcher(engine="core")
    matcher.add_many((f"filler {text}", text) for text in FILLERS)
    matcher.match(b"<a/>")
    return matcher


def view(matcher: Matcher) -> MatchView:
    assert isinstance(matcher._engine, CompiledEngine)
    return matcher._engine._current_view()


def mask_words(matcher: Matcher) -> int:
    """Return the machine words that the masks of recent paths take."""
    return sum(paths.words for paths in view(matcher).recent)


def _path(rng: Random, names: str, longest: int) -> str:
    steps = rng.randint(1, longest)
    return "".join(rng.choice(["/", "/", "//"]) + rng.choice([*names, "*"]) for _ in range(steps))


def _qualified_path(rng: Random) -> str:
    tests = ["a", "*", "p:a", "p:b", "p:*", "q:a", "q:*"]
    steps = rng.randint(1, 4)
    return "".join(rng.choice(["/", "//"]) + rng.choice(tests) for _ in range(steps))


def _element(rng: Random, names: str, depth: int) -> str:
    name = rng.choice(names)
    inner = ""
    if depth < 8:
        inner = "".join(_element(rng, names, depth + 1) for _ in range(rng.choice([0, 1, 1, 2])))
    return f"<{name}>{inner}</{name}>"


@pytest.mark.parametrize("names", ["ab", "abc", "abcxyz"])
def test_random_paths_against_libxml2(matcher: Matcher, names: str, deep: bool) -> None:
    """Names that the main automaton knows, and names that it does not."""
    rng = Random(names)
    texts = {number: _path(rng, names, 7) for number in range(300)}
    for number, text in texts.items():
        matcher.add(number, text)
    for _ in range(200 if deep else 40):
        body = _element(rng, names, 0).encode()
        expected = [number for number, text in texts.items() if oracle(text, None, body)]
        assert list(matcher.match(body)) == expected
    assert mask_words(matcher) > 300 * 3 // 64


def test_paths_added_between_documents(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document after each addition: newest paths become older, and those an automaton."""
    monkeypatch.setattr(tiers, "MAX_RECENT", 200)
    rng = Random(5)
    live: dict[int, str] = {}
    sizes = set()
    for number in range(800):
        live[number] = _path(rng, "abcd", 5)
        matcher.add(number, live[number])
        if number % 3 == 0:
            removed = rng.choice(list(live))
            matcher.remove(removed)
            del live[removed]
        body = _element(rng, "abcd", 3).encode()
        ids = list(matcher.match(body))
        if number % 20 == 0:
            assert ids == [id for id, text in live.items() if oracle(text, None, body)]
        sizes.add((len(view(matcher).nfas), len(view(matcher).recent)))
    assert {(1, 1), (1, 2), (2, 1), (2, 2)} <= sizes


@pytest.mark.parametrize(
    "main_texts", [[], ["//p:a"], ["//p:a", "//p:*", "//q:*/p:b", "/a", "//q:a", "//p:z//q:b"]]
)
def test_namespaces(matcher: Matcher, main_texts: list[str], deep: bool) -> None:
    """The main automaton knows none, some or all of the names; then its name table is shared."""
    rng = Random(6)
    for text in main_texts:
        matcher.add(f"main {text}", text, SPACES)
    matcher.settle()
    matcher.match(b"<x/>")
    texts = {number: _qualified_path(rng) for number in range(200)}
    for number, text in texts.items():
        matcher.add(number, text, SPACES)
    words = mask_words(matcher)
    for _ in range(200 if deep else 40):
        body = _element(rng, "a", 2).replace("<a>", "<{}>").replace("</a>", "</>")
        while "{}" in body:  # random names; `_close_tags` adds their end tags
            body = body.replace(
                "{}", rng.choice(["a", "p:a", "p:b", "p:z", "q:a", "q:b", "r:a"]), 1
            )
        document = _close_tags(body).encode()
        expected = [number for number, text in texts.items() if oracle(text, SPACES, document)]
        assert [id for id in matcher.match(document) if isinstance(id, int)] == expected
    assert words


def _close_tags(body: str) -> str:
    spaces = "xmlns:p='urn:p' xmlns:q='urn:q' xmlns:r='urn:r'"
    parts: list[str] = []
    names: list[str] = []
    for part in body.split("<")[1:]:
        if part.startswith("/"):
            parts.append(f"</{names.pop()}>")
        else:
            names.append(part.rstrip(">"))
            parts.append(f"<{part}")
    return f"<root {spaces}>{''.join(parts)}</root>"


@pytest.mark.parametrize(("steps", "fits"), [(1, True), (63, True), (64, True), (65, False)])
def test_a_path_must_fit_one_word(matcher: Matcher, steps: int, fits: bool) -> None:
    texts = ["/a" * steps, "//a" * steps, "/a" + "//*" * (steps - 1), "/a" * (steps - 1) + "/b"]
    for number, text in enumerate(texts):
        matcher.add(number, text)
    for depth in (1, steps - 1, steps, steps + 1, 100):
        body = f"{'<a>' * depth}<b/>{'</a>' * depth}".encode()
        expected = [number for number, text in enumerate(texts) if oracle(text, None, body)]
        assert list(matcher.match(body)) == expected
    assert (mask_words(matcher) == (1 if steps == 1 else 4)) is fits
    assert (len(view(matcher).nfas) == 1) is fits


def test_deep_and_wide_documents(matcher: Matcher) -> None:
    """Memory is bounded by the open elements; a deep branch leaves no bits for its successors."""
    matcher.add("deep", "//a//b//c")
    matcher.add("flat", "/a/b")
    deep = "<a>" * 80 + "<b>" * 80 + "<c/>" + "</b>" * 80 + "</a>" * 80
    assert list(matcher.match(deep.encode())) == ["deep"]
    assert list(matcher.match(b"<a><x/><c/></a>")) == []
    wide = "<a>" + "<b/>" * 5_000 + "</a>"
    assert list(matcher.match(wide.encode())) == ["flat"]
    apart = "<r><a/><b/><c/></r>"
    assert list(matcher.match(apart.encode())) == []


def test_hops_and_removal(matcher: Matcher) -> None:
    matcher.add("one", "//a", hop=7)
    matcher.add("two", "//b", hop=200)
    matcher.add("none", "//a/b")
    assert mask_words(matcher) == 1
    assert list(matcher.match_hops(b"<a><b/></a>")) == [7, 200]
    matcher.remove("one")
    assert list(matcher.match(b"<a><b/></a>")) == ["two", "none"]
    assert list(matcher.match_hops(b"<a><b/></a>")) == [200]


@pytest.mark.parametrize("text", ["//a/@x", "/a/text()", "//a[b][a]", "//a/node()", "//a[. = 1]"])
def test_paths_with_other_nodes_go_into_an_automaton(matcher: Matcher, text: str) -> None:
    matcher.add("it", text)
    assert mask_words(matcher) == 0
    assert len(view(matcher).nfas) == 2
    body = b"<a x='1'><b/>t<a>1</a></a>"
    assert list(matcher.match(body)) == ["it"]


def test_too_many_recent_paths_become_an_automaton(matcher: Matcher) -> None:
    matcher.add_many((number, f"/a/n{number}") for number in range(1024))
    assert mask_words(matcher) > 0
    assert len(view(matcher).nfas) == 1
    matcher.add(1024, "/a/n1024")
    assert mask_words(matcher) == 0
    assert len(view(matcher).nfas) == 2
    assert list(matcher.match(b"<a><n3/><n1024/></a>")) == [3, 1024]


def test_settling_merges_recent_paths(matcher: Matcher) -> None:
    matcher.add("new", "//a/b")
    assert mask_words(matcher) == 1
    matcher.settle()
    assert mask_words(matcher) == 0
    assert list(matcher.match(b"<a><b/></a>")) == ["new"]


def test_small_sets_use_no_bit_parallel_matching() -> None:
    matcher = Matcher(engine="core")
    for number in range(20):
        matcher.add(number, "//a")
        matcher.match(b"<a/>")
    assert mask_words(matcher) == 0
