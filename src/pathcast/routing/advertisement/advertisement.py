"""What a publisher says it will send: the leaf paths of its documents, as one automaton.

A document lies within an advertisement if every path from its root to an element without child elements is a word of the automaton. States carry
the labels: whoever reaches a state has just read an element of its label. So an element graph is such an automaton as it stands (one
state for each element), and so is what was seen in sample documents; an expression in the paper's notation has a state for every place in
it, several perhaps with the same label.

Only states that lie on a way from a root to a leaf are kept, and they stand in the order of their labels. Two advertisements are
equal if their automata are: those of DTDs, and those inferred, are so exactly if they allow the same. Of other ones `covers` decides.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd("<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)><!ELEMENT title (#PCDATA)>")
>>> advertisement = Advertisement.of(book)
>>> print(advertisement.text)
/ book
book: section title
section: section title
title.
>>> advertisement.allows(b"<book><title/><section><title/></section></book>"), advertisement.allows(b"<book/>")
(True, False)
>>> Advertisement.from_json(advertisement.to_json()) == advertisement
True

ANYTHING has one state, a wildcard that leads to itself: it allows every document and overlaps every pattern.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from pathcast.documents import Document
from pathcast.errors import FormatError
from pathcast.routing.advertisement.bits import bits, closure, mask, transpose
from pathcast.routing.advertisement.labels import ANY, ElementLabel
from pathcast.schema import PathAutomaton, Schema
from pathcast.schema.paths import START
from pathcast.schema.satisfiability.namespaces import DtdNamespaces

if TYPE_CHECKING:
    from pathcast.routing.advertisement.nfa import AdvertisementNfa

__all__ = ["ANYTHING", "Advertisement"]

_MOST_STATES = 2_000  # that a message may bring


@dataclass(frozen=True, eq=False)
class Advertisement:
    """An automaton of leaf paths. `below[i]`, `roots` and `leaves` are sets of states as numbers, bit by bit.

    Made by `of`, `made`, `from_json`, `infer` or `parse_advertisement`.
    """

    labels: tuple[ElementLabel, ...]
    below: tuple[int, ...]
    roots: int
    leaves: int

    @classmethod
    def of(cls, schema: Schema) -> Advertisement:
        """The leaf paths of all valid documents."""
        automaton = PathAutomaton.of(schema)
        names = [name for name in automaton.transitions if name != START]
        number = {name: at for at, name in enumerate(names)}
        known = DtdNamespaces(schema.elements.values())
        labels = []
        for name in names:
            prefix, _, local = name.rpartition(":")
            labels.append(ElementLabel(local, known.namespaces_of(name), prefix))
        below = [mask(number[one] for one in automaton.transitions[name]) for name in names]
        roots = mask(number[one] for one in automaton.transitions[START])
        return cls.build(labels, below, roots, mask(number[one] for one in automaton.ends))

    @classmethod
    def build(
        cls, labels: Sequence[ElementLabel], below: Sequence[int], roots: int, leaves: int
    ) -> Advertisement:
        """The advertisement of an automaton: what leads nowhere is left out, the rest put in order."""
        kept = closure(below, roots) & closure(transpose(below), leaves)
        order = sorted(bits(kept), key=lambda state: labels[state].order)
        number = {state: at for at, state in enumerate(order)}

        def moved(states: int) -> int:
            return mask(number[state] for state in bits(states & kept))

        return cls(
            tuple(labels[state] for state in order),
            tuple(moved(below[state]) for state in order),
            moved(roots),
            moved(leaves),
        )

    def allows(self, document: bytes | Document) -> bool:
        """Whether all paths from the root to leaves are advertised; DocumentError for bytes that are no document."""
        return self.nfa.allows(document)

    @cached_property
    def is_anything(self) -> bool:
        """Whether it is ANYTHING."""
        return self.labels == (ANY,) and self.below == (1,) and self.roots == self.leaves == 1

    @cached_property
    def nfa(self) -> AdvertisementNfa:
        """What is derived from it, made when first asked for and shared by equal advertisements."""
        from pathcast.routing.advertisement.nfa import nfa_of

        return nfa_of(self)

    @cached_property
    def text(self) -> str:
        """The roots, then a line for each state: its name, a full stop if it may be a leaf, what may stand in it."""
        names = self.names
        lines = ["/" + "".join(f" {names[state]}" for state in bits(self.roots))]
        for state, name in enumerate(names):
            leaf = "." if self.leaves >> state & 1 else ""
            below = "".join(f" {names[one]}" for one in bits(self.below[state]))
            lines.append(f"{name}{leaf}{':' if below else ''}{below}")
        return "\n".join(lines)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each state; those of the same label are numbered."""
        seen: dict[str, int] = {}
        found = []
        for label in self.labels:
            name = label.exact
            seen[name] = seen.get(name, 0) + 1
            found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
        return tuple(found)

    def to_json(self) -> dict[str, object]:
        """The advertisement as values of JSON; sets of states are hexadecimal."""
        return {
            "labels": [label.to_json() for label in self.labels],
            "below": [f"{states:x}" for states in self.below],
            "roots": f"{self.roots:x}",
            "leaves": f"{self.leaves:x}",
        }

    @classmethod
    def from_json(cls, value: object) -> Advertisement:
        """What `to_json` gave, perhaps elsewhere; raises FormatError."""
        if not isinstance(value, Mapping):
            raise FormatError("advertisement", "an advertisement is a JSON object")
        labels, below = value.get("labels"), value.get("below")
        if not isinstance(labels, list) or not isinstance(below, list):
            raise FormatError("advertisement", "labels and below must be lists")
        if len(labels) != len(below) or len(labels) > _MOST_STATES:
            message = f"labels and below must be of one length, {_MOST_STATES:,} at most"
            raise FormatError("advertisement", message)
        sets = [
            _states(one, len(labels)) for one in (*below, value.get("roots"), value.get("leaves"))
        ]
        return cls.build(
            [ElementLabel.from_json(one) for one in labels], sets[:-2], sets[-2], sets[-1]
        )

    @cached_property
    def digest(self) -> bytes:
        """By this, advertisements are compared."""
        written = json.dumps(self.to_json(), separators=(",", ":"))
        return blake2b(written.encode(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Advertisement) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Advertisement of {len(self.labels)} states>"

    def __getstate__(self) -> dict[str, object]:
        """What is derived is made anew wherever it is sent."""
        fields = ("labels", "below", "roots", "leaves")
        return {field: getattr(self, field) for field in fields}


def _states(value: object, many: int) -> int:
    if isinstance(value, str) and value.isascii() and value.isalnum():
        try:
            found = int(value, 16)
        except ValueError:
            found = -1
        if 0 <= found < 1 << many:
            return found
    raise FormatError("advertisement", f"no set of {many} states: {value!r:.60}")


ANYTHING: Final = Advertisement((ANY,), (1,), 1, 1)
