"""The key of a state of the automaton, and its text.

A state's path is unique in the automaton, so its key needs no number that anybody hands out:

    "start" + the labels, each its edge (/ // /@ //@) and its node test        start//*/cite

The edge is the separator that the paper's keys lack (there /a/bc and /ab/c are one), and // stands for its "$".
Namespaces are written in braces, with } doubled, so that every node test reads back.

>>> key = Key.parse("start//*/cite")
>>> len(key), str(key), [str(one) for one in key.prefixes()]
(2, 'start//*/cite', ['start', 'start//*'])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pathcast.matching.nfa import Edge, Label
from pathcast.xpath.syntax import NO_TARGET, Test, TestKind

__all__ = ["START", "Key", "told"]

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
class Key:
    """The path of a state, from the start state on; `str` gives its canonical text."""

    labels: tuple[Label, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Key:
        """The key with this text; raises ValueError if there is none."""
        labels = []
        at = len(_START) if text.startswith(_START) else len(text) + 1
        while at < len(text) and (hit := _LABEL.match(text, at)) is not None:
            labels.append(Label(_EDGES[hit["edge"]], _test(hit)))
            at = hit.end()
        found = cls(tuple(labels))
        if at != len(text) or str(found) != text:
            raise ValueError(f"not the text of a key: {text!r}")
        return found

    def __str__(self) -> str:
        return _START + "".join(
            [label.edge.value + _test_text(label.test) for label in self.labels]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def prefixes(self) -> Iterator[Key]:
        """The keys that begin this one, shortest first: whatever activates it activates them all."""
        for end in range(len(self.labels)):
            yield Key(self.labels[:end])


START = Key()
"""The key of the start state, which every document activates."""


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


def _test(hit: re.Match[str]) -> Test:
    """The node test of a label as `_test_text` wrote it."""
    if hit["bare"] is not None:
        return Test(_BARE[hit["bare"]])
    if hit["target"] is not None:
        return Test(TestKind.INSTRUCTION, hit["target"].replace("''", "'") or NO_TARGET)
    if hit["uri"] is None:
        return Test(TestKind.ANY) if hit["local"] == "*" else Test(TestKind.NAME, hit["local"])
    uri = hit["uri"].replace("}}", "}")
    if hit["local"] == "*":
        return Test(TestKind.ANY_IN, uri)
    return Test(TestKind.NAME, f"{{{uri}}}{hit['local']}")


def told(key: Key) -> tuple[Label, ...]:
    """The labels of a key that tags tell of: those before the first that no element is needed for."""
    last = len(key) - 1
    for index, (edge, test) in enumerate(key.labels):
        element = edge in (Edge.CHILD, Edge.DESCENDANT) and (
            test.kind in (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)
            or (test.kind is TestKind.NODE and index < last)  # whatever has something in it
        )
        if not element:
            return key.labels[:index]
    return key.labels
