"""Adversarial subscriptions and documents: bounds on the counted work, never on time.

`memo.work` counts NFA edges that were looked up, `join_work` the nodes that joins and the evaluator
visited, `memo.memory` bytes. Every test states its bound: S states, D levels, N document nodes.
"""

from __future__ import annotations

import pytest

from pathcast import Matcher
from tests.matching.engines import memos
from tests.matching.test_work import nested_elements


def settled_matcher(texts: list[str]) -> Matcher:
    matcher = Matcher(engine="core")
    matcher.add_many(enumerate(texts))
    matcher.settle()
    return matcher


def work(matcher: Matcher) -> int:
    return sum(memo.work for memo in memos(matcher))


def memory(matcher: Matcher) -> int:
    return sum(memo.memory for memo in memos(matcher))


def distinct(depth: int, prefix: str = "n") -> bytes:
    names = [f"{prefix}{level}" for level in range(depth)]
    opened = "".join(f"<{name}>" for name in names)
    return (opened + "".join(f"</{name}>" for name in reversed(names))).encode()


@pytest.mark.parametrize("depth", [60, 120, 250])
@pytest.mark.parametrize("names", ["equal", "distinct", "known"])
def test_descendant_wildcards(depth: int, names: str) -> None:
    """`//*//*//*...` of all lengths up to 40: at most S edges per level, S x D in total."""
    texts = ["//*" * length for length in range(1, 41)]
    if names == "known":
        texts += [f"/n{level}/none" for level in range(depth)]
    matcher = settled_matcher(texts)
    body = nested_elements("a", depth) if names == "equal" else distinct(depth)
    assert len(matcher.match(body)) == 40
    states = matcher.stats().states
    assert work(matcher) <= 2 * states * depth
    assert memory(matcher) < 100 * states * depth + 100_000


@pytest.mark.parametrize("depth", [60, 120, 250])
def test_repeated_descendant_name(depth: int) -> None:
    """`//a//a//a...` up to length 40 on nested a: each state loops once per path, S x D edges."""
    matcher = settled_matcher(["//a" * length for length in range(1, 41)])
    assert len(matcher.match(nested_elements("a", depth))) == 40
    assert work(matcher) <= 2 * 41 * depth
    assert memory(matcher) < 100 * 41 * depth + 100_000


@pytest.mark.parametrize("depth", [60, 250])
def test_alternating_names_and_wildcards(depth: int) -> None:
    """`//a//*//a//*...`: the same bound."""
    texts = [("//a//*" * 20)[: 3 * length].rstrip("/") for length in range(1, 41)]
    texts = sorted({text for text in texts if text[-1] in "a*"}, key=len)
    matcher = settled_matcher(texts)
    states = matcher.stats().states
    assert len(matcher.match(nested_elements("a", depth))) == len(texts)
    assert work(matcher) <= 3 * states * depth


def test_label_paths_share_loop_sets() -> None:
    """A thousand `//nI/x` on a thousand label paths: a node follows its own name, not S edges."""
    count = 1000
    matcher = settled_matcher([f"//n{number}/x" for number in range(count)])
    body = "<r>" + "".join(f"<n{n}><x/></n{n}>" for n in range(count)) + "</r>"
    assert len(matcher.match(body.encode())) == count
    assert work(matcher) < 10 * count


def test_ten_thousand_predicates_on_one_node() -> None:
    """An equality costs one look-up, a range its matches: 20 edges per value besides these."""
    texts = [f"/r/a[. = {number}]" for number in range(3000)]
    texts += [f"/r/a[. = 'v{number}']" for number in range(3000)]
    texts += [f"/r/a[. > {number}]" for number in range(2000)]
    texts += [f"/r/a[. <= {number}]" for number in range(2000)]
    matcher = settled_matcher(texts)
    for value in ("-1", "1000", "1000.5", "v77", "none", "1e400", "2999"):
        before = work(matcher)
        matches = len(matcher.match(f"<r><a>{value}</a></r>".encode()))
        assert work(matcher) - before <= matches + 20
    assert matcher.stats().join_work == 0
    assert memory(matcher) < 5_000_000


def test_distinct_values() -> None:
    """Twenty thousand values, two tests: the memo holds value classes, not values."""
    matcher = settled_matcher(["//a[. > 100]", "//a[. = 'x']"])
    for start in range(0, 20_000, 1000):
        values = "".join(f"<a>{value}</a>" for value in range(start, start + 1000))
        matcher.match(f"<r>{values}</r>".encode())
    assert matcher.stats().memo < 12
    assert memory(matcher) < 50_000


def test_unknown_names() -> None:
    """All unknown names share one code: neither label paths nor memory grow with them."""
    matcher = settled_matcher(["//z", "/r/*/y", "//q/@v"])
    sizes = set()
    for number in range(60):
        body = "".join(
            f"<n{number}-{k} a{number}-{k}=''><b{number}/></n{number}-{k}>" for k in range(100)
        )
        assert len(matcher.match(f"<r>{body}</r>".encode())) == 0
        sizes.add((matcher.stats().memo, memory(matcher)))
    assert len(sizes) == 1


def test_a_thousand_twigs_on_one_wide_node() -> None:
    """Each branch is searched among N children once: twigs + N visited nodes, not twigs x N."""
    count = 1000
    matcher = settled_matcher([f"/r[n{number}][m{number}]/x" for number in range(count)])
    kids = "".join(f"<n{number}/><m{number}/>" for number in range(count)) + "<x/>"
    assert len(matcher.match(f"<r>{kids}</r>".encode())) == count
    assert matcher.stats().join_work < 10 * count


@pytest.mark.parametrize("count", [100, 1000])
def test_twigs_with_frequent_branches(count: int) -> None:
    """`//a[.//b][.//c]` with N of each below one another: N x D nodes at most, not N x N."""
    matcher = settled_matcher(["//a[.//b][.//c]", "//*[.//b][.//c]", "//a[a[.//b]]//c"])
    inner = "<b/>" * count + "<c/>" * count
    body = nested_elements("a", 50, inner)
    assert len(matcher.match(body)) == 3
    assert matcher.stats().join_work < 10 * 50 * (2 * count + 50)


def test_nested_twigs_on_nested_elements() -> None:
    """`//a[.//a[.//a[...]]]`: polynomial, D x D per level of the twig."""
    text = "//a[x]"
    for _ in range(8):
        text = f"//a[.{text}][b]"
    for depth in (15, 30, 58, 100, 200):
        matcher = settled_matcher([text])
        matcher.match(nested_elements("a", depth, "<b/><x/>"))
        assert matcher.stats().join_work <= 10 * 9 * depth * depth


def test_paths_of_nine_hundred_steps() -> None:
    """Longer than documents are deep: at most 256 levels of states are active."""
    matcher = settled_matcher(["/a" * 900, "/*" * 900, "/a" * 900 + "/b", "//a" * 450])
    body = nested_elements("a", 256)
    assert len(matcher.match(body)) == 0
    assert work(matcher) <= 8 * 4 * 256
    assert matcher.stats().states == 1 + 900 + 900 + 1 + 450


def test_untested_attributes() -> None:
    """A thousand attributes on an element, none visited if no state tests attributes."""
    matcher = settled_matcher(["/r/a/b", "/r/x/@y"])
    attributes = " ".join(f"n{number}=''" for number in range(1000))
    matcher.match(f"<r><a {attributes}><b/></a></r>".encode())
    assert work(matcher) < 20
