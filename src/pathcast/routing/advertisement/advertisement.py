"""An advertisement: the leaf paths of a publisher's documents, as one finite automaton.

A document lies within an advertisement if the automaton accepts every path from its root to an
element without child elements. States carry the labels (a Glushkov automaton): a run that is in a
state has just read an element with the state's label. The element graph of a DTD is such an
automaton, with one state per element, and so is the graph of the elements seen in samples. An
expression in the paper's notation has one state per name in it, so labels may repeat.

Invariants: the automaton is trim, which means that every state lies on a path from a root to a
leaf, and states are sorted by label. Two advertisements are equal if their automata are equal. For
automata of DTDs and samples that is equality of languages; for others, `covers` decides.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd(
...     "<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>"
...     "<!ELEMENT title (#PCDATA)>"
... )
>>> advertisement = Advertisement.of(book)
>>> print(advertisement.text)
/ book
book: section title
section: section title
title.
>>> advertisement.allows(b"<book><title/><section><title/></section></book>")
True
>>> advertisement.allows(b"<book/>")
False
>>> Advertisement.from_json(advertisement.to_json()) == advertisement
True

`ANYTHING` has one state, a wildcard with an edge to itself. It allows every document and overlaps
every pattern.
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

_MAX_STATES = 2_000  # in an advertisement from JSON


@dataclass(frozen=True, eq=False)
class Advertisement:
    """A trim automaton of leaf paths; sets of states are bit masks.

    Use `of`, `build`, `from_json`, `infer` or `parse_advertisement` to construct one.
    """

    labels: tuple[ElementLabel, ...]  # of each state
    below: tuple[int, ...]  # of each state, its successors
    roots: int  # the initial states
    leaves: int  # the accepting states

    @classmethod
    def of(cls, schema: Schema) -> Advertisement:
        """Return the advertisement of all documents that are valid under a schema."""
        automaton = PathAutomaton.of(schema)
        names = [name for name in automaton.transitions if name != START]
        states = {name: state for state, name in enumerate(names)}
        namespaces = DtdNamespaces(schema.elements.values())
        labels = []
        for name in names:
            prefix, _, local = name.rpartition(":")
            labels.append(ElementLabel(local, namespaces.namespaces_of(name), prefix))
        below = [mask(states[child] for child in automaton.transitions[name]) for name in names]
        roots = mask(states[root] for root in automaton.transitions[START])
        leaves = mask(states[leaf] for leaf in automaton.ends)
        return cls.build(labels, below, roots, leaves)

    @classmethod
    def build(
        cls, labels: Sequence[ElementLabel], below: Sequence[int], roots: int, leaves: int
    ) -> Advertisement:
        """Return the advertisement of any automaton: trim it and sort its states by label."""
        useful = closure(below, roots) & closure(transpose(below), leaves)
        order = sorted(bits(useful), key=lambda state: labels[state].order)
        new_number = {state: number for number, state in enumerate(order)}

        def renumber(states: int) -> int:
            return mask(new_number[state] for state in bits(states & useful))

        return cls(
            tuple(labels[state] for state in order),
            tuple(renumber(below[state]) for state in order),
            renumber(roots),
            renumber(leaves),
        )

    def allows(self, document: bytes | Document) -> bool:
        """Return whether the automaton accepts every leaf path of a document.

        Raise DocumentError for bytes that are not a document.
        """
        return self.nfa.allows(document)

    @cached_property
    def is_anything(self) -> bool:
        """Return whether this is `ANYTHING`."""
        return self.labels == (ANY,) and self.below == (1,) and self.roots == self.leaves == 1

    @cached_property
    def nfa(self) -> AdvertisementNfa:
        """The compiled automaton, built on first use and shared by equal advertisements."""
        from pathcast.routing.advertisement.nfa import nfa_of

        return nfa_of(self)

    @cached_property
    def text(self) -> str:
        """The canonical text: the roots, then one line per state.

        A line has the state's name, a full stop if it may be a leaf, and its successors.
        """
        names = self.names
        lines = ["/" + "".join(f" {names[state]}" for state in bits(self.roots))]
        for state, name in enumerate(names):
            leaf = "." if self.leaves >> state & 1 else ""
            below = "".join(f" {names[child]}" for child in bits(self.below[state]))
            lines.append(f"{name}{leaf}{':' if below else ''}{below}")
        return "\n".join(lines)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A unique name for each state; states that share a label are numbered."""
        uses: dict[str, int] = {}
        names = []
        for label in self.labels:
            name = label.exact
            uses[name] = uses.get(name, 0) + 1
            names.append(name if uses[name] == 1 else f"{name}#{uses[name]}")
        return tuple(names)

    def to_json(self) -> dict[str, object]:
        """Return the advertisement as a JSON value; sets of states are hexadecimal."""
        return {
            "labels": [label.to_json() for label in self.labels],
            "below": [f"{states:x}" for states in self.below],
            "roots": f"{self.roots:x}",
            "leaves": f"{self.leaves:x}",
        }

    @classmethod
    def from_json(cls, value: object) -> Advertisement:
        """Return the advertisement of a value from `to_json`; raise FormatError."""
        if not isinstance(value, Mapping):
            raise FormatError("advertisement", "an advertisement is a JSON object")
        labels, below = value.get("labels"), value.get("below")
        if not isinstance(labels, list) or not isinstance(below, list):
            raise FormatError("advertisement", "labels and below must be lists")
        if len(labels) != len(below) or len(labels) > _MAX_STATES:
            message = f"labels and below must be of one length, {_MAX_STATES:,} at most"
            raise FormatError("advertisement", message)
        *successors, roots, leaves = (
            _parse_states(states, len(labels))
            for states in (*below, value.get("roots"), value.get("leaves"))
        )
        return cls.build(
            [ElementLabel.from_json(label) for label in labels], successors, roots, leaves
        )

    @cached_property
    def digest(self) -> bytes:
        """The hash of the JSON form; equality compares it."""
        written = json.dumps(self.to_json(), separators=(",", ":"))
        return blake2b(written.encode(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Advertisement) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Advertisement of {len(self.labels)} states>"

    def __getstate__(self) -> dict[str, object]:
        """Pickle the fields only; the receiver derives the cached properties again."""
        fields = ("labels", "below", "roots", "leaves")
        return {field: getattr(self, field) for field in fields}


def _parse_states(value: object, count: int) -> int:
    if isinstance(value, str) and value.isascii() and value.isalnum():
        try:
            states = int(value, 16)
        except ValueError:
            states = -1
        if 0 <= states < 1 << count:
            return states
    raise FormatError("advertisement", f"no set of {count} states: {value!r:.60}")


ANYTHING: Final = Advertisement((ANY,), (1,), 1, 1)
