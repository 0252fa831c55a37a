"""Tests of the shared NFA and its lazy DFA, on the examples of the papers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.documents import parse as parse_document
from pathcast.matching.draw import draw
from pathcast.matching.matcher import Matcher
from pathcast.matching.nfa import DfaMemo, Nfa
from pathcast.matching.paths import requirements
from pathcast.xpath import parse
from tests.oracle import oracle

# Miliaraki 2008, figure 1
FIGURE_1 = {
    "q1": "/dblp/phdthesis/year",
    "q2": "/dblp/www/title",
    "q3": "/dblp/proceedings/school",
    "q4": "/dblp/proceedings/title",
    "q5": "/dblp/*/author",
    "q6": "//*/cite",
}


def build_nfa(queries: dict[str, str]) -> Nfa[str]:
    nfa: Nfa[str] = Nfa()
    for name, text in queries.items():
        (requirement,) = requirements(parse(text).condition)
        assert requirement.exact
        nfa.add(requirement.paths[0], name)
    return nfa


def run_nfa(nfa: Nfa[str], memo: DfaMemo[str], body: bytes) -> set[str]:
    states = memo.run(nfa, parse_document(body))
    return {name for state in states for name in state.outputs}


def test_figure_1_shares_prefixes() -> None:
    """Miliaraki 2008, section 2.2: states 0 to 13, less the target of the ε-transition.

    Here an ε-transition with its self-loop is a descendant edge, not a state.
    """
    nfa = build_nfa(FIGURE_1)
    assert nfa.size == 13
    assert draw(nfa, "text", lambda _: 1).splitlines() == [
        "start",
        "├─ /dblp",
        "│  ├─ /phdthesis",
        "│  │  └─ /year  [1]",
        "│  ├─ /www",
        "│  │  └─ /title  [1]",
        "│  ├─ /proceedings",
        "│  │  ├─ /school  [1]",
        "│  │  └─ /title  [1]",
        "│  └─ /*",
        "│     └─ /author  [1]",
        "└─ //*",
        "   └─ /cite  [1]",
    ]


def test_figure_1_run_reaches_the_accepting_states() -> None:
    """Miliaraki 2008, section 5.1: a state set per open element, restored at its end."""
    nfa, memo = build_nfa(FIGURE_1), DfaMemo[str]()
    thesis = b"<dblp><phdthesis><author/><year/></phdthesis><www><cite/></www></dblp>"
    assert run_nfa(nfa, memo, thesis) == {"q1", "q5", "q6"}
    assert run_nfa(nfa, memo, b"<dblp><www><title/></www><title/></dblp>") == {"q2"}
    assert run_nfa(nfa, memo, b"<x><dblp><www><title/></www></dblp></x>") == set()
    assert run_nfa(nfa, memo, b"<cite/>") == set()
    assert memo.hits > 0


def test_paths_with_equal_concatenated_names_have_distinct_states() -> None:
    nfa = build_nfa({"q1": "/a/bc", "q2": "/ab/c"})
    assert nfa.size == 5
    assert len({state.path() for state in nfa.states()}) == 5


def test_remove_deletes_unused_states() -> None:
    nfa = build_nfa(FIGURE_1)
    for name, text in FIGURE_1.items():
        (requirement,) = requirements(parse(text).condition)
        nfa.remove(requirement.paths[0], name)
    assert nfa.size == 1
    assert nfa.start.edges == {}
    assert nfa.start.descendant_edges == 0


def test_memo_limit_bounds_its_weight_and_keeps_the_result() -> None:
    nfa = build_nfa({"deep": "//a//b//a", "any": "/*/*/*", "b": "//b"})
    small, large = DfaMemo[str](limit=3), DfaMemo[str]()
    bodies = [b"<a><b><c/><a/></b></a>", b"<b><a/></b>", b"<c><d><e/></d></c>", b"<f/>"] * 2
    for body in bodies:
        assert run_nfa(nfa, small, body) == run_nfa(nfa, large, body)
        assert small.weight <= 8
        assert small.size <= 4


_paths = st.lists(
    st.tuples(st.sampled_from(["/", "//"]), st.sampled_from("ab*")), min_size=1, max_size=5
).map(lambda steps: "".join(axis + name for axis, name in steps))


@given(st.lists(_paths, min_size=1, max_size=12, unique=True), st.data())
def test_run_equals_the_oracle_per_path(paths: list[str], data: st.DataObject) -> None:
    trees = st.recursive(
        st.sampled_from(["<a/>", "<b/>"]),
        lambda inner: st.tuples(st.sampled_from("ab"), st.lists(inner, max_size=3)).map(
            lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
        ),
    )
    body = data.draw(trees).encode()
    nfa: Nfa[str] = Nfa()
    for text in paths:
        (requirement,) = requirements(parse(text).condition)
        nfa.add(requirement.paths[0], text)
    assert run_nfa(nfa, DfaMemo[str](), body) == {p for p in paths if oracle(p, None, body)}


def test_names_are_case_sensitive() -> None:
    """Cao 2012, figure 2.7: the query says windChill, the document windchill."""
    body = (
        b"<file_header><root><Toronto><temperature>-17.5</temperature></Toronto><Ottawa>"
        b"<temperature>0.2</temperature><windchill> -6</windchill></Ottawa></root></file_header>"
    )
    matcher = Matcher()
    matcher.add("printed", "//Ottawa[temperature][windChill]")
    matcher.add("meant", "//Ottawa[temperature][windchill]")
    matcher.add("cold", "//Ottawa[windchill < -5]")
    assert list(matcher.match(body)) == ["meant", "cold"]
    hints = matcher.explain("//Ottawa[temperature][windChill]", body).hints
    assert hints == ("no 'windChill'; did you mean 'windchill'?",)
