"""Start tags with their attributes, and the identifiers in them.

Drawing every attribute of every element anew would be most of the work of making a document, so each element has a
pool of 256 start tags (one, if nothing in it varies), and documents draw from that. A pool is made when its element
first comes up, and is the same for all documents of a seed. It is *stratified*: an attribute is in just its share of
the tags, and its values are spread evenly over the value domain; the attributes of a tag are independent of one
another. The first tag of a pool is the bare one, with the required attributes only.

Required attributes are always there, and xmlns too, so that prefixes are bound, and IDs, if anything must refer to
one; the others with the optional probability. A fixed attribute has its value; one with a default has that half the
time; lists have one value or two.
Left out are external entities, attributes with a prefix that is not surely bound, and fixed values with an & < or >
(libxml2 compares them in their escaped form, and finds them wrong).

Identifiers depend on the whole document, so tags have holes: `i` and a control character that no document can hold.
Once the document is there, `settle` numbers the ID holes and gives every IDREF hole one of the numbers, of an
element before it or after. Where a document has no ID, optional references are left out, and required ones make
`settle` give up. What is left out makes the document smaller than it was measured, so whoever wants a size can have
tags that never have an optional reference.

Strings are *octets*: UTF-8 with one character for each byte, so that the length of a string is its size.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT a EMPTY><!ATTLIST a b CDATA #REQUIRED c (x | y) #IMPLIED>")
>>> tags = Tags(schema, ValueDomain(), 0.5, 1, {"a": frozenset()})
>>> tags.opens("a")[0], len(tags.opens("a"))
('<a b="1"/>', 256)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pathcast.generators.values import ValueDomain
from pathcast.rng import SeededRandom
from pathcast.schema import Attribute, AttributeType, ContentKind, Default, Schema

__all__ = ["Tags", "octets", "texts"]

_DRAWN = 255  # tags of a pool, beside the bare one
_ORDERS = 31  # different orders of a pool, so that the attributes of a tag are independent
_PHRASES = 4096  # how many texts of several values there are to draw from
_ID = "\x01"
_REF = "\x02"  # of an optional attribute
_MUST = "\x03"  # of a required one
_LONELY = re.compile(f' [^ ="]+="i{_REF}(?: i{_REF})*"')
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
_NO_TOKEN = re.compile(r"[^A-Za-z0-9._-]")
_FREE = (AttributeType.CDATA, AttributeType.NMTOKEN, AttributeType.NMTOKENS)
_LISTS = (AttributeType.NMTOKENS, AttributeType.IDREFS)
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)
_ENTITIES = (AttributeType.ENTITY, AttributeType.ENTITIES)


def octets(text: str) -> str:
    """Escaped, and as its UTF-8 bytes, one character for each."""
    return text.translate(_ESCAPES).encode().decode("latin-1")


def texts(values: ValueDomain, seed: int) -> Sequence[str]:
    """Escaped texts to draw from, all alike."""
    table = [octets(value) for value in values.table]
    if values.length == 1:
        return table
    rng = SeededRandom(seed, "texts")
    return [
        " ".join(rng.pick(table) for _ in range(rng.between(1, values.length)))
        for _ in range(_PHRASES)
    ]


class Tags:
    """The tags of a schema's elements; `bound` are the prefixes that are surely bound in each. `linked`: with optional references."""

    def __init__(
        self,
        schema: Schema,
        values: ValueDomain,
        optional: float,
        seed: int,
        bound: Mapping[str, frozenset[str]],
        *,
        linked: bool = True,
    ) -> None:
        self._schema = schema
        self._optional = optional
        self._seed = seed
        self._bound = bound
        self._table = [octets(value) for value in values.table]
        self._tokens = [_NO_TOKEN.sub("_", value) for value in values.table]
        self._pools: dict[str, list[str]] = {}
        self._orders: list[list[tuple[int, float]]] = []
        self._numbers: list[str] = []
        known = [one for name in bound for one in schema.elements[name].attributes]
        self._identified = any(one.type is AttributeType.ID for one in known)
        self._linked = linked and self._identified
        references = [one for one in known if one.type in _REFERENCES]
        self._referring = any(one.default is Default.REQUIRED for one in references)
        self._holes = self._identified or bool(references)

    def end(self, name: str) -> str:
        """The end tag; an EMPTY element has none."""
        return "" if self._schema.elements[name].kind is ContentKind.EMPTY else f"</{octets(name)}>"

    def bare(self, name: str) -> str:
        """The start tag with the required attributes only."""
        written = (one for one in self._attributes(name) if self._share(one) == 1.0)
        inside = "".join(f' {octets(one.name)}="{self._choices(one)[0]}"' for one in written)
        return f"<{octets(name)}{inside}{self._closing(name)}"

    def opens(self, name: str) -> list[str]:
        """Start tags to draw from, all alike; the first is the bare one."""
        pool = self._pools.get(name)
        if pool is None:
            pool = self._pools[name] = self._pool(name)
        return pool

    def settle(self, text: str, random: Callable[[], float]) -> str | None:
        """The document with its identifiers, or None if it has required references and no ID."""
        if not self._holes:
            return text
        pieces = text.split(_ID)
        count = len(pieces) - 1
        if not count:
            return None if _MUST in text else _LONELY.sub("", text)
        known = self._numbers
        known += [str(number) for number in range(len(known) + 1, count + 1)]
        text = _woven(pieces, known[:count])
        for hole in (_REF, _MUST):
            if hole in text:
                pieces = text.split(hole)
                text = _woven(pieces, [known[int(random() * count)] for _ in pieces[1:]])
        return text

    def _attributes(self, name: str) -> list[Attribute]:
        """Those that are written at all."""
        found = []
        for one in self._schema.elements[name].attributes:
            prefix, colon, _ = one.name.partition(":")
            free = one.declares_namespace or not colon or prefix in self._bound[name]
            fixed = one.value or "" if one.default is Default.FIXED else ""
            awkward = not (one.declares_namespace or _SPECIAL.isdisjoint(fixed))
            vain = one.type in _REFERENCES and bool(fixed or not self._linked)
            needed = one.default is Default.REQUIRED
            if needed or (free and not awkward and not vain and one.type not in _ENTITIES):
                found.append(one)
        return found

    def _share(self, one: Attribute) -> float:
        if one.default is Default.REQUIRED or one.declares_namespace:
            return 1.0
        return 1.0 if one.type is AttributeType.ID and self._referring else self._optional

    def _closing(self, name: str) -> str:
        return "/>" if self._schema.elements[name].kind is ContentKind.EMPTY else ">"

    def _choices(self, one: Attribute) -> Sequence[str]:
        """The values to spread over a pool, the simplest first."""
        if one.declares_namespace:
            return [octets(one.value or f"urn:x-{one.name.rpartition(':')[2]}")]
        if one.default is Default.FIXED and one.value is not None:
            return [octets(one.value)]
        match one.type:
            case AttributeType.ENUMERATION | AttributeType.NOTATION:
                return [octets(value) for value in one.values]
            case AttributeType.ID:
                return [f"i{_ID}"]
            case AttributeType.IDREF | AttributeType.IDREFS:
                hole = f"i{_MUST if one.default is Default.REQUIRED else _REF}"
                return [hole]
            case AttributeType.CDATA:
                return self._table
            case _:
                return self._tokens

    def _pool(self, name: str) -> list[str]:
        bare = self.bare(name)
        if not self._orders:
            random = SeededRandom(self._seed, "orders").random
            self._orders += [_order(random) for _ in range(_ORDERS)]
        columns = []
        varies = False
        rng = SeededRandom(self._seed, "attributes", name)
        first = rng.below(_ORDERS)
        for turn, one in enumerate(self._attributes(name), first):
            present = round(self._share(one) * _DRAWN)
            column = self._column(one, self._orders[turn % _ORDERS][:present])
            shift = rng.below(_DRAWN)
            columns.append(column[shift:] + column[:shift])
            varies = varies or 0 < present < _DRAWN or len(self._choices(one)) > 1
        if not varies:
            return [bare]
        begin, closing = f"<{octets(name)}", self._closing(name)
        return [bare, *(f"{begin}{''.join(row)}{closing}" for row in zip(*columns, strict=True))]

    def _column(self, one: Attribute, order: list[tuple[int, float]]) -> list[str]:
        """An attribute as it is in each tag of a pool, the empty string where it is not."""
        column = [""] * _DRAWN
        choices = self._choices(one)
        begin = f' {octets(one.name)}="'
        default = octets(one.value) if one.type in _FREE and one.value is not None else None
        if len(choices) == 1 and default is None and one.type not in _LISTS:
            only = f'{begin}{choices[0]}"'
            for place, _ in order:
                column[place] = only
            return column
        scale = len(choices) / max(len(order), 1)
        for line, (place, point) in enumerate(order):
            value = choices[int(point * scale)]
            if line & 1:
                if default is not None:
                    value = default
                elif one.type in _LISTS:
                    value = f"{value} {choices[-1 - int(point * scale)]}"
            column[place] = f'{begin}{value}"'
        return column


def _order(random: Callable[[], float]) -> list[tuple[int, float]]:
    """The places of a pool in random order, each with a random point of its stratum."""
    keys = [random() for _ in range(_DRAWN)]
    order = sorted(range(_DRAWN), key=keys.__getitem__)
    return [(place, stratum + random()) for stratum, place in enumerate(order)]


def _woven(pieces: list[str], between: list[str]) -> str:
    """The pieces with one string between each and the next."""
    found = [""] * (2 * len(pieces) - 1)
    found[::2] = pieces
    found[1::2] = between
    return "".join(found)
