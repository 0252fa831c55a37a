"""Tests of work counters: hostile subscriptions cost no more than the documented bounds."""

from __future__ import annotations

import pytest

from pathcast.documents import parse as parse_document
from pathcast.matching.engine import EngineName
from pathcast.matching.matcher import Matcher
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.xpath import parse
from tests.matching.engines import each_engine, memos


def work(text: str, body: bytes) -> int:
    evaluator = Evaluator(parse_document(body))
    evaluator.holds(parse(text).condition)
    return evaluator.work


def nested_elements(name: str, depth: int, inner: str = "") -> bytes:
    return (f"<{name}>" * depth + inner + f"</{name}>" * depth).encode()


def sibling_elements(name: str, count: int) -> bytes:
    return ("<r>" + f"<{name}>1</{name}>" * count + "</r>").encode()


@pytest.mark.parametrize(
    "text",
    [
        "//a[.//a[.//a[.//a[.//b]]]]",
        "//a[not(.//a[not(.//a[not(b)])])]",
        "//a[count(.//a) > 3 or .//b]",
        "//a[descendant::a[3]]/b",
        "//a[contains(.//b, 'x') or @y]",
    ],
)
def test_nested_predicates_cost_nodes_times_depth(text: str) -> None:
    small, large = work(text, nested_elements("a", 60)), work(text, nested_elements("a", 240))
    assert large < 20 * small  # 16 times for 4 times the depth, not 4^5 times


@pytest.mark.parametrize("text", ["//a[. = 2]", "//a[last()]", "//*[a = 7]", "//a[@x or b or c]"])
def test_sibling_documents_cost_linear_work(text: str) -> None:
    assert work(text, sibling_elements("a", 4000)) < 5 * work(text, sibling_elements("a", 1000))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("//a[count(//b) = 5]", "<a/><b/>"),
        ("//a[not(contains(//b, 'b'))]", "<a/><b/>"),
        ("//a[position() = 1 or /descendant::b[2]]", "<a/><b/>"),
        ("//c[position() = 2 or b]", "<a><c><b/></c></a>"),
        ("//*[not(position() = 1 or c)]", "<a><c/></a>"),
        ("//descendant-or-self::processing-instruction()[3]", "<?i?>"),
        ("//a[descendant::node()[2] = 7]", "<a><b/><c/></a>"),
    ],
)
def test_context_free_conditions_are_evaluated_once(text: str, unit: str) -> None:
    small, large = (work(text, f"<r>{unit * count}</r>".encode()) for count in (500, 2000))
    assert large < 5 * small


def test_count_below_nested_elements_costs_nodes_times_depth() -> None:
    small, large = (
        work("//a[count(.//a/b) = 3]", nested_elements("a", 240, "<b/>" * n)) for n in (50, 200)
    )
    assert large < 5 * small
    assert large < 240 * 240 * 10  # nodes times depth, not times its square


@each_engine
def test_numbers_are_parsed_in_one_pass(engine: EngineName) -> None:
    """An invalid number of a hundred thousand digits must not cause backtracking."""
    matcher = Matcher(engine=engine)
    matcher.add(1, "//a[b > 5]")
    for digits in ("0", "1"):
        text = "1." + digits * 100_000 + "x"
        assert len(matcher.match(f"<r><a><b>{text}</b></a></r>".encode())) == 0


def test_nested_unions_are_not_expanded() -> None:
    text = "//x[" + "(a|b|d|e)/c[" * 60 + "c" + "]" * 61
    assert len(parse(text).text) < 2 * len(text)


@each_engine
def test_long_sibling_runs_fail_only_quadratic_subscriptions(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("plain", "//a")
    matcher.add("sorting", "concat(//comment(), '') = 'x'")
    short = b"<r><a/>" + b"<!--5-->" * 4000 + b"</r>"
    long = b"<r><a/>" + b"<!--5-->" * 5000 + b"</r>"
    assert matcher.match(short).errors == {}
    matches = matcher.match(long)
    assert list(matches) == ["plain"]
    assert {id: error.kind for id, error in matches.errors.items()} == {"sorting": "document"}


@each_engine
def test_shared_predicates_are_evaluated_once(engine: EngineName) -> None:
    """A hundred subscriptions with one predicate cost less than ten evaluations of it."""
    body = sibling_elements("a", 200).replace(b"<a>1", b"<a>7", 1)
    matcher = Matcher(engine=engine)
    for number in range(50):
        matcher.add(number, f"//a[. > 5] | /x{number}")
        matcher.add(f"{number}", f"/r[a[. > 5]][not(x{number})]")
    matcher.match(body)
    assert 0 < matcher.stats().join_work < 10 * work("/r/a[. > 5]", body)


@each_engine
def test_descendant_wildcards_have_one_state_per_step(engine: EngineName) -> None:
    """`//*//*//*...` of all lengths: state sets grow with depth times subscriptions, no faster."""
    matcher = Matcher(engine=engine)
    for length in range(1, 41):
        matcher.add(length, "//*" * length)
    matcher.settle()
    body = nested_elements("a", 60)
    assert len(matcher.match(body)) == 40
    assert matcher.stats().states == 41
    assert matcher.stats().memo <= 64


@each_engine
def test_memo_on_names_that_never_repeat(engine: EngineName) -> None:
    """The memo has an entry per label path; the compiled engine maps unknown names to one."""
    matcher = Matcher(engine=engine)
    matcher.add("any", "//z")
    for number in range(50):
        body = "".join(f"<n{number}-{k}/>" for k in range(100))
        assert len(matcher.match(f"<r>{body}</r>".encode())) == 0
    stats = matcher.stats()
    limit = 5 if engine == "core" else 5100
    assert stats.memo <= limit
    assert stats.memo_misses <= limit


@each_engine
def test_thousands_of_value_predicates_on_one_node(engine: EngineName) -> None:
    """The compiled engine hashes values to states; the plain one evaluates each test once."""
    matcher = Matcher(engine=engine)
    count = 10_000 if engine == "core" else 2000
    for number in range(count):
        matcher.add(number, f"/r/a[. = {number}]")
    assert list(matcher.match(b"<r><a>77</a><a>5</a></r>")) == [5, 77]
    matcher.settle()
    stats = matcher.stats()
    if engine == "core":
        assert (stats.states, stats.join_work) == (count + 3, 0)
        assert sum(memo.work for memo in memos(matcher)) < 20
    else:
        assert stats.states == 3
        assert 0 < stats.join_work < 10 * count
