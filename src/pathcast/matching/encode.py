"""Labels and plans as the numbers that the compiled core knows them by.

>>> from pathcast.matching.core.labels import Vocabulary
>>> from pathcast.matching.plan import plan
>>> from pathcast.pattern import parse
>>> encoder = Encoder(Vocabulary())
>>> encoder.alternatives(plan(parse("//a[b][c]").condition))
[('twig', (((49,), (((56,), ()), ((64,), ()))),))]
>>> encoder.decoded([49])
(Label(edge=<Edge.DESCENDANT: '//'>, test=Test(kind=<TestKind.NAME: 'name'>, name='a')),)
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.matching.automaton import Edge, Label
from pathcast.matching.core.labels import Vocabulary
from pathcast.matching.plan import Alternative, Branch, Exact, Part, Twig
from pathcast.pattern.numbers import number
from pathcast.pattern.syntax import Test, TestKind
from pathcast.pattern.tree import Value, ValueKind

__all__ = ["Encoder"]

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


class Encoder:
    """Writes in the numbers of a vocabulary, and reads them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
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
