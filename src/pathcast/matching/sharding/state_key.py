"""The key of an NFA state: the labels of the path that leads to it, with a canonical text form.

The path of a state is unique in the NFA, so peers can compute a key without coordination
(Miliaraki 2008, section 3):

    "start" + the labels, each its edge (/ // /@ //@) and its node test        start//*/cite

The edge is the separator that the keys of the paper lack: there /a/bc and /ab/c share a key. `//`
stands for the paper's "$". Namespaces are written in braces, with } doubled, so that `parse` is the
inverse of `str`.

>>> key = StateKey.parse("start//*/cite")
>>> len(key), str(key), [str(prefix) for prefix in key.prefixes()]
(2, 'start//*/cite', ['start', 'start//*'])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pathcast.matching.nfa import Edge, Label
from pathcast.xpath.syntax import NO_TARGET, Test, TestKind

__all__ = ["START", "StateKey", "element_prefix"]

_START = "start"
_EDGES = {edge.value: edge for edge in Edge}
_BARE = {kind.value: kind for kind in TestKind if kind.value.endswith("()")}
_LABEL = re.compile(
    r"(?P<edge>//?@?)"
    r"(?:(?P<bare>(?:node|text|comment|processing-instruction)\(\))"
    r"|processing-instruction\('(?P<target>(?:[^']|'')*)'\)"
    r"|(?:\{(?P<uri>(?:[^}]|\}\})*)\})?(?P<local>\*|[^/@*(){}']+))"
)


@dataclass(frozen=True, slots=True)
class StateKey:
    """The path of a state from the start state; `str` returns its canonical text."""

    labels: tuple[Label, ...] = ()

    @classmethod
    def parse(cls, text: str) -> StateKey:
        """Return the key with this text; raise ValueError if the text is not canonical."""
        labels = []
        position = len(_START) if text.startswith(_START) else len(text) + 1
        while position < len(text) and (match := _LABEL.match(text, position)) is not None:
            labels.append(Label(_EDGES[match["edge"]], _parse_test(match)))
            position = match.end()
        key = cls(tuple(labels))
        if position != len(text) or str(key) != text:
            raise ValueError(f"not the text of a key: {text!r}")
        return key

    def __str__(self) -> str:
        return _START + "".join(
            [label.edge.value + _test_text(label.test) for label in self.labels]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def prefixes(self) -> Iterator[StateKey]:
        """Yield the proper prefixes, shortest first.

        A document that activates this key activates its prefixes.
        """
        for end in range(len(self.labels)):
            yield StateKey(self.labels[:end])


START = StateKey()
"""The key of the start state. Every document activates it."""


def _test_text(test: Test) -> str:
    match test.kind:
        case TestKind.NAME if test.name.startswith("{"):
            uri, _, local = test.name[1:].rpartition("}")
            return f"{{{uri.replace('}', '}}')}}}{local}"
        case TestKind.NAME:
            return test.name
        case TestKind.ANY_IN:
            return f"{{{test.name.replace('}', '}}')}}}*"
        case TestKind.INSTRUCTION if test.name:
            target = "" if test.name == NO_TARGET else test.name.replace("'", "''")
            return f"processing-instruction('{target}')"
        case _:
            return str(test.kind.value)


def _parse_test(match: re.Match[str]) -> Test:
    """Return the node test of a label that `_test_text` wrote."""
    if match["bare"] is not None:
        return Test(_BARE[match["bare"]])
    if match["target"] is not None:
        return Test(TestKind.INSTRUCTION, match["target"].replace("''", "'") or NO_TARGET)
    if match["uri"] is None:
        return Test(TestKind.ANY) if match["local"] == "*" else Test(TestKind.NAME, match["local"])
    uri = match["uri"].replace("}}", "}")
    if match["local"] == "*":
        return Test(TestKind.ANY_IN, uri)
    return Test(TestKind.NAME, f"{{{uri}}}{match['local']}")


def element_prefix(key: StateKey) -> tuple[Label, ...]:
    """Return the longest prefix of a key that the names of elements decide.

    It ends before the first label that selects an attribute, a text, a comment or a processing
    instruction. `node()` counts as an element unless it is the last label: only elements have
    children.
    """
    last = len(key) - 1
    for index, (edge, test) in enumerate(key.labels):
        element = edge in (Edge.CHILD, Edge.DESCENDANT) and (
            test.kind in (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)
            or (test.kind is TestKind.NODE and index < last)
        )
        if not element:
            return key.labels[:index]
    return key.labels
