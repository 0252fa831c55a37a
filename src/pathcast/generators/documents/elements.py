"""Which elements of a schema a document may use, and what opening one commits it to.

Three numbers decide everything, and all are of an element's *smallest tree*:

- its height: an element is opened only where so many levels are left;
- what it needs: the recursive elements in it. With a recursion depth r, an element is opened only where none of those
  stands r times on the path already. The lowest tree never has an element inside itself (what is between the two could
  be left out), so whatever is opened can be closed with no element more than r times on one path, however r and the
  depth interplay: r is never exceeded;
- its cost in bytes: it only orders the branches of a choice, cheapest first.

The recursive elements on a path are counted in one integer, ten bits for each: a field starts at 512 - r, so that its
top bit says that the element stands there r times. "None of these may be so often" is one AND.

Unusable are elements that must name an external entity (none is declared in a flat DTD), those with a prefix that no
declared xmlns attribute binds, in them or in whatever they may stand in, and those whose trees would be infinite.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT a (b | c)><!ELEMENT b (a)><!ELEMENT c (b?)>", root="a")
>>> elements = Elements(schema, 1, {"a": 7, "b": 7, "c": 7})
>>> elements.height, elements.cost
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

__all__ = ["NEVER", "Elements", "scopes", "unusable"]

NEVER = 1 << 40
"""The height or cost of what cannot be."""

_WIDTH = 10  # bits of a field: depths go up to 256
_FULL = 1 << (_WIDTH - 1)
_ENTITIES = (AttributeType.ENTITY, AttributeType.ENTITIES)


class Elements:
    """The usable elements by number; nothing changes once it is made."""

    def __init__(
        self,
        schema: Schema,
        recursion: int | None,
        shell: Mapping[str, int],
    ) -> None:
        """`shell`: the bytes of the tags of each element that may be used."""
        kept = {name: one for name, one in schema.elements.items() if name in shell}
        self.height = _smallest(
            {name: _inner(one, kept) for name, one in kept.items()}, dict.fromkeys(kept, 1), True
        )
        self.names = tuple(name for name in kept if name in self.height)
        self.number = {name: number for number, name in enumerate(self.names)}
        self.content = {name: _inner(kept[name], self.height) for name in self.names}
        self.cost = _smallest(self.content, shell, False)
        self.cyclic = schema.graph.cyclic
        self.tallest = self._tallest()
        self.start = 0  # the count of a path with nothing on it
        self.step = dict.fromkeys(self.names, 0)  # what an element adds to it
        self._need = dict.fromkeys(self.names, 0)
        if recursion is not None:
            self._count(recursion)

    def height_of(self, content: Content) -> int:
        """Levels of the lowest filling of a content model."""
        return _fold(content, self.height, True)

    def cost_of(self, content: Content) -> int:
        """Bytes of the cheapest filling of a content model."""
        return _fold(content, self.cost, False)

    def need_of(self, content: Content) -> int:
        """The top bits of the recursive elements in the lowest filling of a content model."""
        if content.occurs.may_be_absent:
            return 0
        if isinstance(content, Child):
            return self._need.get(content.name, 0)
        needs = [(self.height_of(part), self.need_of(part)) for part in content.parts]
        if isinstance(content, Choice):
            return min(needs, key=lambda pair: (pair[0], pair[1].bit_count(), pair[1]))[1]
        found = 0
        for _, need in needs:
            found |= need
        return found

    def _count(self, recursion: int) -> None:
        shift = 0
        # Lower elements first: the lowest tree of an element is made of lower ones.
        for name in sorted(self.names, key=lambda name: self.height[name]):
            content = self.content[name]
            need = 0 if content is None else self.need_of(content)
            if name in self.cyclic:
                self.step[name] = 1 << shift
                self.start |= (_FULL - recursion) << shift
                need |= _FULL << shift
                shift += _WIDTH
            self._need[name] = need

    def _tallest(self) -> dict[str, int]:
        """Levels of the highest tree of each element; NEVER where recursion sets no limit."""
        found = {name: NEVER for name in self.names if name in self.cyclic}
        waiting = [name for name in self.names if name not in found]
        while waiting:
            name = waiting[-1]
            below = tuple(names_of(self.content[name]))
            unknown = [child for child in below if child in self.height and child not in found]
            if unknown:
                waiting += unknown
                continue
            tall = [found[child] for child in below if child in self.height]
            found[name] = min(NEVER, 1 + max(tall, default=0))
            waiting.pop()
        return found


def _inner(element: Element, kept: Mapping[str, object]) -> Content | None:
    """What may stand in an element; for MIXED and ANY, beside the text, a repeated choice."""
    if element.kind is ContentKind.EMPTY:
        return None
    if element.kind is ContentKind.CHILDREN:
        return element.content
    names = kept if element.kind is ContentKind.ANY else names_of(element.content)
    parts = tuple(Child(name) for name in names if name in kept)
    return Choice(parts, Occurs.ANY) if parts else None


def _smallest(
    contents: Mapping[str, Content | None], own: Mapping[str, int], highest: bool
) -> dict[str, int]:
    """The least fixpoint: what the smallest tree of each element measures, from its own share."""
    found: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for name, content in contents.items():
            value = own[name] + (0 if content is None else _fold(content, found, highest))
            if value < found.get(name, NEVER):
                found[name] = value
                changed = True
    return found


def _fold(content: Content, price: Mapping[str, int], highest: bool) -> int:
    if content.occurs.may_be_absent:
        return 0
    if isinstance(content, Child):
        return price.get(content.name, NEVER)
    values = [_fold(part, price, highest) for part in content.parts]
    if isinstance(content, Choice):
        return min(values, default=NEVER)
    return max(values, default=0) if highest else min(NEVER, sum(values))


def scopes(schema: Schema, without: Container[str]) -> dict[str, frozenset[str]]:
    """For each reachable element the prefixes that are surely bound in it.

    Those are its own declarations, and what is bound in everything that it may stand in. A root may stand in nothing.
    """
    names = [name for name in schema.graph.depth if name not in without]
    own = {
        name: frozenset(
            one.name.partition(":")[2]
            for one in schema.elements[name].attributes
            if one.declares_namespace
        )
        for name in names
    }
    everything = frozenset(chain.from_iterable(own.values()))
    found = {name: own[name] if name in schema.roots else everything for name in names}
    changed = bool(everything)
    while changed:
        changed = False
        for name in names:
            for child in schema.graph.children[name]:
                if child in found and not found[child] <= found[name] | own[child]:
                    found[child] &= found[name] | own[child]
                    changed = True
    return {name: bound | {"xml"} for name, bound in found.items()}


def unusable(schema: Schema) -> dict[str, str]:
    """The elements that no document of ours can have, and why."""
    found: dict[str, str] = {}
    for name, element in schema.elements.items():
        for one in element.attributes:
            if one.default is Default.REQUIRED and one.type in _ENTITIES:
                found[name] = f"its attribute {one.name} must name an external entity"
    while True:
        unbound = {}
        for name, bound in scopes(schema, found).items():
            element = schema.elements[name]
            used = [name] + [
                one.name
                for one in element.attributes
                if one.default is Default.REQUIRED and not one.declares_namespace
            ]
            for full in used:
                prefix, colon, _ = full.partition(":")
                if colon and prefix not in bound:
                    unbound[name] = f"nothing binds the prefix of {full}"
        if not unbound:
            return found
        found |= unbound
