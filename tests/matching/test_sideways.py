"""Steps outside the subtree: intervals equal an evaluation per start, and cost linear work."""

from __future__ import annotations

from random import Random

import pytest
from lxml import etree

from pathcast.documents import ATTRIBUTE, ELEMENT, Document
from pathcast.documents import parse as parse_document
from pathcast.matching.compiled.core.evaluator.evaluate import ConditionProgram, Evaluation
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.matching.plain.sideways import SidewaysStep
from pathcast.xpath import parse
from pathcast.xpath.canonical import canonical_path
from pathcast.xpath.lower import to_path
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.syntax import Axis, LocationPath
from pathcast.xpath.tree import REVERSE, Condition, Step
from tests import generate

AXES = (
    *("following-sibling", "preceding-sibling", "following", "preceding"),
    *("ancestor", "ancestor-or-self"),
)
NAME_TESTS = ("a", "b", "*", "text()", "comment()")
PREDICATES = (
    *("1", "2", "last()", "position() < 3", "position() != 2", "last() > 2", "position() > 1.5"),
    *(
        "position() = 1 or position() = 3",
        "not(position() = last())",
        "position() > 1 and last() < 5",
    ),
    *("@x", "b", "following-sibling::*", "not(a)"),
)


def random_step(rng: Random) -> Step:
    predicates = "".join(f"[{rng.choice(PREDICATES)}]" for _ in range(rng.randint(0, 4)))
    text = f"{rng.choice(AXES)}::{rng.choice(NAME_TESTS)}{predicates}"
    expression = parse_expression(text, {})
    assert isinstance(expression, LocationPath)
    builder = to_path(expression, False)
    assert builder is not None
    path = canonical_path(builder.path)
    assert path is not None
    return path.steps[0]


def is_on_axis(document: Document, axis: Axis, start: int, node: int) -> bool:
    """The definition of each axis, for one pair of nodes; not of the document's last comments."""
    parent, right = document.parent, document.right
    if document.kind[node] == ATTRIBUTE:
        return False
    siblings = parent[node] == parent[start] and document.kind[start] != ATTRIBUTE
    match axis:
        case Axis.FOLLOWING_SIBLING:
            return siblings and node > start
        case Axis.PRECEDING_SIBLING:
            return siblings and node < start
        case Axis.FOLLOWING:
            behind = parent[start] if document.kind[start] == ATTRIBUTE else start
            return node > right[behind]
        case Axis.PRECEDING:
            return right[node] < start
        case Axis.ANCESTOR_OR_SELF if node == start:
            return True
        case _:
            return node < start <= right[node]


def select_one_by_one(
    document: Document, evaluator: Evaluator, step: Step, start: int
) -> list[int]:
    """Return the selection from a node by the definition: a list, filtered by each condition."""
    passing = evaluator._pass_test(step)
    nodes = [node for node in passing if is_on_axis(document, step.axis, start, node)]
    for condition in step.conditions:
        if step.axis in REVERSE:
            nodes.reverse()
        nodes = sorted(filter_in_order(evaluator, condition, nodes))
    return nodes


def filter_in_order(evaluator: Evaluator, condition: Condition, nodes: list[int]) -> list[int]:
    if condition.positional:
        return evaluator.filter(condition, nodes)
    return evaluator.filter(condition, sorted(nodes))


@pytest.mark.parametrize("seed", range(4))
def test_intervals_equal_a_selection_per_start(seed: int, deep: bool) -> None:
    rng = Random(seed)
    selected = 0
    for _ in range(2000 if deep else 150):
        body = generate.document(rng, 12, 5)
        document = parse_document(body)
        if document.kind[1] != ELEMENT or document.right[1] < document.right[0]:
            continue  # libxml2's own rules for nodes beside the root element
        evaluator = Evaluator(document)
        step = random_step(rng)
        sideways = SidewaysStep(document, step, evaluator._pass_test(step), evaluator.filter)
        starts = range(len(document))
        expected = [select_one_by_one(document, evaluator, step, start) for start in starts]
        members = set(rng.sample(sideways.nodes, len(sideways.nodes) // 3))
        sums = sideways.prefix_sums(members)
        for start in starts:
            context = (body, step, start)
            assert sideways.select([start]) == expected[start], context
            assert sideways.count(start) == len(expected[start]), context
            reaches = not members.isdisjoint(expected[start])
            assert sideways.reaches(start, sums) == reaches, context
            selected += len(expected[start])
        some = rng.sample(starts, len(starts) // 2)
        union = sorted({node for start in some for node in expected[start]})
        assert sideways.select(some) == union, (body, step, some)
    assert selected > 1000


LINEAR = [
    "//a[following-sibling::b]",
    "//a[not(following-sibling::b)]",
    "//a[preceding-sibling::a[. = 2]]/following-sibling::a[. = 3]",
    "//a[following-sibling::a[3]/b]",
    "//a[following-sibling::a[last()] = 7]",
    "//a[preceding-sibling::*[position() < 4 and b]]",
    "//a[preceding-sibling::*[position() > 2][1][b]]",
    "//a[following-sibling::a[. = 1][2][. = 2]]",
    "//a[count(following-sibling::a) = 99999]",
    "//a[count(preceding::*) = 99999]",
    "//a[count(following::a[. = 1]) = 99999]",
    "//a[count(following-sibling::a/b) = 99999]",
    "//a[count(preceding::a[. = 1]/text()) = 99999]",
    "//r[count(a/following-sibling::a/b) = 99999]",
    "//a[following::a[2]/preceding::a[5] = 7]",
    "//a[preceding::b]/c",
    "//a[string(preceding-sibling::a) = 'x']",
    "//a[normalize-space(following-sibling::a/text()) = 'x']",
    "//a[starts-with(translate(following::a, '1', 'y'), 'x')]",
    "//a[ancestor::r[a[following-sibling::a[. = 3]]]]",
    "//a[ancestor-or-self::*[2][b]]",
    "//text()[parent::a[. = 7]]",
    "//a[string(../b) = 'x']",
    "//a[../a[. = 3]/../b]",
    "count(//a/following-sibling::a[2]) = 99999",
    "count(//a/preceding::a/..) = 7",
    "//a[following-sibling::*[not(preceding-sibling::*[not(following-sibling::a)])] = 3]",
]


def sibling_elements(count: int) -> bytes:
    return ("<r>" + "<a>1</a>" * count + "<a><b/></a></r>").encode()


@pytest.mark.parametrize("text", LINEAR)
def test_work_on_siblings_is_linear(text: str) -> None:
    """Ten times the siblings cost less than fifteen times the work, in both evaluators."""
    pattern = parse(text)
    assert pattern.residual is None
    small, large = sibling_elements(1000), sibling_elements(10_000)
    plain = []
    compiled = []
    for body in (small, large):
        evaluator = Evaluator(parse_document(body))
        conditions = ConditionProgram()
        handle = conditions.add(pattern.condition)
        evaluation = Evaluation(conditions, etree.fromstring(body))
        assert evaluation.holds(handle) == evaluator.holds(pattern.condition)
        plain.append(evaluator.work)
        compiled.append(evaluation.work)
    assert plain[1] < 15 * plain[0]
    assert compiled[1] < 15 * compiled[0]
    assert 0.3 < compiled[1] / plain[1] < 3


@pytest.mark.parametrize(
    "text", ["//a[preceding::a[2]]", "//a[ancestor::a[3]]", "//a[following::b]"]
)
def test_work_on_nested_elements_is_nodes_times_depth(text: str) -> None:
    bodies = [("<a>" * depth + "</a>" * depth).encode() for depth in (60, 240)]
    evaluators = [Evaluator(parse_document(body)) for body in bodies]
    for evaluator in evaluators:
        evaluator.holds(parse(text).condition)
    assert evaluators[1].work < 20 * evaluators[0].work  # 16 times for 4 times the depth
