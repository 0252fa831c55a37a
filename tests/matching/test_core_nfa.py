"""The compiled NFA has the states of the plain one, and its paths are those of its labels."""

from __future__ import annotations

import doctest
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.matching.compiled.core import nfa as nfa_module
from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.matching.compiled.core.nfa import CompiledNfa
from pathcast.matching.nfa import Nfa
from pathcast.matching.paths import requirements
from pathcast.xpath import parse
from tests.matching.test_nfa import FIGURE_1

paths_of = st.lists(
    st.tuples(st.sampled_from(["/", "//"]), st.sampled_from("abc*")), min_size=1, max_size=6
).map(lambda steps: "".join(axis + name for axis, name in steps))


def read(texts: list[str]) -> LinearPaths:
    paths = LinearPaths(Vocabulary())
    for text in texts:
        assert paths.read(text)
    return paths


def plain_size(texts: list[str]) -> int:
    automaton: Nfa[int] = Nfa()
    for number, text in enumerate(texts):
        (requirement,) = requirements(parse(text).condition)
        automaton.add(requirement.paths[0], number)
    return automaton.size


def check(texts: list[str]) -> None:
    paths = read(texts)
    nfa = CompiledNfa(paths, range(len(texts)), [])
    assert nfa.size == plain_size(texts)
    outline = nfa.outline()
    assert [state for state, _, _ in outline] == list(range(nfa.size))
    ends: Counter[object] = Counter()
    paths_of_states = []
    for state, parent, count in outline:
        path = nfa.path(state)
        paths_of_states.append(path)
        assert parent == -1 if state == 0 else path[:-1] == nfa.path(parent)
        ends[path] += count
    assert len(set(paths_of_states)) == nfa.size, "two states have one path"
    assert +ends == Counter(paths.path(number) for number in range(len(texts)))


@given(st.lists(paths_of, max_size=30))
def test_states_are_the_prefixes_of_all_paths(texts: list[str]) -> None:
    check(texts)


def test_states_with_many_edges() -> None:
    """Thousands of successors, inserted in random order."""
    texts = [f"/r/n{number}" for number in range(3000)]
    texts += [f"/r//n{number}/@x" for number in range(300)]
    Random(2).shuffle(texts)
    check(texts)
    matcher = Matcher(engine="core")
    matcher.add_many((text, text) for text in texts)
    body = b"<r><n7/><n2999/><m><n299 x=''/></m></r>"
    assert set(matcher.match(body)) == {"/r/n7", "/r/n2999", "/r//n299/@x"}


def test_long_paths() -> None:
    """Maximum length, common prefixes, deeper than any document."""
    texts = ["/a" * length for length in range(1, 260)] + ["//a" * 300, "//*" * 256]
    check(texts)
    matcher = Matcher(engine="core")
    matcher.add_many((number, text) for number, text in enumerate(texts))
    matcher.add("thousand", "/a" * 1000)
    matcher.add("dash", "/a" * 900 + "/b")
    body = b"<a>" * 250 + b"</a>" * 250
    assert list(matcher.match(body)) == list(range(250))
    assert len(matcher.match(b"<a>" * 256 + b"</a>" * 256)) == 257


def test_figure_1() -> None:
    """Miliaraki et al., section 2.2: the states 0-13; the state behind ε is an edge here."""
    check(list(FIGURE_1.values()))
    matcher = Matcher(engine="core")
    matcher.add_many(FIGURE_1.items())
    assert matcher.stats().states == 13
    plain = Matcher(engine="plain")
    plain.add_many(FIGURE_1.items())
    assert matcher.draw() == plain.draw()


def test_figure_1_runs() -> None:
    """Section 5.1, on the same documents as the plain automaton."""
    matcher = Matcher(engine="core")
    matcher.add_many(FIGURE_1.items())
    thesis = b"<dblp><phdthesis><author/><year/></phdthesis><www><cite/></www></dblp>"
    assert list(matcher.match(thesis)) == ["q1", "q5", "q6"]
    assert list(matcher.match(b"<dblp><www><title/></www><title/></dblp>")) == ["q2"]
    assert list(matcher.match(b"<x><dblp><www><title/></www></dblp></x>")) == []
    assert list(matcher.match(b"<cite/>")) == []
    matcher.match(thesis)
    assert matcher.stats().memo_hits > 0


def test_keys_do_not_collide() -> None:
    check(["/a/bc", "/ab/c", "/a//bc", "/abc", "//a/bc"])


def test_settling_drops_the_states_of_removed_paths() -> None:
    matcher = Matcher(engine="core")
    matcher.add_many(FIGURE_1.items())
    for name in list(FIGURE_1)[1:]:
        matcher.remove(name)
    matcher.settle()
    assert matcher.stats().states == 4
    matcher.remove("q1")
    matcher.settle()
    assert matcher.stats().states == 1


def test_examples() -> None:
    assert doctest.testmod(nfa_module).failed == 0
