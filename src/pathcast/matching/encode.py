"""Labels and plans as the numbers that the compiled core knows them by.

>>> from pathcast.matching.plan import plan
>>> from pathcast.xpath import parse
>>> encoder = Encoder(PlainWords())
>>> encoder.alternatives(plan(parse("//a[b][c]").condition))
[('twig', (((49,), (((56,), ()), ((64,), ()))),))]
>>> encoder.decoded([49])
(Label(edge=<Edge.DESCENDANT: '//'>, test=Test(kind=<TestKind.NAME: 'name'>, name='a')),)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from pathcast.matching.nfa import Edge, Label
from pathcast.matching.plan import Alternative, Branch, Exact, Part, Twig
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import NO_TARGET, Test, TestKind
from pathcast.xpath.tree import Value, ValueKind

__all__ = ["FIRST_NAME", "Encoder", "PlainWords", "Words", "path_text"]

FIRST_NAME = 6
"""Numbers below this are of tests that are no names."""


_EDGES = (Edge.CHILD, Edge.DESCENDANT, Edge.ATTRIBUTE, Edge.DEEP_ATTRIBUTE)
_EDGE_CODES = {edge: code for code, edge in enumerate(_EDGES)}
_VALUE = 4
_EDGE_BITS = 3
_FIXED = {
    TestKind.ANY: 1,
    TestKind.NODE: 2,
    TestKind.TEXT: 3,
    TestKind.COMMENT: 4,
    TestKind.INSTRUCTION: 5,
}
_FIXED_TESTS = {code: Test(kind) for kind, code in _FIXED.items()}

_Tree = tuple[tuple[int, ...], tuple["_Tree", ...]]


class Words(Protocol):
    """What gives numbers to names and to value tests: the core's `Vocabulary`, or `PlainWords`."""

    @property
    def keys(self) -> list[str]: ...

    @property
    def value_tests(self) -> list[tuple[str, str, str]]: ...

    def code(self, key: str) -> int: ...

    def value(self, kind: str, op: str, operand: str) -> int: ...


class PlainWords:
    """A vocabulary for where there is no core."""

    def __init__(self) -> None:
        self.keys = [""] * FIRST_NAME
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


class Encoder:
    """Writes in the numbers of a vocabulary, and reads them."""

    def __init__(self, vocabulary: Words) -> None:
        self.vocabulary = vocabulary

    def labels(self, parts: Iterable[Part]) -> tuple[int, ...]:
        """A path as labels."""
        return tuple([self._label(part) for part in parts])

    def _label(self, part: Part) -> int:
        if isinstance(part, Value):
            operand = part.operand
            if (
                part.kind is ValueKind.NUMBER
            ):  # equal numbers are one, however they are spelled: 0 and -0
                operand = (number(operand) + 0.0).hex()
            code = self.vocabulary.value(part.kind.value, part.op, operand)
            return code << _EDGE_BITS | _VALUE
        return self._test(part.test) << _EDGE_BITS | _EDGE_CODES[part.edge]

    def _test(self, test: Test) -> int:
        match test.kind:
            case TestKind.NAME:
                return self.vocabulary.code(test.name)
            case TestKind.ANY_IN:
                return self.vocabulary.code(f"{{{test.name}}}*")
            case TestKind.INSTRUCTION if test.name:
                return self.vocabulary.code(f"?{test.name}")
            case kind:
                return _FIXED[kind]

    def alternatives(self, alternatives: Iterable[Alternative]) -> list[tuple[str, object]]:
        """A plan as the automaton takes it."""
        return [self._alternative(one) for one in alternatives]

    def _alternative(self, alternative: Alternative) -> tuple[str, object]:
        match alternative:
            case Exact(parts=parts):
                return "exact", self.labels(parts)
            case Twig(branches=branches):
                return "twig", tuple(self._branch(branch) for branch in branches)
            case _:
                return "general", tuple(self.labels(path) for path in alternative.paths)

    def _branch(self, branch: Branch) -> _Tree:
        return self.labels(branch.parts), tuple(self._branch(one) for one in branch.branches)

    def moved(
        self, alternatives: Iterable[tuple[str, Any]], old: Words
    ) -> list[tuple[str, object]]:
        """Alternatives that were written in the words of another vocabulary, in those of ours."""

        def label(one: int) -> int:
            code, edge = one >> _EDGE_BITS, one & (1 << _EDGE_BITS) - 1
            if edge == _VALUE:
                code = self.vocabulary.value(*old.value_tests[code])
            elif code >= FIRST_NAME:
                code = self.vocabulary.code(old.keys[code])
            return code << _EDGE_BITS | edge

        def tree(one: _Tree) -> _Tree:
            return tuple(map(label, one[0])), tuple(map(tree, one[1]))

        def path(labels: Iterable[int]) -> tuple[int, ...]:
            return tuple(map(label, labels))

        moves: dict[str, Callable[[Any], object]] = {
            "exact": path,
            "twig": lambda trees: tuple(map(tree, trees)),
            "general": lambda paths: tuple(map(path, paths)),
        }
        return [(kind, moves[kind](what)) for kind, what in alternatives]

    def decoded(self, labels: Iterable[int]) -> tuple[Label, ...]:
        """The path that labels (without values) stand for."""
        return tuple(
            Label(_EDGES[label & (1 << _EDGE_BITS) - 1], self._decoded_test(label >> _EDGE_BITS))
            for label in labels
        )

    def _decoded_test(self, code: int) -> Test:
        if code in _FIXED_TESTS:
            return _FIXED_TESTS[code]
        key = self.vocabulary.keys[code]
        if key.startswith("?"):
            return Test(TestKind.INSTRUCTION, key[1:])
        if key.startswith("{") and key.endswith("}*"):
            return Test(TestKind.ANY_IN, key[1:-2])
        return Test(TestKind.NAME, key)


def path_text(path: Iterable[Label]) -> tuple[str, dict[str, str]]:
    """A path as an expression, and the namespaces of its prefixes.

    >>> path_text([Label(Edge.CHILD, Test(TestKind.NAME, "{urn:x}a")), Label(Edge.DEEP_ATTRIBUTE, Test(TestKind.ANY))])
    ('/p0:a//@*', {'p0': 'urn:x'})
    """
    prefixes: dict[str, str] = {}
    written = [label.edge.value + _test_text(label.test, prefixes) for label in path]
    return "".join(written), {prefix: uri for uri, prefix in prefixes.items()}


def _test_text(test: Test, prefixes: dict[str, str]) -> str:
    match test.kind:
        case TestKind.NAME if test.name.startswith("{"):
            uri, _, local = test.name[1:].rpartition("}")
            return f"{prefixes.setdefault(uri, f'p{len(prefixes)}')}:{local}"
        case TestKind.ANY_IN:
            return f"{prefixes.setdefault(test.name, f'p{len(prefixes)}')}:*"
        case TestKind.INSTRUCTION if test.name:
            quote = '"' if "'" in test.name else "'"
            return f"processing-instruction({quote}{'' if test.name == NO_TARGET else test.name}{quote})"
        case TestKind.NAME:
            return test.name
        case kind:
            return str(kind.value)
