"""How far a condition came before it failed, in words.

The paths of a failed condition are walked forwards, one step at a time; the first step that leaves nothing is
the reason. If the nodes were there but a predicate refused them all, that predicate is the reason, with
the values that it met, or with the reason of the path inside it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import replace

from pathcast.documents import Document
from pathcast.matching.locations import location_of, quote
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.text import QNameFormat, condition_text, path_text, test_text
from pathcast.xpath.tree import (
    And,
    Condition,
    Count,
    Exists,
    First,
    Not,
    Or,
    Path,
    Step,
    Value,
    ValueKind,
)

__all__ = ["PatternExplainer"]

_VALUES = 3
_AXES = {
    Axis.CHILD: "child",
    Axis.DESCENDANT: "descendant",
    Axis.DESCENDANT_OR_SELF: "descendant",
    Axis.ATTRIBUTE: "attribute",
}


class PatternExplainer:
    """Collects what to say about a condition that fails at the document node."""

    def __init__(
        self,
        document: Document,
        evaluator: Evaluator,
        names: QNameFormat,
        namespaces: Mapping[str, str],
    ) -> None:
        self._document = document
        self._evaluator = evaluator
        self._names = names
        self._namespaces = namespaces
        self.found: list[str] = []
        self.hints: list[str] = []

    def about(self, condition: Condition) -> None:
        """Say why a condition fails at the document node."""
        self._about(condition, [0], "")

    def _about(self, condition: Condition, nodes: list[int], where: str) -> None:
        match condition:
            case And(parts=parts):
                for part in parts:
                    kept = self._evaluator.filter(part, nodes)
                    if not kept:
                        self._about(part, nodes, where)
                        return
                    if not part.positional:
                        nodes = kept
                self._say(where, f"nothing passes all of [{self._text(condition)}]")
            case Or(parts=parts):
                for part in parts:
                    self._about(part, nodes, where)
            case Exists(path=path):
                inner = f"{where}in [{self._text(condition)}], " if where else ""
                self._path(path, [0] if path.absolute else nodes, inner)
            case Value():
                self._say(where, f"[{self._text(condition)}] failed, found {self._values(nodes)}")
                self._hint_at_value(condition, nodes)
            case Count(path=path):
                counts = [len(self._evaluator.select(path, node)) for node in nodes[:_VALUES]]
                self._say(where, f"[{self._text(condition)}] failed, counted {_list(counts)}")
            case First(path=path):
                firsts = [self._evaluator.select(path, node)[:1] for node in nodes[:_VALUES]]
                strings = [self._document.string_value(one[0]) if one else "" for one in firsts]
                shown = _list([quote(text) for text in strings])
                self._say(where, f"[{self._text(condition)}] failed, found {shown}")
            case Not(part=Exists(path=path)):
                starts = [0] if path.absolute else nodes[:_VALUES]
                met = [hit for node in starts for hit in self._evaluator.select(path, node)[:1]]
                there = f": there is {self._place(met[0])}" if met else ""
                self._say(where, f"[{self._text(condition)}] failed{there}")
            case _:
                groups = f" (there were {len(nodes)})" if condition.positional else ""
                self._say(where, f"[{self._text(condition)}] failed{groups}")

    def _hint_at_value(self, value: Value, nodes: list[int]) -> None:
        texts = [self._document.string_value(node) for node in nodes[:_VALUES]]
        if value.kind is ValueKind.STRING and value.op == "=":
            if any(text.strip() == value.operand for text in texts):
                self._hints("there is white space around it: compare normalize-space(.)")
        if value.kind is ValueKind.NUMBER:
            odd = [text for text in texts if text.strip() and math.isnan(number(text))]
            if odd:
                self._hints(f"{quote(odd[0])} is not a number")

    def _path(self, path: Path, starts: list[int], where: str) -> None:
        current = starts
        above = starts  # where the // before a step started: it is no step of its own
        deep = False
        number = 0
        for step in path.steps:
            bare = Path(False, (replace(step, conditions=()),))
            there = sorted({hit for node in current for hit in self._evaluator.select(bare, node)})
            if step.is_double_slash:
                current, deep = there, True
                continue
            number += 1
            written = path_text(replace(bare, absolute=True), self._names)
            lead = "/" if deep and not written.startswith("//") else ""
            at = f"{where}step {number}, {lead}{written}: "
            if not there:
                self._missing(step, above, at, deep)
                return
            whole = Path(False, (step,))
            kept = sorted({hit for node in current for hit in self._evaluator.select(whole, node)})
            if not kept:
                self._refused(step, there, at)
                return
            current = above = kept
            deep = False

    def _refused(self, step: Step, there: list[int], at: str) -> None:
        """All nodes that a step found were refused by a predicate: by which one?"""
        nodes = there
        found = set(there)
        for count, condition in enumerate(step.conditions, 1):
            some = replace(step, conditions=step.conditions[:count])
            kept = [node for node in self._evaluator.candidates(some) if node in found]
            if not kept:
                self._about(condition, nodes, at)
                return
            nodes = kept
        self._say(at, "no node passes all predicates from one start")

    def _missing(self, step: Step, current: list[int], at: str, deep: bool) -> None:
        kind = _AXES[step.axis]
        if deep:
            kind = "descendant" if kind == "child" else f"{kind} at any depth called"
        where = self._place(current[0]) if current != [0] else "the document"
        more = f" and {len(current) - 1} more" if len(current) > 1 else ""
        has = "have" if more else "has"
        name = test_text(step.test, self._names)
        if step.test.kind is TestKind.NAME:
            name = repr(name)
        self._say(at, f"{where}{more} {has} no {kind} {name}")
        if step.test.kind is TestKind.NAME:
            self._hint(step.test, attribute=step.axis is Axis.ATTRIBUTE)

    def _hint(self, test: Test, *, attribute: bool) -> None:
        known = self._document.attributes if attribute else self._document.elements
        local = test.name.rpartition("}")[2]
        if test.name in known:
            self._hints(
                f"there is a {local!r} elsewhere: line {self._document.line(known[test.name][0])}"
            )
            return
        spaces = [label[1:].rpartition("}")[0] for label in known if label.endswith(f"}}{local}")]
        if spaces and not test.name.startswith("{"):
            declared = [prefix for prefix, uri in self._namespaces.items() if uri == spaces[0]]
            prefix = declared[0] if declared else "p"
            default = self._document.tree.getroot().nsmap.get(None)
            which = "the document's default namespace" if spaces[0] == default else "namespace"
            self._hints(
                f"{local!r} is in {which} {spaces[0]!r}: declare a prefix for it and write {prefix}:{local}"
            )
            return
        if spaces:
            meant = test.name[1:].rpartition("}")[0]
            self._hints(f"{local!r} is in namespace {spaces[0]!r}, not in {meant!r}")
            return
        if local in known:
            self._hints(f"{local!r} is there in no namespace: write it without a prefix")
            return
        others = self._document.elements if attribute else self._document.attributes
        if test.name in others:
            kind, right = ("element", local) if attribute else ("attribute", f"@{local}")
            self._hints(f"there is an {kind} {local!r}: write {right}")
            return
        locals_ = {label.rpartition("}")[2]: label for label in known}
        near = difflib.get_close_matches(local, locals_, n=1)
        near = near or [name for name in locals_ if name.lower() == local.lower()]
        if near:
            self._hints(f"no {local!r}; did you mean {near[0]!r}?")

    # words

    def _say(self, where: str, what: str) -> None:
        self.found.append(where + what)

    def _hints(self, hint: str) -> None:
        if hint not in self.hints:
            self.hints.append(hint)

    def _text(self, condition: Condition) -> str:
        return condition_text(condition, self._names)

    def _place(self, node: int) -> str:
        if node == 0:
            return "the document"
        place = location_of(self._document, node, self._names)
        return f"{place.path} (line {place.line})"

    def _values(self, nodes: list[int]) -> str:
        shown = [
            f"{quote(self._document.string_value(node))} (line {self._document.line(node)})"
            for node in nodes[:_VALUES]
        ]
        return _list(shown) + (f" and {len(nodes) - _VALUES} more" if len(nodes) > _VALUES else "")


def _list(values: list[int] | list[str]) -> str:
    return ", ".join(str(value) for value in values)
