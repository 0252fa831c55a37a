"""Local content of one element: attributes, text and comments that meet a disjunct.

If no suitable value is found (see `strings`), an arbitrary one is used: the document is checked,
and if it fails, the answer is "unknown".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pathcast.budget import WorkBudget
from pathcast.schema.model import Attribute, AttributeType, ContentKind, Default, Element
from pathcast.schema.satisfiability.demands import ChildRequirement, Disjunct
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.satisfiability.strings import could_be_blank, find_string, holds
from pathcast.xpath.syntax import Test, TestKind
from pathcast.xpath.tree import Condition

__all__ = ["Filling", "fill"]

_ELEMENT = Test(TestKind.ANY)
_STEPS_PER_ELEMENT = 5
_BLANKS = ("", *(" " * length for length in range(1, 20)), "\n", "\t")


@dataclass(frozen=True, slots=True)
class Filling:
    """Attributes in the DTD's spelling, text, and comments or PIs as (target or "", text)."""

    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    comments: tuple[tuple[str, str], ...] = ()
    forbidden_attributes: tuple[str, ...] = ()


def fill(
    element: Element,
    disjunct: Disjunct,
    names: DtdNamespaces,
    budget: WorkBudget,
    *,
    text_below: bool,
) -> Iterator[tuple[Disjunct, Filling]]:
    """Yield the disjunct, possibly with one more requirement, and its filling; none if impossible.

    `text_below`: the element or a descendant may contain text.
    """
    budget.spend(_STEPS_PER_ELEMENT + len(element.attributes) * (1 + len(disjunct.no_attributes)))
    for test, expected in disjunct.names:
        passes = names.may_match(test, element.name) if element.name else test.kind is TestKind.NODE
        if passes is not expected and (
            expected or not element.name or names.must_match(test, element.name)
        ):
            return
    attributes = _attributes(element, disjunct, names, budget)
    if attributes is None:
        return
    forbidden_attributes = tuple(
        attribute.name
        for attribute in element.attributes
        if any(
            names.may_match(test, attribute.name, attribute=True) for test in disjunct.no_attributes
        )
    )
    comments: list[tuple[str, str]] = []
    text = ""
    for test, conditions in disjunct.leaf_nodes:
        if element.kind is ContentKind.EMPTY:
            return
        match test.kind:
            case TestKind.COMMENT | TestKind.NODE:
                comments.append(("", find_string(conditions, budget) or "x"))
            case TestKind.INSTRUCTION:
                comments.append((test.name or "x", find_string(conditions, budget) or "x"))
            case _:
                if not element.name:
                    return  # a document node has no text
                if not element.kind.allows_text and not all(map(could_be_blank, conditions)):
                    return
                first = () if element.kind.allows_text else _BLANKS[1:]
                text = find_string(conditions, budget, first) or " "
    filling = Filling(tuple(attributes.items()), text, tuple(comments), forbidden_attributes)
    if not disjunct.values or all(holds(condition, text) for condition in disjunct.values):
        yield disjunct, filling
    elif element.kind.allows_text:
        yield disjunct, replace(filling, text=find_string(disjunct.values, budget) or text)
    elif element.kind is ContentKind.EMPTY:
        if all(holds(condition, "") is not False for condition in disjunct.values):
            yield disjunct, filling
    else:
        if all(map(could_be_blank, disjunct.values)):
            blank = find_string(disjunct.values, budget, _BLANKS) or ""
            white_space = "" if blank.strip() or not element.name else blank
            yield disjunct, replace(filling, text=white_space)
        if text_below:  # a descendant contains the text
            carrier = ChildRequirement(_ELEMENT, frozenset(disjunct.values), at_any_depth=True)
            yield replace(disjunct, requirements=(*disjunct.requirements, carrier)), filling


def _attributes(
    element: Element, disjunct: Disjunct, names: DtdNamespaces, budget: WorkBudget
) -> dict[str, str] | None:
    """Return a value for each required attribute; None if one is impossible."""
    declared = {
        attribute.name: attribute
        for attribute in element.attributes
        if not attribute.declares_namespace
    }
    allowed = {
        name: attribute
        for name, attribute in declared.items()
        if not any(names.must_match(test, name, attribute=True) for test in disjunct.no_attributes)
    }
    if any(
        attribute.default is Default.REQUIRED and name not in allowed
        for name, attribute in declared.items()
    ):
        return None
    tests = _assign(disjunct.attributes, {}, allowed, names, budget)
    if tests is None:
        return None
    return {
        name: _value(declared[name], conditions, budget) or "" for name, conditions in tests.items()
    }


_Tests = dict[str, tuple[Condition, ...]]  # attribute -> conditions on its value


def _assign(
    required: tuple[tuple[Test, tuple[Condition, ...]], ...],
    tests: _Tests,
    allowed: dict[str, Attribute],
    names: DtdNamespaces,
    budget: WorkBudget,
) -> _Tests | None:
    """Assign an attribute to every required test, by backtracking."""
    if not required:
        return tests
    (test, conditions), remaining = required[0], required[1:]
    budget.spend(len(allowed) + len(required))
    for name, attribute in allowed.items():
        if names.may_match(test, name, attribute=True):
            together = (*tests.get(name, ()), *conditions)
            if _value(attribute, together, budget) is not None:
                assignment = _assign(remaining, {**tests, name: together}, allowed, names, budget)
                if assignment is not None:
                    return assignment
    return None


def _value(
    attribute: Attribute, conditions: tuple[Condition, ...], budget: WorkBudget
) -> str | None:
    """Return a value that may pass the conditions; None only if none can."""
    if attribute.default is Default.FIXED:
        values: tuple[str, ...] = (attribute.value or "",)
    elif attribute.values:
        values = attribute.values
    else:
        first = [attribute.value] if attribute.value else []
        if attribute.type is not AttributeType.CDATA:
            first.append("x1")
        text = find_string(conditions, budget, first)
        return "x1" if text is None else text
    budget.spend(len(values) * len(conditions))
    return next(
        (value for value in values if all(holds(test, value) is not False for test in conditions)),
        None,
    )
