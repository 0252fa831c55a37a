"""The explanation of a tree pattern that fails: the step or predicate at which it does.

The explainer follows the paths of a failed condition forwards, step by step. The first step that
selects nothing is the reason. If a predicate filters out all nodes of a step, the predicate is the
reason, with the values that it compared or the reason of the path inside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pathcast.documents import Document
from pathcast.matching.locations import location_of, quote
from pathcast.matching.name_hints import hint_at_name
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

_MAX_VALUES = 3  # values of a failed comparison that a reason lists
_AXIS_NAMES = {
    Axis.CHILD: "child",
    Axis.DESCENDANT: "descendant",
    Axis.DESCENDANT_OR_SELF: "descendant",
    Axis.ATTRIBUTE: "attribute",
    Axis.PARENT: "parent",
    Axis.ANCESTOR: "ancestor",
    Axis.ANCESTOR_OR_SELF: "ancestor",
    Axis.FOLLOWING_SIBLING: "following sibling",
    Axis.PRECEDING_SIBLING: "preceding sibling",
    Axis.FOLLOWING: "following node",
    Axis.PRECEDING: "preceding node",
}


class PatternExplainer:
    """Collects `reasons` and `hints` for conditions that fail at the document node.

    `failures` are the reasons without nodes and values: they are equal for documents that fail at
    the same step or predicate.
    """

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
        self.reasons: list[str] = []
        self.failures: list[str] = []
        self.hints: list[str] = []

    def explain(self, condition: Condition) -> None:
        """Add the reasons why a condition fails at the document node."""
        self._explain(condition, [0], "")

    def _explain(self, condition: Condition, nodes: list[int], where: str) -> None:
        """Add the reasons why a condition fails at all of the nodes; `where` is their prefix."""
        match condition:
            case And(parts=parts):
                for part in parts:
                    passed = self._evaluator.filter(part, nodes)
                    if not passed:
                        self._explain(part, nodes, where)
                        return
                    if not part.positional:
                        nodes = passed
                self._add_reason(where, f"nothing passes all of [{self._text(condition)}]")
            case Or(parts=parts):
                for part in parts:
                    self._explain(part, nodes, where)
            case Exists(path=path):
                inner = f"{where}in [{self._text(condition)}], " if where else ""
                self._explain_path(path, [0] if path.absolute else nodes, inner)
            case Value():
                self._add_condition(where, condition, f", found {self._values(nodes)}")
                self._hint_at_value(condition, nodes)
            case Count(path=path):
                counts = [len(self._evaluator.select(path, node)) for node in nodes[:_MAX_VALUES]]
                self._add_condition(where, condition, f", counted {_join(counts)}")
            case First(path=path):
                firsts = [self._evaluator.select(path, node)[:1] for node in nodes[:_MAX_VALUES]]
                strings = [
                    self._document.string_value(first[0]) if first else "" for first in firsts
                ]
                shown = _join([quote(text) for text in strings])
                self._add_condition(where, condition, f", found {shown}")
            case Not(part=Exists(path=path)):
                starts = [0] if path.absolute else nodes[:_MAX_VALUES]
                selected = [
                    hit for node in starts for hit in self._evaluator.select(path, node)[:1]
                ]
                witness = f": there is {self._location(selected[0])}" if selected else ""
                self._add_condition(where, condition, witness)
            case _:
                size = f" (there were {len(nodes)})" if condition.positional else ""
                self._add_condition(where, condition, size)

    def _hint_at_value(self, value: Value, nodes: list[int]) -> None:
        texts = [self._document.string_value(node) for node in nodes[:_MAX_VALUES]]
        if value.kind is ValueKind.STRING and value.op == "=":
            if any(text.strip() == value.operand for text in texts):
                self._add_hint("there is white space around it: compare normalize-space(.)")
        if value.kind is ValueKind.NUMBER:
            not_numbers = [text for text in texts if text.strip() and math.isnan(number(text))]
            if not_numbers:
                self._add_hint(f"{quote(not_numbers[0])} is not a number")

    def _explain_path(self, path: Path, starts: list[int], where: str) -> None:
        current = starts
        above = starts  # the context nodes of a step, or of the // before it, which is not counted
        deep = False
        number = 0
        for step in path.steps:
            unfiltered = Path(False, (replace(step, conditions=()),))
            candidates = self._select(unfiltered, current)
            if step.is_double_slash:
                current, deep = candidates, True
                continue
            number += 1
            text = path_text(replace(unfiltered, absolute=True), self._names)
            lead = "/" if deep and not text.startswith("//") else ""
            prefix = f"{where}step {number}, {lead}{text}: "
            if not candidates:
                self._explain_missing(step, above, prefix, deep)
                return
            selected = self._select(Path(False, (step,)), current)
            if not selected:
                self._explain_predicates(step, candidates, prefix)
                return
            current = above = selected
            deep = False

    def _select(self, path: Path, starts: list[int]) -> list[int]:
        return sorted({hit for node in starts for hit in self._evaluator.select(path, node)})

    def _explain_predicates(self, step: Step, candidates: list[int], prefix: str) -> None:
        """Explain the first predicate of a step that filters out all candidates."""
        nodes = candidates
        allowed = set(candidates)
        for count, condition in enumerate(step.conditions, 1):
            shortened = replace(step, conditions=step.conditions[:count])
            passed = [node for node in self._evaluator.candidates(shortened) if node in allowed]
            if not passed:
                self._explain(condition, nodes, prefix)
                return
            nodes = passed
        self._add_reason(prefix, "no node passes all predicates from one start")

    def _explain_missing(self, step: Step, above: list[int], prefix: str, deep: bool) -> None:
        kind = _AXIS_NAMES[step.axis]
        if deep:
            kind = "descendant" if kind == "child" else f"{kind} at any depth called"
        where = self._location(above[0]) if above != [0] else "the document"
        others = f" and {len(above) - 1} more" if len(above) > 1 else ""
        verb = "have" if others else "has"
        name = test_text(step.test, self._names)
        if step.test.kind is TestKind.NAME:
            name = repr(name)
        self._add_reason(prefix, f"no {kind} {name}", before=f"{where}{others} {verb} ")
        if step.test.kind is TestKind.NAME:
            self._hint_at_name(step.test, attribute=step.axis is Axis.ATTRIBUTE)

    def _hint_at_name(self, test: Test, *, attribute: bool) -> None:
        labels = self._document.attributes if attribute else self._document.elements
        if test.name in labels:
            local = test.name.rpartition("}")[2]
            self._add_hint(
                f"there is a {local!r} elsewhere: line {self._document.line(labels[test.name][0])}"
            )
            return
        hint = hint_at_name(
            test.name,
            labels,
            self._document.elements if attribute else self._document.attributes,
            is_attribute=attribute,
            namespaces=self._namespaces,
            default_namespace=self._document.tree.getroot().nsmap.get(None),
        )
        if hint is not None:
            self._add_hint(hint)

    # texts

    def _add_condition(self, where: str, condition: Condition, values: str) -> None:
        self._add_reason(where, f"[{self._text(condition)}] failed", after=values)

    def _add_reason(self, where: str, failure: str, *, before: str = "", after: str = "") -> None:
        self.failures.append(where + failure)
        self.reasons.append(where + before + failure + after)

    def _add_hint(self, hint: str) -> None:
        if hint not in self.hints:
            self.hints.append(hint)

    def _text(self, condition: Condition) -> str:
        return condition_text(condition, self._names)

    def _location(self, node: int) -> str:
        if node == 0:
            return "the document"
        location = location_of(self._document, node, self._names)
        return f"{location.path} (line {location.line})"

    def _values(self, nodes: list[int]) -> str:
        shown = [
            f"{quote(self._document.string_value(node))} (line {self._document.line(node)})"
            for node in nodes[:_MAX_VALUES]
        ]
        return _join(shown) + (
            f" and {len(nodes) - _MAX_VALUES} more" if len(nodes) > _MAX_VALUES else ""
        )


def _join(values: list[int] | list[str]) -> str:
    return ", ".join(str(value) for value in values)
