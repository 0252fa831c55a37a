"""Sampler of predicates that one valid document can satisfy together.

Steps are drawn uniformly (like the levels of predicates in Cao 2012, section 3.4.4). A predicate
refers to the element that the step was derived from, also if the step is a `*`:

- `[@a = 7]`: attributes that the DTD declares, with values that they can have: an enumeration's
  own, a fixed one's, integers for CDATA and NMTOKEN. An ID cannot be a number, so it has no
  comparison.
- `[@a]`: an IDREF needs a target, so only if the same element has an ID that it may name.
- `[text() = 7]`: only where text is allowed. It tests a text node of the element itself, so
  children may stand beside it.
- `[3]`: only if the content model has room for that many children of the name, beside all others
  that the query requires there, and never on a `*`.

A step tests each attribute, its text and its position at most once, so the predicates of a query
never contradict each other. Positions come first, the others in the order of their texts: equal
queries have equal texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.errors import WorkloadError
from pathcast.generators.subscriptions.options import PredicateKinds
from pathcast.generators.subscriptions.walks import START, InstanceNode, SchemaWalks
from pathcast.rng import SeededRandom
from pathcast.schema import AttributeType, Default, Element

__all__ = ["PredicateSampler", "QueryStep", "quote"]

_MAX_TRIES = 20  # draws of a step and a kind for one predicate
_NUMERIC = (AttributeType.CDATA, AttributeType.NMTOKEN, AttributeType.NMTOKENS)
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)
_TEXT = "text()"
_UNSUPPORTED = (AttributeType.ENTITY, AttributeType.ENTITIES, AttributeType.NOTATION)


@dataclass(slots=True, eq=False)
class QueryStep:
    """One step of a subscription, and the element that it was derived from."""

    node: InstanceNode
    axis: str  # / or //
    test: str
    children: list[QueryStep] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)  # operand -> predicate
    position: int = 0

    @property
    def text(self) -> str:
        """The step with its predicates, without the steps below it."""
        position = f"[{self.position}]" if self.position else ""
        return f"{self.axis}{self.test}{position}{''.join(sorted(self.conditions.values()))}"


class PredicateSampler:
    """Draws predicates for the subscriptions of one schema."""

    __slots__ = ("_attributes", "_operands", "_operators", "_positions", "_walks", "_weights")

    def __init__(self, walks: SchemaWalks, kinds: PredicateKinds) -> None:
        self._walks = walks
        self._positions = kinds.positions
        self._operators, self._operands = _operands(kinds)
        self._weights = (kinds.attribute, kinds.value, kinds.position, kinds.existence)
        elements = walks.schema.elements
        self._attributes = {
            name: (_comparable(elements[name]), _testable(elements[name]))
            for name in walks.choices
            if name != START
        }

    def add_predicates(self, rng: SeededRandom, steps: list[QueryStep], count: int) -> bool:
        """Add predicates to these steps; return False if no place for them was found."""
        return all(self._add_one(rng, steps) for _ in range(count))

    def _add_one(self, rng: SeededRandom, steps: list[QueryStep]) -> bool:
        samplers = (self._attribute, self._value, self._position, self._existence)
        for _ in range(_MAX_TRIES):
            step = rng.pick(steps)
            draw = rng.random() * sum(self._weights)
            for weight, sample in zip(self._weights, samplers, strict=True):
                draw -= weight
                if draw < 0:
                    if sample(rng, step):
                        return True
                    break
        return False

    def _attribute(self, rng: SeededRandom, step: QueryStep) -> bool:
        choices = self._attributes[step.node.name][0]
        if not choices:
            return False
        name, values = rng.pick(choices)
        if name in step.conditions:
            return False
        comparison = f"= {rng.pick(values)}" if values else self._comparison(rng)
        step.conditions[name] = f"[{name} {comparison}]"
        return True

    def _value(self, rng: SeededRandom, step: QueryStep) -> bool:
        kind = self._walks.schema.elements[step.node.name].kind
        if not kind.allows_text or _TEXT in step.conditions:
            return False
        step.conditions[_TEXT] = f"[{_TEXT} {self._comparison(rng)}]"
        return True

    def _existence(self, rng: SeededRandom, step: QueryStep) -> bool:
        choices = self._attributes[step.node.name][1]
        if not choices:
            return False
        name = rng.pick(choices)
        if name in step.conditions:
            return False
        step.conditions[name] = f"[{name}]"
        return True

    def _position(self, rng: SeededRandom, step: QueryStep) -> bool:
        parent, name = step.node.parent, step.node.name
        if step.position or step.test == "*" or parent is None or parent.name == START:
            return False
        # With two branches of the same name, positions would be ambiguous.
        if parent.required[name] != 1:
            return False
        position = rng.between(1, self._positions)
        while position > 1 and not self._walks.fits(
            parent.name, {**parent.required, name: position}
        ):
            position = rng.between(1, position - 1)
        step.position = parent.required[name] = position
        return True

    def _comparison(self, rng: SeededRandom) -> str:
        return f"{rng.pick(self._operators)} {rng.pick(self._operands)}"


def quote(value: str) -> str | None:
    """Return the value as an XPath string, or None if it has quotes of both kinds."""
    if "'" not in value:
        return f"'{value}'"
    return None if '"' in value else f'"{value}"'


def _operands(kinds: PredicateKinds) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the operators and the operands to draw from."""
    if kinds.values.kind == "integers":
        return kinds.operators, kinds.values.table
    operands = tuple(filter(None, map(quote, kinds.values.table)))
    if not operands:
        raise WorkloadError(
            "option", "no value can be written in XPath: all have quotes of both kinds"
        )
    return ("=",), operands


def _nameable(element: Element) -> list[tuple[str, AttributeType]]:
    """Return the attributes that an expression without namespaces can name."""
    return [
        (attribute.name, attribute.type)
        for attribute in element.attributes
        if not attribute.declares_namespace
        and attribute.type not in _UNSUPPORTED
        and (":" not in attribute.name or attribute.name.startswith("xml:"))
    ]


def _comparable(element: Element) -> list[tuple[str, tuple[str, ...]]]:
    """Return the attributes to compare, with their values; () stands for any number."""
    comparable: list[tuple[str, tuple[str, ...]]] = []
    allowed = {name for name, _ in _nameable(element)}
    for attribute in element.attributes:
        if attribute.name not in allowed:
            continue
        if attribute.default is Default.FIXED:
            value = quote(attribute.value or "")
            if value is not None and attribute.type not in _REFERENCES:
                comparable.append((f"@{attribute.name}", (value,)))
        elif attribute.type is AttributeType.ENUMERATION:
            comparable.append(
                (f"@{attribute.name}", tuple(f"'{value}'" for value in attribute.values))
            )
        elif attribute.type in _NUMERIC:
            comparable.append((f"@{attribute.name}", ()))
    return comparable


def _testable(element: Element) -> list[str]:
    nameable = _nameable(element)
    has_id = any(kind is AttributeType.ID for _, kind in nameable)
    return [f"@{name}" for name, kind in nameable if has_id or kind not in _REFERENCES]
