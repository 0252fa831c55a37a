"""Pools of start tags with attributes; assignment of IDs and references.

Drawing every attribute of every element would dominate the cost of a document. So each element has
a pool of 256 start tags (one, if nothing varies), and documents draw from it. A pool is made on
first use and is the same for all documents of a seed. It is *stratified*: an attribute occurs in
exactly its share of the tags, its values are spread evenly over the domain, and the attributes of a
tag are independent. The first tag of a pool is minimal.

Required attributes are always written, and so are xmlns attributes (they bind prefixes) and IDs if
a reference is required. Other attributes have the optional probability. A fixed attribute has its
value; one with a default has it half the time; a list has one or two values. Omitted are external
entities, attributes with a prefix that may be unbound, and fixed values with &, < or > (libxml2
compares them in escaped form and rejects them).

IDs depend on the complete document, so tags contain placeholders: `i` and a control character that
XML forbids. `assign_ids` numbers the ID placeholders and gives each IDREF placeholder one of the
numbers, of an earlier or a later element. In a document without IDs, it removes optional
references, and returns None if a reference is required. The removal makes the document smaller than
measured. For an exact size, use tags without optional references.

Strings are *octets*: UTF-8 with one character per byte, so the length of a string is its size.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT a EMPTY><!ATTLIST a b CDATA #REQUIRED c (x | y) #IMPLIED>")
>>> tags = TagPools(schema, ValueDomain(), 0.5, 1, {"a": frozenset()})
>>> tags.start_tags("a")[0], len(tags.start_tags("a"))
('<a b="1"/>', 256)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pathcast.generators.values import ValueDomain
from pathcast.rng import SeededRandom
from pathcast.schema import Attribute, AttributeType, ContentKind, Default, Schema

__all__ = ["TagPools", "text_table", "to_octets"]

_POOL_SIZE = 255  # tags of a pool, beside the minimal one
_ORDER_COUNT = 31  # permutations, so that the attributes of a tag are independent
_PHRASE_COUNT = 4096  # texts of several values to draw from
_ID = "\x01"
_OPTIONAL_REF = "\x02"  # in an optional attribute
_REQUIRED_REF = "\x03"  # in a required attribute
_OPTIONAL_REF_ATTRIBUTE = re.compile(f' [^ ="]+="i{_OPTIONAL_REF}(?: i{_OPTIONAL_REF})*"')
_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\t": "&#9;",
        "\n": "&#10;",
        "\r": "&#13;",
    }
)
_SPECIAL = frozenset("&<>\t\n\r")
_NON_TOKEN = re.compile(r"[^A-Za-z0-9._-]")
_FREE = (AttributeType.CDATA, AttributeType.NMTOKEN, AttributeType.NMTOKENS)
_LISTS = (AttributeType.NMTOKENS, AttributeType.IDREFS)
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)
_ENTITIES = (AttributeType.ENTITY, AttributeType.ENTITIES)


def to_octets(text: str) -> str:
    """Escape a text and return its UTF-8 bytes, one character for each."""
    return text.translate(_ESCAPES).encode().decode("latin-1")


def text_table(values: ValueDomain, seed: int) -> Sequence[str]:
    """Return escaped texts to draw from, uniformly."""
    table = [to_octets(value) for value in values.table]
    if values.length == 1:
        return table
    rng = SeededRandom(seed, "texts")
    return [
        " ".join(rng.pick(table) for _ in range(rng.between(1, values.length)))
        for _ in range(_PHRASE_COUNT)
    ]


class TagPools:
    """Start and end tags of a schema's elements.

    `bound` has the prefixes that are certain to be bound in each element.
    """

    def __init__(
        self,
        schema: Schema,
        values: ValueDomain,
        optional: float,
        seed: int,
        bound: Mapping[str, frozenset[str]],
        *,
        optional_references: bool = True,
    ) -> None:
        self._schema = schema
        self._optional = optional
        self._seed = seed
        self._bound = bound
        self._table = [to_octets(value) for value in values.table]
        self._tokens = [_NON_TOKEN.sub("_", value) for value in values.table]
        self._pools: dict[str, list[str]] = {}
        self._orders: list[list[tuple[int, float]]] = []
        self._numbers: list[str] = []
        attributes = [attribute for name in bound for attribute in schema.elements[name].attributes]
        self._has_ids = any(attribute.type is AttributeType.ID for attribute in attributes)
        self._write_references = optional_references and self._has_ids
        references = [attribute for attribute in attributes if attribute.type in _REFERENCES]
        self._has_required_references = any(
            attribute.default is Default.REQUIRED for attribute in references
        )
        self._has_placeholders = self._has_ids or bool(references)

    def end_tag(self, name: str) -> str:
        """Return the end tag; an EMPTY element has none."""
        return (
            "" if self._schema.elements[name].kind is ContentKind.EMPTY else f"</{to_octets(name)}>"
        )

    def minimal_start_tag(self, name: str) -> str:
        """Return the start tag with the required attributes only."""
        written = (
            attribute for attribute in self._attributes(name) if self._share(attribute) == 1.0
        )
        inside = "".join(
            f' {to_octets(attribute.name)}="{self._choices(attribute)[0]}"' for attribute in written
        )
        return f"<{to_octets(name)}{inside}{self._closing(name)}"

    def start_tags(self, name: str) -> list[str]:
        """Return the pool of start tags, to draw from uniformly; the first is minimal."""
        pool = self._pools.get(name)
        if pool is None:
            pool = self._pools[name] = self._pool(name)
        return pool

    def assign_ids(self, text: str, random: Callable[[], float]) -> str | None:
        """Return the document with its IDs, or None if it has required references and no ID."""
        if not self._has_placeholders:
            return text
        pieces = text.split(_ID)
        count = len(pieces) - 1
        if not count:
            return None if _REQUIRED_REF in text else _OPTIONAL_REF_ATTRIBUTE.sub("", text)
        numbers = self._numbers
        numbers += [str(number) for number in range(len(numbers) + 1, count + 1)]
        text = _interleave(pieces, numbers[:count])
        for placeholder in (_OPTIONAL_REF, _REQUIRED_REF):
            if placeholder in text:
                pieces = text.split(placeholder)
                text = _interleave(pieces, [numbers[int(random() * count)] for _ in pieces[1:]])
        return text

    def _attributes(self, name: str) -> list[Attribute]:
        """Return the attributes that may be written."""
        attributes = []
        for attribute in self._schema.elements[name].attributes:
            prefix, colon, _ = attribute.name.partition(":")
            free = attribute.declares_namespace or not colon or prefix in self._bound[name]
            fixed = attribute.value or "" if attribute.default is Default.FIXED else ""
            awkward = not (attribute.declares_namespace or _SPECIAL.isdisjoint(fixed))
            dangling = attribute.type in _REFERENCES and bool(fixed or not self._write_references)
            required = attribute.default is Default.REQUIRED
            if required or (
                free and not awkward and not dangling and attribute.type not in _ENTITIES
            ):
                attributes.append(attribute)
        return attributes

    def _share(self, attribute: Attribute) -> float:
        if attribute.default is Default.REQUIRED or attribute.declares_namespace:
            return 1.0
        return (
            1.0
            if attribute.type is AttributeType.ID and self._has_required_references
            else self._optional
        )

    def _closing(self, name: str) -> str:
        return "/>" if self._schema.elements[name].kind is ContentKind.EMPTY else ">"

    def _choices(self, attribute: Attribute) -> Sequence[str]:
        """Return the values to spread over a pool, the simplest first."""
        if attribute.declares_namespace:
            return [to_octets(attribute.value or f"urn:x-{attribute.name.rpartition(':')[2]}")]
        if attribute.default is Default.FIXED and attribute.value is not None:
            return [to_octets(attribute.value)]
        match attribute.type:
            case AttributeType.ENUMERATION | AttributeType.NOTATION:
                return [to_octets(value) for value in attribute.values]
            case AttributeType.ID:
                return [f"i{_ID}"]
            case AttributeType.IDREF | AttributeType.IDREFS:
                placeholder = (
                    f"i{_REQUIRED_REF if attribute.default is Default.REQUIRED else _OPTIONAL_REF}"
                )
                return [placeholder]
            case AttributeType.CDATA:
                return self._table
            case _:
                return self._tokens

    def _pool(self, name: str) -> list[str]:
        bare = self.minimal_start_tag(name)
        if not self._orders:
            random = SeededRandom(self._seed, "orders").random
            self._orders += [_order(random) for _ in range(_ORDER_COUNT)]
        columns = []
        varies = False
        rng = SeededRandom(self._seed, "attributes", name)
        first = rng.below(_ORDER_COUNT)
        for turn, attribute in enumerate(self._attributes(name), first):
            present_count = round(self._share(attribute) * _POOL_SIZE)
            column = self._column(attribute, self._orders[turn % _ORDER_COUNT][:present_count])
            shift = rng.below(_POOL_SIZE)
            columns.append(column[shift:] + column[:shift])
            varies = varies or 0 < present_count < _POOL_SIZE or len(self._choices(attribute)) > 1
        if not varies:
            return [bare]
        begin, closing = f"<{to_octets(name)}", self._closing(name)
        return [bare, *(f"{begin}{''.join(row)}{closing}" for row in zip(*columns, strict=True))]

    def _column(self, attribute: Attribute, order: list[tuple[int, float]]) -> list[str]:
        """Return the attribute as written in each tag of a pool, "" where it is absent."""
        column = [""] * _POOL_SIZE
        choices = self._choices(attribute)
        begin = f' {to_octets(attribute.name)}="'
        default = (
            to_octets(attribute.value)
            if attribute.type in _FREE and attribute.value is not None
            else None
        )
        if len(choices) == 1 and default is None and attribute.type not in _LISTS:
            single = f'{begin}{choices[0]}"'
            for position, _ in order:
                column[position] = single
            return column
        scale = len(choices) / max(len(order), 1)
        for line, (position, point) in enumerate(order):
            value = choices[int(point * scale)]
            if line & 1:
                if default is not None:
                    value = default
                elif attribute.type in _LISTS:
                    value = f"{value} {choices[-1 - int(point * scale)]}"
            column[position] = f'{begin}{value}"'
        return column


def _order(random: Callable[[], float]) -> list[tuple[int, float]]:
    """Return the positions of a pool in random order, each with a random point of its stratum."""
    keys = [random() for _ in range(_POOL_SIZE)]
    order = sorted(range(_POOL_SIZE), key=keys.__getitem__)
    return [(position, stratum + random()) for stratum, position in enumerate(order)]


def _interleave(pieces: list[str], between: list[str]) -> str:
    """Join the pieces with one of the strings between each and the next."""
    strings = [""] * (2 * len(pieces) - 1)
    strings[::2] = pieces
    strings[1::2] = between
    return "".join(strings)
