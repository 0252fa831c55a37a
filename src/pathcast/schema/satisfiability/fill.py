"""What stands in one element itself: attributes, text, comments. Or the certainty that it cannot.

Where a value must be found and none is (see `strings`), any value is taken: the document made from it is checked
anyhow, and then nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pathcast.schema.model import Attribute, AttributeType, ContentKind, Default, Element
from pathcast.schema.satisfiability.demands import Want, Way
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.satisfiability.strings import could_be_blank, find_string, holds
from pathcast.xpath.syntax import Test, TestKind
from pathcast.xpath.tree import Condition

__all__ = ["Filling", "fill"]

_ELEMENT = Test(TestKind.ANY)
_BLANKS = ("", *(" " * length for length in range(1, 20)), "\n", "\t")


@dataclass(frozen=True, slots=True)
class Filling:
    """Attributes to write, in the DTD's spelling; text; comments and instructions as (target or "", text)."""

    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    remarks: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()  # attributes that must not be written


def fill(
    element: Element, way: Way, names: DtdNamespaces, *, text_below: bool
) -> Iterator[tuple[Way, Filling]]:
    """The filling for a way at an element, perhaps with one more want; nothing if it cannot be had.

    `text_below`: text may stand in the element or somewhere below it.
    """
    for test, wanted in way.names:
        passes = names.may_match(test, element.name) if element.name else test.kind is TestKind.NODE
        if passes is not wanted and (
            wanted or not element.name or names.must_match(test, element.name)
        ):
            return
    attributes = _attributes(element, way, names)
    if attributes is None:
        return
    without = tuple(
        one.name
        for one in element.attributes
        if any(names.may_match(test, one.name, attribute=True) for test in way.no_attributes)
    )
    remarks: list[tuple[str, str]] = []
    text = ""
    for test, conditions in way.others:
        if element.kind is ContentKind.EMPTY:
            return
        match test.kind:
            case TestKind.COMMENT | TestKind.NODE:
                remarks.append(("", find_string(conditions) or "x"))
            case TestKind.INSTRUCTION:
                remarks.append((test.name or "x", find_string(conditions) or "x"))
            case _:
                if not element.name:
                    return  # no text beside the root element
                if not element.kind.text and not all(map(could_be_blank, conditions)):
                    return
                first = () if element.kind.text else _BLANKS[1:]
                text = find_string(conditions, first) or " "
    filling = Filling(tuple(attributes.items()), text, tuple(remarks), without)
    if not way.values or all(holds(one, text) for one in way.values):
        yield way, filling
    elif element.kind.text:
        yield way, replace(filling, text=find_string(way.values) or text)
    elif element.kind is ContentKind.EMPTY:
        if all(holds(one, "") is not False for one in way.values):
            yield way, filling
    else:
        if all(map(could_be_blank, way.values)):
            blank = find_string(way.values, _BLANKS) or ""
            kept = "" if blank.strip() or not element.name else blank
            yield way, replace(filling, text=kept)
        if text_below:  # the text stands in some element further down
            carrier = Want(_ELEMENT, frozenset(way.values), deeper=True)
            yield replace(way, wants=(*way.wants, carrier)), filling


def _attributes(element: Element, way: Way, names: DtdNamespaces) -> dict[str, str] | None:
    """A value for each attribute that is asked for; None if one cannot be had."""
    declared = {one.name: one for one in element.attributes if not one.declares_namespace}
    allowed = {
        name: one
        for name, one in declared.items()
        if not any(names.must_match(test, name, attribute=True) for test in way.no_attributes)
    }
    if any(
        one.default is Default.REQUIRED and name not in allowed for name, one in declared.items()
    ):
        return None
    tests = _assigned(way.attributes, {}, allowed, names)
    if tests is None:
        return None
    return {name: _value(declared[name], conditions) or "" for name, conditions in tests.items()}


_Tests = dict[str, tuple[Condition, ...]]  # attribute -> what its value must pass


def _assigned(
    asked: tuple[tuple[Test, tuple[Condition, ...]], ...],
    tests: _Tests,
    allowed: dict[str, Attribute],
    names: DtdNamespaces,
) -> _Tests | None:
    """An attribute for everything that is asked for, by trying them in turn."""
    if not asked:
        return tests
    (test, conditions), rest = asked[0], asked[1:]
    for name, one in allowed.items():
        if names.may_match(test, name, attribute=True):
            together = (*tests.get(name, ()), *conditions)
            if _value(one, together) is not None:
                found = _assigned(rest, {**tests, name: together}, allowed, names)
                if found is not None:
                    return found
    return None


def _value(attribute: Attribute, conditions: tuple[Condition, ...]) -> str | None:
    """A value that may pass; None only if none can."""
    if attribute.default is Default.FIXED:
        values: tuple[str, ...] = (attribute.value or "",)
    elif attribute.values:
        values = attribute.values
    else:
        first = [attribute.value] if attribute.value else []
        if attribute.type is not AttributeType.CDATA:
            first.append("x1")
        found = find_string(conditions, first)
        return "x1" if found is None else found
    return next(
        (one for one in values if all(holds(test, one) is not False for test in conditions)), None
    )
