"""Elements that a document may use, and the minimal tree that opening one commits it to.

Three properties of an element's *minimal tree* decide whether it may be opened:

- Its height: the element needs that many levels.
- Its recursion mask: the recursive elements in it. With a recursion limit r, the element may be
  opened only if none of them occurs r times on the path already. A tree of minimal height never
  repeats an element on a path, since the part between the two could be left out. So every opened
  element can be closed without exceeding r, for any r and depth.
- Its cost in bytes: it only orders the branches of a choice, cheapest first.

One integer counts the recursive elements on a path, with ten bits each. A counter starts at 512 -
r, so its top bit is set when the element occurs r times. Testing a mask is one AND.

Not usable are elements that require an external entity (a flat DTD declares none), elements with a
prefix that no xmlns attribute is certain to bind, and elements without a finite tree.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT a (b | c)><!ELEMENT b (a)><!ELEMENT c (b?)>", root="a")
>>> elements = UsableElements(schema, 1, {"a": 7, "b": 7, "c": 7})
>>> elements.min_height, elements.cost
({'c': 1, 'a': 2, 'b': 3}, {'c': 7, 'a': 14, 'b': 21})
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import chain

from pathcast.schema import (
    AttributeType,
    Child,
    Choice,
    Content,
    ContentKind,
    Default,
    Element,
    Occurs,
    Schema,
    names_of,
)

__all__ = ["UNBOUNDED", "UsableElements", "bound_prefixes", "unusable_elements"]

UNBOUNDED = 1 << 40
"""The height or cost of an element without a finite tree."""

_COUNTER_BITS = 10  # bits per counter; depths go up to 256
_LIMIT_BIT = 1 << (_COUNTER_BITS - 1)
_ENTITIES = (AttributeType.ENTITY, AttributeType.ENTITIES)


class UsableElements:
    """The usable elements, numbered. Immutable."""

    def __init__(
        self,
        schema: Schema,
        recursion: int | None,
        tag_sizes: Mapping[str, int],
    ) -> None:
        """Compute the tables; `tag_sizes` has the bytes of each allowed element's tags."""
        usable = {name: element for name, element in schema.elements.items() if name in tag_sizes}
        self.min_height = _least_measures(
            {name: _inner_content(element, usable) for name, element in usable.items()},
            dict.fromkeys(usable, 1),
            True,
        )
        self.names = tuple(name for name in usable if name in self.min_height)
        self.number = {name: number for number, name in enumerate(self.names)}
        self.content = {name: _inner_content(usable[name], self.min_height) for name in self.names}
        self.cost = _least_measures(self.content, tag_sizes, False)
        self.cyclic = schema.graph.cyclic
        self.max_height = self._max_heights()
        self.path_start = 0  # counters of an empty path
        self.path_increment = dict.fromkeys(self.names, 0)  # counter increment of an element
        self._masks = dict.fromkeys(self.names, 0)
        if recursion is not None:
            self._assign_counters(recursion)

    def min_height_of(self, content: Content) -> int:
        """Return the least number of levels of a content model."""
        return _least_measure(content, self.min_height, True)

    def cost_of(self, content: Content) -> int:
        """Return the least number of bytes of a content model."""
        return _least_measure(content, self.cost, False)

    def mask_of(self, content: Content) -> int:
        """Return the limit bits of the recursive elements in the lowest content of a model."""
        if content.occurs.may_be_absent:
            return 0
        if isinstance(content, Child):
            return self._masks.get(content.name, 0)
        masks = [(self.min_height_of(part), self.mask_of(part)) for part in content.parts]
        if isinstance(content, Choice):
            return min(masks, key=lambda pair: (pair[0], pair[1].bit_count(), pair[1]))[1]
        mask = 0
        for _, part_mask in masks:
            mask |= part_mask
        return mask

    def _assign_counters(self, recursion: int) -> None:
        shift = 0
        # Ascending height: the lowest tree of an element consists of lower elements.
        for name in sorted(self.names, key=lambda name: self.min_height[name]):
            content = self.content[name]
            mask = 0 if content is None else self.mask_of(content)
            if name in self.cyclic:
                self.path_increment[name] = 1 << shift
                self.path_start |= (_LIMIT_BIT - recursion) << shift
                mask |= _LIMIT_BIT << shift
                shift += _COUNTER_BITS
            self._masks[name] = mask

    def _max_heights(self) -> dict[str, int]:
        """Return the greatest height of each element's trees; UNBOUNDED with recursion."""
        heights = {name: UNBOUNDED for name in self.names if name in self.cyclic}
        waiting = [name for name in self.names if name not in heights]
        while waiting:
            name = waiting[-1]
            below = tuple(names_of(self.content[name]))
            unknown = [
                child for child in below if child in self.min_height and child not in heights
            ]
            if unknown:
                waiting += unknown
                continue
            child_heights = [heights[child] for child in below if child in self.min_height]
            heights[name] = min(UNBOUNDED, 1 + max(child_heights, default=0))
            waiting.pop()
        return heights


def _inner_content(element: Element, usable: Mapping[str, object]) -> Content | None:
    """Return the content model; for MIXED and ANY, the repeated choice of children."""
    if element.kind is ContentKind.EMPTY:
        return None
    if element.kind is ContentKind.CHILDREN:
        return element.content
    names = usable if element.kind is ContentKind.ANY else names_of(element.content)
    parts = tuple(Child(name) for name in names if name in usable)
    return Choice(parts, Occurs.ANY) if parts else None


def _least_measures(
    contents: Mapping[str, Content | None], own: Mapping[str, int], highest: bool
) -> dict[str, int]:
    """Return the least fixpoint of a measure of minimal trees; `own` is an element's own share."""
    measures: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for name, content in contents.items():
            value = own[name] + (
                0 if content is None else _least_measure(content, measures, highest)
            )
            if value < measures.get(name, UNBOUNDED):
                measures[name] = value
                changed = True
    return measures


def _least_measure(content: Content, price: Mapping[str, int], highest: bool) -> int:
    if content.occurs.may_be_absent:
        return 0
    if isinstance(content, Child):
        return price.get(content.name, UNBOUNDED)
    values = [_least_measure(part, price, highest) for part in content.parts]
    if isinstance(content, Choice):
        return min(values, default=UNBOUNDED)
    return max(values, default=0) if highest else min(UNBOUNDED, sum(values))


def bound_prefixes(schema: Schema, without: Container[str]) -> dict[str, frozenset[str]]:
    """Return the prefixes that are certain to be bound in each reachable element.

    These are its own declarations, and the prefixes bound in all of its possible parents. A root
    may have no parent.
    """
    names = [name for name in schema.graph.depth if name not in without]
    own = {
        name: frozenset(
            attribute.name.partition(":")[2]
            for attribute in schema.elements[name].attributes
            if attribute.declares_namespace
        )
        for name in names
    }
    everything = frozenset(chain.from_iterable(own.values()))
    bound = {name: own[name] if name in schema.roots else everything for name in names}
    changed = bool(everything)
    while changed:
        changed = False
        for name in names:
            for child in schema.graph.children[name]:
                if child in bound and not bound[child] <= bound[name] | own[child]:
                    bound[child] &= bound[name] | own[child]
                    changed = True
    return {name: prefixes | {"xml"} for name, prefixes in bound.items()}


def unusable_elements(schema: Schema) -> dict[str, str]:
    """Return the elements that no generated document can contain, with the reasons."""
    reasons: dict[str, str] = {}
    for name, element in schema.elements.items():
        for attribute in element.attributes:
            if attribute.default is Default.REQUIRED and attribute.type in _ENTITIES:
                reasons[name] = f"its attribute {attribute.name} must name an external entity"
    while True:
        unbound = {}
        for name, bound in bound_prefixes(schema, reasons).items():
            element = schema.elements[name]
            used = [name] + [
                attribute.name
                for attribute in element.attributes
                if attribute.default is Default.REQUIRED and not attribute.declares_namespace
            ]
            for qualified_name in used:
                prefix, colon, _ = qualified_name.partition(":")
                if colon and prefix not in bound:
                    unbound[name] = f"nothing binds the prefix of {qualified_name}"
        if not unbound:
            return reasons
        reasons |= unbound
