"""Predicates for the steps of a subscription, such that a valid document can satisfy them all at once.

They are put on steps drawn uniformly (as the levels of the predicates of Cao 2012, section 3.4.4, are), and speak of the element
that the step was made from, also where the step is a `*`:

- `[@a = 7]`: only attributes that the DTD declares, and values that they can have: an enumeration's own, a fixed one's,
  integers for CDATA and NMTOKEN. An ID cannot be a number, so it gets no comparison.
- `[@a]`: an IDREF must point to something: only where the same element has an ID that it may name.
- `[text() = 7]`: only where text may stand. It asks for a text of the element itself, so children may stand beside it.
- `[3]`: only where the content model has room for so many children of that name, beside all others that the query
  wants there, and never on a `*`.

No attribute is asked twice on one step, nor is its text or its place, so predicates of a query never contradict each other.
Positions come first and the others in the order of their texts: equal queries are written equally.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.errors import WorkloadError
from pathcast.generators.subscriptions.options import PredicateKinds
from pathcast.generators.subscriptions.walk import START, Node, Walks
from pathcast.rng import SeededRandom
from pathcast.schema import AttributeType, Default, Element

__all__ = ["Predicates", "Step", "quoted"]

_TRIES = 20  # draws of a place and a kind for one predicate, before the query is given up
_NUMERIC = (AttributeType.CDATA, AttributeType.NMTOKEN, AttributeType.NMTOKENS)
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)
_TEXT = "text()"
_NEVER = (AttributeType.ENTITY, AttributeType.ENTITIES, AttributeType.NOTATION)


@dataclass(slots=True, eq=False)
class Step:
    """One step of a subscription: what is written, and the element that it was made from."""

    node: Node
    axis: str  # / or //
    test: str
    kids: list[Step] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)  # what is asked -> [how]
    place: int = 0

    @property
    def text(self) -> str:
        """The step without what hangs below it."""
        place = f"[{self.place}]" if self.place else ""
        return f"{self.axis}{self.test}{place}{''.join(sorted(self.conditions.values()))}"


class Predicates:
    """Draws predicates for the subscriptions of one schema."""

    __slots__ = ("_attributes", "_operands", "_operators", "_positions", "_walks", "_weights")

    def __init__(self, walks: Walks, kinds: PredicateKinds) -> None:
        self._walks = walks
        self._positions = kinds.positions
        self._operators, self._operands = _operands(kinds)
        self._weights = (kinds.attribute, kinds.value, kinds.position, kinds.existence)
        elements = walks.schema.elements
        self._attributes = {
            name: (_compared(elements[name]), _present(elements[name]))
            for name in walks.choices
            if name != START
        }

    def put(self, rng: SeededRandom, steps: list[Step], count: int) -> bool:
        """Put so many predicates on these steps; False if there is no place for them, as far as was tried."""
        return all(self._one(rng, steps) for _ in range(count))

    def _one(self, rng: SeededRandom, steps: list[Step]) -> bool:
        makers = (self._attribute, self._value, self._position, self._existence)
        for _ in range(_TRIES):
            step = rng.pick(steps)
            drawn = rng.random() * sum(self._weights)
            for weight, make in zip(self._weights, makers, strict=True):
                drawn -= weight
                if drawn < 0:
                    if make(rng, step):
                        return True
                    break
        return False

    def _attribute(self, rng: SeededRandom, step: Step) -> bool:
        choices = self._attributes[step.node.name][0]
        if not choices:
            return False
        name, values = rng.pick(choices)
        if name in step.conditions:
            return False
        how = f"= {rng.pick(values)}" if values else self._comparison(rng)
        step.conditions[name] = f"[{name} {how}]"
        return True

    def _value(self, rng: SeededRandom, step: Step) -> bool:
        kind = self._walks.schema.elements[step.node.name].kind
        if not kind.allows_text or _TEXT in step.conditions:
            return False
        step.conditions[_TEXT] = f"[{_TEXT} {self._comparison(rng)}]"
        return True

    def _existence(self, rng: SeededRandom, step: Step) -> bool:
        choices = self._attributes[step.node.name][1]
        if not choices:
            return False
        name = rng.pick(choices)
        if name in step.conditions:
            return False
        step.conditions[name] = f"[{name}]"
        return True

    def _position(self, rng: SeededRandom, step: Step) -> bool:
        parent, name = step.node.parent, step.node.name
        if step.place or step.test == "*" or parent is None or parent.name == START:
            return False
        if parent.wanted[name] != 1:  # another branch asks for the same name: who is which one?
            return False
        place = rng.between(1, self._positions)
        while place > 1 and not self._walks.fits(parent.name, {**parent.wanted, name: place}):
            place = rng.between(1, place - 1)
        step.place = parent.wanted[name] = place
        return True

    def _comparison(self, rng: SeededRandom) -> str:
        return f"{rng.pick(self._operators)} {rng.pick(self._operands)}"


def quoted(value: str) -> str | None:
    """The value as an XPath string, or None where it has quotes of both kinds."""
    if "'" not in value:
        return f"'{value}'"
    return None if '"' in value else f'"{value}"'


def _operands(kinds: PredicateKinds) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The operators and the operands to draw from."""
    if kinds.values.kind == "integers":
        return kinds.operators, kinds.values.table
    found = tuple(filter(None, map(quoted, kinds.values.table)))
    if not found:
        raise WorkloadError(
            "option", "no value can be written in XPath: all have quotes of both kinds"
        )
    return ("=",), found


def _named(element: Element) -> list[tuple[str, AttributeType]]:
    """The attributes that an expression without namespaces can name."""
    return [
        (one.name, one.type)
        for one in element.attributes
        if not one.declares_namespace
        and one.type not in _NEVER
        and (":" not in one.name or one.name.startswith("xml:"))
    ]


def _compared(element: Element) -> list[tuple[str, tuple[str, ...]]]:
    """What may be compared, and with what: () for any number."""
    found: list[tuple[str, tuple[str, ...]]] = []
    allowed = {name for name, _ in _named(element)}
    for one in element.attributes:
        if one.name not in allowed:
            continue
        if one.default is Default.FIXED:
            value = quoted(one.value or "")
            if value is not None and one.type not in _REFERENCES:
                found.append((f"@{one.name}", (value,)))
        elif one.type is AttributeType.ENUMERATION:
            found.append((f"@{one.name}", tuple(f"'{value}'" for value in one.values)))
        elif one.type in _NUMERIC:
            found.append((f"@{one.name}", ()))
    return found


def _present(element: Element) -> list[str]:
    named = _named(element)
    has_id = any(kind is AttributeType.ID for _, kind in named)
    return [f"@{name}" for name, kind in named if has_id or kind not in _REFERENCES]
