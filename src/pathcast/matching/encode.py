"""The integer codes of labels and plans, as the compiled core and snapshots use them.

A code is a vocabulary index shifted left by three bits, plus the edge in the low bits. The index
names a node test (`code`) or, with the edge `_VALUE`, a value test (`value`). String functions are
a label of their own: the value test after it takes their result.

>>> from pathcast.matching.plan import plan
>>> from pathcast.xpath import parse
>>> encoder = PlanEncoder(PlainVocabulary())
>>> encoder.encode_plan(plan(parse("//a[b][c]").condition))
[('twig', (((49,), (((56,), ()), ((64,), ()))),))]
>>> encoder.decode([49])
(Label(edge=<Edge.DESCENDANT: '//'>, test=Test(kind=<TestKind.NAME: 'name'>, name='a')),)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from pathcast.matching.nfa import Edge, Label
from pathcast.matching.plan import (
    Alternative,
    Branch,
    ExactAlternative,
    TransitionLabel,
    TwigAlternative,
)
from pathcast.xpath.compile import canonical_prefixes
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Test, TestKind
from pathcast.xpath.text import test_text
from pathcast.xpath.tree import Value, ValueKind

__all__ = [
    "FIRST_NAME_CODE",
    "LabelVocabulary",
    "PlainVocabulary",
    "PlanEncoder",
    "decode_test",
    "path_text",
]

FIRST_NAME_CODE = 6
"""Test codes below this stand for tests without a name: `*`, `node()`, `text()` ..."""


_EDGES = (Edge.CHILD, Edge.DESCENDANT, Edge.ATTRIBUTE, Edge.DEEP_ATTRIBUTE)
_EDGE_CODES = {edge: code for code, edge in enumerate(_EDGES)}
_VALUE = 4  # the edge code of a value test
_EDGE_BITS = 3
_NAMELESS = {
    TestKind.ANY: 1,
    TestKind.NODE: 2,
    TestKind.TEXT: 3,
    TestKind.COMMENT: 4,
    TestKind.INSTRUCTION: 5,
}
_NAMELESS_TESTS = {code: Test(kind) for kind, code in _NAMELESS.items()}

_BranchCodes = tuple[tuple[int, ...], tuple["_BranchCodes", ...]]


class LabelVocabulary(Protocol):
    """The codes of names and value tests: the core's `Vocabulary`, or `PlainVocabulary`."""

    @property
    def keys(self) -> list[str]: ...

    @property
    def value_tests(self) -> list[tuple[str, str, str]]: ...

    def code(self, key: str) -> int: ...

    def value(self, kind: str, op: str, operand: str) -> int: ...


class PlainVocabulary:
    """A vocabulary in plain Python, for use without the compiled core."""

    def __init__(self) -> None:
        self.keys = [""] * FIRST_NAME_CODE
        self.value_tests: list[tuple[str, str, str]] = []
        self._codes: dict[object, int] = {}

    def code(self, key: str) -> int:
        if key not in self._codes:
            self._codes[key] = len(self.keys)
            self.keys.append(key)
        return self._codes[key]

    def value(self, kind: str, op: str, operand: str) -> int:
        test = (kind, op, operand)
        if test not in self._codes:
            self._codes[test] = len(self.value_tests)
            self.value_tests.append(test)
        return self._codes[test]


class PlanEncoder:
    """Encodes labels and plans in the codes of a vocabulary, and decodes paths."""

    def __init__(self, vocabulary: LabelVocabulary) -> None:
        self.vocabulary = vocabulary

    def encode_path(self, labels: Iterable[TransitionLabel]) -> tuple[int, ...]:
        """Return the codes of a path's labels."""
        codes = []
        for label in labels:
            if isinstance(label, Value) and label.functions:
                codes.append(self._functions(label))
            codes.append(self._label(label))
        return tuple(codes)

    def _functions(self, value: Value) -> int:
        """Return the code of the string functions whose result a value predicate tests."""
        chain = json.dumps([[function.name, *function.arguments] for function in value.functions])
        return self.vocabulary.value("functions", "", chain) << _EDGE_BITS | _VALUE

    def _label(self, label: TransitionLabel) -> int:
        if isinstance(label, Value):
            operand = label.operand
            if label.kind is ValueKind.NUMBER:  # one spelling per number, the same for 0 and -0
                operand = (number(operand) + 0.0).hex()
            code = self.vocabulary.value(label.kind.value, label.op, operand)
            return code << _EDGE_BITS | _VALUE
        return self._test(label.test) << _EDGE_BITS | _EDGE_CODES[label.edge]

    def _test(self, test: Test) -> int:
        match test.kind:
            case TestKind.NAME:
                return self.vocabulary.code(test.name)
            case TestKind.ANY_IN:
                return self.vocabulary.code(f"{{{test.name}}}*")
            case TestKind.INSTRUCTION if test.name:
                return self.vocabulary.code(f"?{test.name}")
            case kind:
                return _NAMELESS[kind]

    def encode_plan(self, alternatives: Iterable[Alternative]) -> list[tuple[str, object]]:
        """Return a plan as pairs of a form ("exact", "twig", "general") and its codes."""
        return [self._alternative(alternative) for alternative in alternatives]

    def _alternative(self, alternative: Alternative) -> tuple[str, object]:
        match alternative:
            case ExactAlternative(labels=labels):
                return "exact", self.encode_path(labels)
            case TwigAlternative(branches=branches):
                return "twig", tuple(self._branch(branch) for branch in branches)
            case _:
                return "general", tuple(self.encode_path(path) for path in alternative.paths)

    def _branch(self, branch: Branch) -> _BranchCodes:
        labels = self.encode_path(branch.labels)  # first: it assigns codes
        return labels, tuple(self._branch(child) for child in branch.branches)

    def translate(
        self, alternatives: Iterable[tuple[str, Any]], old: LabelVocabulary
    ) -> list[tuple[str, object]]:
        """Re-encode a plan from the codes of another vocabulary to those of this one."""

        def label(old_label: int) -> int:
            code, edge = old_label >> _EDGE_BITS, old_label & (1 << _EDGE_BITS) - 1
            if edge == _VALUE:
                code = self.vocabulary.value(*old.value_tests[code])
            elif code >= FIRST_NAME_CODE:
                code = self.vocabulary.code(old.keys[code])
            return code << _EDGE_BITS | edge

        def branch(old_branch: _BranchCodes) -> _BranchCodes:
            return tuple(map(label, old_branch[0])), tuple(map(branch, old_branch[1]))

        def path(labels: Iterable[int]) -> tuple[int, ...]:
            return tuple(map(label, labels))

        translations: dict[str, Callable[[Any], object]] = {
            "exact": path,
            "twig": lambda branches: tuple(map(branch, branches)),
            "general": lambda paths: tuple(map(path, paths)),
        }
        return [(form, translations[form](codes)) for form, codes in alternatives]

    def decode(self, labels: Iterable[int]) -> tuple[Label, ...]:
        """Return the path that codes (without value tests) stand for."""
        return tuple(
            Label(
                _EDGES[label & (1 << _EDGE_BITS) - 1],
                decode_test(label >> _EDGE_BITS, self.vocabulary.keys),
            )
            for label in labels
        )


def decode_test(code: int, keys: Sequence[str]) -> Test:
    """Return the node test of a code; `keys` are those of its vocabulary."""
    if code in _NAMELESS_TESTS:
        return _NAMELESS_TESTS[code]
    key = keys[code]
    if key.startswith("?"):
        return Test(TestKind.INSTRUCTION, key[1:])
    if key.startswith("{") and key.endswith("}*"):
        return Test(TestKind.ANY_IN, key[1:-2])
    return Test(TestKind.NAME, key)


def path_text(path: Iterable[Label]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the canonical text of a path, and the namespaces of its prefixes.

    >>> name = Label(Edge.CHILD, Test(TestKind.NAME, "{urn:x}a"))
    >>> path_text([name, Label(Edge.DEEP_ATTRIBUTE, Test(TestKind.ANY))])
    ('/n1:a//@*', (('n1', 'urn:x'),))
    """
    labels = tuple(path)
    names, declared = canonical_prefixes(label.test for label in labels)
    steps = [label.edge.value + test_text(label.test, names) for label in labels]
    return "".join(steps), declared
