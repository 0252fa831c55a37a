"""The compiled evaluator against the plain evaluator and libxml2, on the same trees.

Two sources of conditions: subscriptions, for which libxml2 is the oracle, and random values of
`pathcast.xpath.tree` with combinations that no subscription is lowered to. For those the plain
evaluator is the oracle.
"""

from __future__ import annotations

import doctest
from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import Document, Limits
from pathcast.documents import parse as parse_document
from pathcast.documents.numbering import number_nodes
from pathcast.matching.compiled.core import numbers
from pathcast.matching.compiled.core.evaluator import evaluate, nodes, program
from pathcast.matching.compiled.core.evaluator.evaluate import ConditionProgram, Evaluation
from pathcast.matching.compiled.core.evaluator.nodes import number_document
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.xpath import Cost, parse
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
    Value,
    ValueKind,
)
from tests import generate, strategies
from tests.conformance.test_conformance import CASES
from tests.generate import NAMESPACES, Knobs
from tests.oracle import document as oracle_document
from tests.oracle import expression, holds, oracle

SHAPES = ((2, 2), (8, 6), (14, 6), (14, 20), (40, 4), (200, 9))  # elements and levels
KINDS = (
    generate.NATIVE,
    generate.NATIVE,
    Knobs(relative=0.1, depth=4),
    generate.WHOLE,
    generate.SIDEWAYS,
)
OPS = ("=", "!=", "<", "<=", ">", ">=")
STEP_AXES = (Axis.CHILD, Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE)
TESTS = (
    *(Test(TestKind.NAME, name) for name in ("a", "b", "c", "x", "y", "{urn:p}a", "{urn:q}b")),
    *(Test(TestKind.ANY_IN, uri) for uri in ("urn:p", "urn:q", "urn:none")),
    *(Test(TestKind.INSTRUCTION, target) for target in ("", "i", "none")),
    Test(TestKind.ANY),
    Test(TestKind.ANY),
    Test(TestKind.NODE),
    Test(TestKind.NODE),
    Test(TestKind.TEXT),
    Test(TestKind.COMMENT),
)
OPERANDS = ("", "5", "a", "abc", "05", "é", "-1", "1e0", " ", "not a number")


def answers(handles: list[int], conditions: ConditionProgram, document: Document) -> list[bool]:
    evaluation = Evaluation(conditions, document.tree.getroot())
    return [evaluation.holds(handle) for handle in handles]


def holds_in(text: str, body: bytes, namespaces: dict[str, str] | None = None) -> bool:
    conditions = ConditionProgram()
    handle = conditions.add(parse(text, namespaces).condition)
    return Evaluation(conditions, etree.fromstring(body)).holds(handle)


# subscriptions


@pytest.mark.parametrize("seed", range(8))
def test_subscriptions(seed: int, deep: bool) -> None:
    """Against both oracles; libxml2's answer counts if a pattern has no residual."""
    hits = pairs = plain_work = work = 0
    for round_ in range(20 if deep else 2):
        rng = Random(f"{seed} {round_}")
        texts = [generate.expression(rng, rng.choice(KINDS)) for _ in range(150)]
        patterns = [parse(text, NAMESPACES) for text in texts]
        questions = [expression(text, NAMESPACES) for text in texts]
        conditions = ConditionProgram()
        handles = [conditions.add(pattern.condition) for pattern in patterns]
        for _ in range(20):
            body = generate.document(rng, *rng.choice(SHAPES))
            document = parse_document(body)
            plain = Evaluator(document)
            evaluation = Evaluation(conditions, document.tree.getroot())
            for text, pattern, handle, question in zip(
                texts, patterns, handles, questions, strict=True
            ):
                answer = evaluation.holds(handle)
                assert answer == plain.holds(pattern.condition), (text, body)
                if pattern.check is None:
                    assert answer == holds(question, oracle_document(body)), (text, body)
                hits += answer
                pairs += 1
            plain_work += plain.work
            work += evaluation.work
    assert 0.1 < hits / pairs < 0.7, "pairs that all have one answer show nothing"
    assert 0.5 < work / plain_work < 1.5


@given(strategies.native_expressions(), strategies.documents())
def test_one_subscription(text: str, body: bytes) -> None:
    if parse(text, NAMESPACES).check is None:
        assert holds_in(text, body, NAMESPACES) == oracle(text, NAMESPACES, body)


@pytest.mark.parametrize("name", CASES)
def test_conformance(name: str) -> None:
    case = CASES[name]
    namespaces = case.get("namespaces")
    conditions = ConditionProgram()
    document = parse_document(case["document"].encode(case.get("encoding", "utf-8")))
    for expected, texts in ((True, case["match"]), (False, case["miss"])):
        for text in texts:
            pattern = parse(text, namespaces)
            handle = conditions.add(pattern.condition)
            answer = Evaluation(conditions, document.tree.getroot()).holds(handle)
            assert answer == Evaluator(document).holds(pattern.condition), text
            if pattern.check is None and pattern.cost is not Cost.EXPENSIVE:
                assert answer == expected, text


# any conditions


class Maker:
    """Random conditions of every kind, in every combination that the evaluator defines."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def condition(self, depth: int) -> Condition:
        rng = self._rng
        roll = rng.random()
        if depth == 0 or roll < 0.3:
            return self._leaf()
        if roll < 0.5:
            return Exists(self.path(depth - 1))
        if roll < 0.6:
            return Count(self.path(depth - 1), rng.choice(OPS), rng.choice(("0", "1", "2", "1.5")))
        if roll < 0.7:
            return First(self.path(depth - 1), self._value())
        if roll < 0.8:
            return Not(self.condition(depth - 1))
        parts = tuple(self.condition(depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))
        return And(parts) if roll < 0.9 else Or(parts)

    def _leaf(self) -> Condition:
        rng = self._rng
        roll = rng.random()
        if roll < 0.45:
            return self._value()
        if roll < 0.8:
            right = rng.choice(("last", "1", "2", "3", "0.5"))
            return Position(rng.choice(("position", "position", "last")), rng.choice(OPS), right)
        return Is(rng.choice(TESTS)) if roll < 0.95 else Always(rng.random() < 0.5)

    def _value(self) -> Value:
        rng = self._rng
        kind = rng.choice(list(ValueKind))
        ops = ("=", "!=") if kind is ValueKind.STRING else OPS
        return Value(kind, rng.choice(ops), rng.choice(OPERANDS))

    def path(self, depth: int) -> Path:
        rng = self._rng
        steps = tuple(self._step(depth) for _ in range(rng.choice((1, 1, 2, 2, 3))))
        return Path(rng.random() < 0.15, steps)

    def _step(self, depth: int) -> Step:
        rng = self._rng
        count = rng.choice((0, 0, 1, 1, 2))
        conditions = tuple(self.condition(depth) for _ in range(count))
        return Step(rng.choice(STEP_AXES), rng.choice(TESTS), conditions)


@pytest.mark.parametrize("seed", range(6))
def test_any_condition(seed: int, deep: bool) -> None:
    met: set[type[Condition]] = set()
    true = asked = 0
    for round_ in range(20 if deep else 2):
        rng = Random(f"any {seed} {round_}")
        maker = Maker(rng)
        made = [maker.condition(rng.choice((1, 2, 3))) for _ in range(200)]
        # Most random conditions test the document node; these test nodes anywhere.
        made += [Exists(maker.path(rng.choice((1, 2, 3)))) for _ in range(200)]
        met.update(type(condition) for condition in made)
        conditions = ConditionProgram()
        handles = [conditions.add(condition) for condition in made]
        for _ in range(10):
            body = generate.document(rng, *rng.choice(SHAPES))
            document = parse_document(body)
            plain = Evaluator(document)
            expected = [plain.holds(condition) for condition in made]
            assert answers(handles, conditions, document) == expected, body
            true += sum(expected)
            asked += len(expected)
    assert met == {Exists, First, Count, Value, Is, Position, And, Or, Not, Always}
    assert 0.1 < true / asked < 0.9


@given(st.randoms(use_true_random=False), strategies.documents())
def test_one_condition(rng: Random, body: bytes) -> None:
    condition = Exists(Maker(rng).path(2))
    document = parse_document(body)
    conditions = ConditionProgram()
    handle = conditions.add(condition)
    assert answers([handle], conditions, document) == [Evaluator(document).holds(condition)]


# nodes


def nodes_of(document: Document) -> list[tuple[int, int, int, str]]:
    strings = [document.string_value(number) for number in range(len(document))]
    return list(zip(document.kind, document.parent, document.right, strings, strict=True))


@given(strategies.documents(30))
def test_nodes(body: bytes) -> None:
    document = parse_document(body)
    assert number_document(document.tree.getroot()) == nodes_of(document)


@pytest.mark.parametrize(
    "body",
    [
        "<a/>",
        "<a></a>",
        "<a><![CDATA[]]></a>",
        "<a><b/><![CDATA[]]><b/>x<![CDATA[]]>y<c/></a>",
        "<a>x<![CDATA[y]]>z<b>1</b><![CDATA[2]]>3</a>",
        "<!--1--><?t 2?><a/><!--3--><?t?>\n<!---->",
        "<!DOCTYPE a [<!--in--><?in side?><!ENTITY e 'E<b/>F'>]><a>1&e;2</a>",
        (
            "<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST a y CDATA 'd' xmlns:n CDATA 'urn:n'>]>"
            "<a x='1&e;2'/>"
        ),
        "<a xmlns='urn:a' xmlns:b='urn:b' b:x='1' x='2'><b:c xmlns:b='urn:c' b:y=''/></a>",
        "<a>é<b>\N{GRINNING FACE}</b>\u2028<c x='ü'/></a>",
        "<a>" * 250 + "x" + "</a>" * 250,
        "<a>" + "<b>1</b>2<!--3-->" * 1000 + "</a>",
    ],
)
def test_odd_documents(body: str) -> None:
    document = parse_document(body.encode())
    assert number_document(document.tree.getroot()) == nodes_of(document)
    # The document type declaration is no node, so it may stay.
    kept = etree.fromstring(body.encode(), etree.XMLParser(resolve_entities="internal"))
    assert number_document(kept) == nodes_of(document)
    assert number_document(list(kept.iter())[-1]) == nodes_of(document)


@pytest.mark.parametrize("inside", ["1&e;2", "&e;", "&e;&e;", "1&e;2<b>3&e;</b>&e;4<![CDATA[5]]>"])
def test_entity_references_end_a_text(inside: str) -> None:
    parser = etree.XMLParser(resolve_entities=False)
    root = etree.fromstring(f"<!DOCTYPE a [<!ENTITY e 'E<c/>'>]><a>{inside}</a>", parser)
    assert number_document(root) == nodes_of(number_nodes(root.getroottree(), Limits()))


def test_trees_built_by_hand() -> None:
    root = etree.XML("<a/>")
    root.text = "one"
    etree.SubElement(root, "b").tail = "two"
    root.append(etree.Comment("three"))
    root.append(etree.ProcessingInstruction("t"))
    root[-1].tail = "four"
    root.set("{urn:x}y", "z")
    assert [string for *_, string in number_document(root)] == [
        *("onetwofour", "onetwofour", "z", "one", "", "two", "three", "", "four")
    ]
    assert_holds(root, "/a[. = 'onetwofour'][@p:y = 'z']/b", {"p": "urn:x"})


def assert_holds(root: etree._Element, text: str, namespaces: dict[str, str] | None = None) -> None:
    conditions = ConditionProgram()
    handle = conditions.add(parse(text, namespaces).condition)
    assert Evaluation(conditions, root).holds(handle)


def test_string_values_beyond_the_memo_budget() -> None:
    """Every level repeats the text of the document: more than the memo holds, read twice."""
    levels, text = 60, "0123456789" * 10_000
    body = f"<a>{text}" * levels + "</a>" * levels
    document = parse_document(body.encode())
    length = len(text)
    texts = [
        f"//a[string-length(.) = {count * length}]" for count in (1, 2, levels // 2, levels)
    ] + [f"//a[string-length(.) = {levels * length + 1}]", f"//a[contains(., '90{'1' * 50}')]"]
    conditions = ConditionProgram()
    handles = [conditions.add(parse(text).condition) for text in texts]
    evaluation = Evaluation(conditions, document.tree.getroot())
    for _ in range(2):
        assert [evaluation.holds(handle) for handle in handles] == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a[string-length(.) = 3]", True),
        ("/a[string-length(.) = 8]", False),
        ("/a[contains(., 'é\N{GRINNING FACE}')]", True),
        ("/a[contains(., '\N{WINKING FACE}')]", False),
        ("/a[starts-with(., 'aé')]", True),
        ("/a[starts-with(., 'aè')]", False),
        ("/a[. = 'aé\N{GRINNING FACE}']", True),
        ("/é", False),
    ],
)
def test_string_length_counts_characters(text: str, expected: bool) -> None:
    assert holds_in(text, "<a>aé\N{GRINNING FACE}</a>".encode()) is expected


# namespaces


def test_namespaces_are_compared_by_text() -> None:
    """One namespace under many declarations, and many names under one prefix."""
    inner = "".join(
        f"<p:n{i % 7} xmlns:p='urn:{i % 5}'><p:x p:y='{i}'/></p:n{i % 7}>" for i in range(500)
    )
    body = f"<a>{inner}</a>".encode()
    document = parse_document(body)
    conditions = ConditionProgram()
    for space in range(6):
        namespaces = {"q": f"urn:{space}"}
        for text in (
            *(f"count(//q:n{number}) = {(500 // 7) // 5}" for number in range(7)),
            *(f"count(//q:n{number}) > {500 // 7 // 5}" for number in range(7)),
            f"//q:x[@q:y = {space}]",
            "count(//q:*) = 200",
            "count(//@q:*) = 100",
            "//q:n3[not(q:x)]",
        ):
            handle = conditions.add(parse(text, namespaces).condition)
            evaluation = Evaluation(conditions, document.tree.getroot())
            assert evaluation.holds(handle) == oracle(text, namespaces, body), (text, space)


# handles


def test_equal_conditions_share_a_number() -> None:
    conditions = ConditionProgram()
    first = conditions.add(parse("/a[b = 1][c]/d").condition)
    count, memory = len(conditions), conditions.memory
    assert conditions.add(parse("/ a[ b = 1.0 ] [c] / d").condition) == first
    assert (len(conditions), conditions.memory) == (count, memory)
    assert conditions.add(parse("/a[b = 2][c]/d").condition) != first
    assert len(conditions) > count
    assert ConditionProgram is ConditionProgram


def test_invalid_handles_are_rejected() -> None:
    conditions = ConditionProgram()
    handle = conditions.add(parse("/a").condition)
    evaluation = Evaluation(conditions, etree.XML("<a/>"))
    assert evaluation.holds(handle)
    later = conditions.add(parse("/a[@x]").condition)
    for number in (-1, later, 2**31, 2**40):
        with pytest.raises(IndexError):
            evaluation.holds(number)
    with pytest.raises(TypeError):
        conditions.add("/a")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Evaluation(conditions, None)  # type: ignore[arg-type]


def test_conditions_added_between_documents() -> None:
    conditions = ConditionProgram()
    rng = Random(3)
    document = parse_document(b"<a><b>5</b><c x='1'/></a>")
    for _ in range(300):
        condition = parse(generate.expression(rng, generate.NATIVE), NAMESPACES).condition
        handle = conditions.add(condition)
        answer = Evaluation(conditions, document.tree.getroot()).holds(handle)
        assert answer == Evaluator(document).holds(condition)


def test_evaluation_keeps_the_tree_alive() -> None:
    conditions = ConditionProgram()
    handle = conditions.add(parse("//b[. = 'x']").condition)
    evaluations = [
        Evaluation(conditions, etree.fromstring(f"<a>{'<b>y</b>' * 50}<b>x</b></a>"))
        for _ in range(50)
    ]
    del conditions
    assert all(evaluation.holds(handle) for evaluation in evaluations)


# depth and work


@pytest.mark.parametrize(
    ("before", "inside", "behind"),
    [
        ("a[", "a", "]"),
        ("a[not(", "b", ")]"),
        (".//a[", "a", "]"),
        (".//a[count(", "a", ") > 0]"),
        ("a[1][", "a", "]"),
        (".//a[", "a", "][1]"),
        ("a[b or ", "a", "]"),
    ],
)
@pytest.mark.parametrize("depth", [1, 2, 41, 60])
def test_nested_brackets(before: str, inside: str, behind: str, depth: int) -> None:
    condition = parse("/" + "a" + "[" + before * depth + inside + behind * depth + "]").condition
    conditions = ConditionProgram()
    handle = conditions.add(condition)
    for levels in (depth // 2 + 1, depth + 1, depth + 2, depth + 3):
        document = parse_document(b"<a>" * levels + b"</a>" * levels)
        expected = Evaluator(document).holds(condition)
        assert answers([handle], conditions, document) == [expected], levels


@pytest.mark.parametrize("depth", [200, 1500])
def test_deeper_than_any_subscription(depth: int) -> None:
    """Nested steps, each used twice, and nested conditions."""
    steps: Condition = Is(Test(TestKind.NODE))
    for _ in range(depth):
        step = Step(Axis.CHILD, Test(TestKind.NAME, "a"), (steps, Not(Not(steps))))
        steps = Exists(Path(False, (step,)))
    negations: Condition = Always(True)
    for _ in range(depth):
        negations = And((Not(negations), Always(True)))
    conditions = ConditionProgram()
    # Documents are no deeper than this, so the expected answer is certain.
    document = parse_document(b"<a>" * 200 + b"</a>" * 200)
    handle = conditions.add(negations)
    assert answers([handle], conditions, document) == [depth % 2 == 0]
    handle = conditions.add(steps)
    assert answers([handle], conditions, document) == [depth == 200]


def test_too_deep_conditions_are_rejected() -> None:
    condition: Condition = Always(True)
    for _ in range(10_001):
        condition = Not(condition)
    conditions = ConditionProgram()
    with pytest.raises(RecursionError):
        conditions.add(condition)
    assert len(conditions) == 0


def test_shared_parts_are_evaluated_once() -> None:
    """A thousand conditions with one predicate visit its nodes once; so do shared suffixes."""
    body = b"<a>" + b"<b><c><d>5</d></c></b>" * 500 + b"</a>"
    document = parse_document(body)
    work = []
    for count in (1, 200):
        conditions = ConditionProgram()
        texts = [f"//b[c/d[. = 5]]/ancestor{number}[.//c/d[. = 5]]" for number in range(count)]
        handles = [
            conditions.add(parse(text.replace("/anc", "/c/anc")).condition) for text in texts
        ]
        evaluation = Evaluation(conditions, document.tree.getroot())
        assert not any(evaluation.holds(handle) for handle in handles)
        work.append(evaluation.work)
    assert work[1] < 2 * work[0]


@pytest.mark.parametrize(
    "text",
    [
        "//b[count(.//b) > 2]",
        "//b[.//b[2]]",
        "//b[count(.//b[2]//b[2]) > 1]",
        "//b[b][2]",
        "//*[string(.//b[3]) = '1']",
        "//b[not(.//c)][last()]",
    ],
)
def test_work_grows_like_the_plain_evaluator(text: str) -> None:
    condition = parse(text).condition
    conditions = ConditionProgram()
    handle = conditions.add(condition)
    for width, height in ((200, 2), (10, 20), (3, 60)):
        body = ("<b>" * height + "1" + "</b>" * height) * width
        document = parse_document(f"<a>{body}</a>".encode())
        plain = Evaluator(document)
        evaluation = Evaluation(conditions, document.tree.getroot())
        assert evaluation.holds(handle) == plain.holds(condition)
        assert 0.3 * plain.work <= evaluation.work <= 1.5 * plain.work


@pytest.mark.parametrize("module", [program, evaluate, nodes, numbers])
def test_docstrings(module: ModuleType) -> None:
    """Run the doctests of the compiled modules: pytest collects them from Python files only."""
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed
