"""The shared automaton, with the papers' own examples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.documents import parse as parse_document
from pathcast.matching.automaton import Automaton, Memo
from pathcast.matching.draw import draw
from pathcast.matching.matcher import Matcher
from pathcast.matching.paths import requirements
from pathcast.xpath import parse
from tests.oracle import oracle

# Miliaraki et al., figure 1
FIGURE_1 = {
    "q1": "/dblp/phdthesis/year",
    "q2": "/dblp/www/title",
    "q3": "/dblp/proceedings/school",
    "q4": "/dblp/proceedings/title",
    "q5": "/dblp/*/author",
    "q6": "//*/cite",
}


def built(queries: dict[str, str]) -> Automaton[str]:
    automaton: Automaton[str] = Automaton()
    for name, text in queries.items():
        (requirement,) = requirements(parse(text).condition)
        assert requirement.exact
        automaton.add(requirement.paths[0], name)
    return automaton


def reached(automaton: Automaton[str], memo: Memo[str], body: bytes) -> set[str]:
    states = memo.run(automaton, parse_document(body))
    return {name for state in states for name in state.waiting}


def test_figure_1_shares_prefixes() -> None:
    """Miliaraki et al., section 2.2: the states 0-13; the one behind ε is an edge here, not a state."""
    automaton = built(FIGURE_1)
    assert automaton.size == 13
    assert draw(automaton, "text", lambda _: 1).splitlines() == [
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


def test_figure_1_runs() -> None:
    """Section 5.1: active states per open element; the end of one goes back to its parent's."""
    automaton, memo = built(FIGURE_1), Memo[str]()
    thesis = b"<dblp><phdthesis><author/><year/></phdthesis><www><cite/></www></dblp>"
    assert reached(automaton, memo, thesis) == {"q1", "q5", "q6"}
    assert reached(automaton, memo, b"<dblp><www><title/></www><title/></dblp>") == {"q2"}
    assert reached(automaton, memo, b"<x><dblp><www><title/></www></dblp></x>") == set()
    assert reached(automaton, memo, b"<cite/>") == set()
    assert memo.hits > 0


def test_keys_do_not_collide() -> None:
    """`/a/bc` and `/ab/c` have different states, which joined names would not show."""
    automaton = built({"one": "/a/bc", "two": "/ab/c"})
    assert automaton.size == 5
    assert len({state.path() for state in automaton.states()}) == 5


def test_removing_takes_states_back() -> None:
    automaton = built(FIGURE_1)
    for name, text in FIGURE_1.items():
        (requirement,) = requirements(parse(text).condition)
        automaton.remove(requirement.paths[0], name)
    assert automaton.size == 1
    assert automaton.start.edges == {}
    assert automaton.start.deep == 0


def test_the_memo_is_bounded_and_only_a_memo() -> None:
    automaton = built({"deep": "//a//b//a", "any": "/*/*/*", "b": "//b"})
    small, large = Memo[str](limit=3), Memo[str]()
    bodies = [b"<a><b><c/><a/></b></a>", b"<b><a/></b>", b"<c><d><e/></d></c>", b"<f/>"] * 2
    for body in bodies:
        assert reached(automaton, small, body) == reached(automaton, large, body)
        assert small.weight <= 8
        assert small.size <= 4


_paths = st.lists(
    st.tuples(st.sampled_from(["/", "//"]), st.sampled_from("ab*")), min_size=1, max_size=5
).map(lambda steps: "".join(axis + name for axis, name in steps))


@given(st.lists(_paths, min_size=1, max_size=12, unique=True), st.data())
def test_equals_asking_one_by_one(paths: list[str], data: st.DataObject) -> None:
    trees = st.recursive(
        st.sampled_from(["<a/>", "<b/>"]),
        lambda inner: st.tuples(st.sampled_from("ab"), st.lists(inner, max_size=3)).map(
            lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
        ),
    )
    body = data.draw(trees).encode()
    automaton: Automaton[str] = Automaton()
    for text in paths:
        (requirement,) = requirements(parse(text).condition)
        automaton.add(requirement.paths[0], text)
    assert reached(automaton, Memo[str](), body) == {p for p in paths if oracle(p, None, body)}


def test_weather_example() -> None:
    """Cao, figure 2.7: the query says windChill where the document has windchill, and names have case."""
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
