"""Content models -> writers: one for each element and number of levels left, made when first needed.

A *row* has the writers of all elements for one number of levels left, by number. Writers hold a row and a number rather
than another writer, so that none is made before it is called for, and a recursive schema needs no more of them than it
has elements and levels. An element with room to spare shares the writer of the row in which its highest tree just fits.

What a model allows is cut to what the room allows when a writer is made: optional parts that are too high are
left out, branches of a choice too. Recursion depends on the path, so writers look at that (`elements`).
Branches are in order of cost: with a random function that is always 0, every writer writes the cheapest thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathcast.generators.documents import writers
from pathcast.generators.documents.elements import NEVER, Elements
from pathcast.generators.documents.options import DocumentOptions
from pathcast.generators.documents.repeats import exact_bodies
from pathcast.generators.documents.sizes import Sizes
from pathcast.generators.documents.tags import Tags
from pathcast.generators.documents.writers import Items, Part, Point, Random, Writer
from pathcast.schema import Child, Choice, Content, ContentKind, Occurs, Schema, names_of

__all__ = ["Plans"]

# Parts with so few elements are drawn at once: so few that a document has some forty such parts, or, without a size,
# whatever soon comes to an end.
_SMALL = 1 / 1600  # elements for each byte of the size
_FREE = 32.0


class Plans:
    """The writers of a schema's elements."""

    def __init__(
        self,
        schema: Schema,
        elements: Elements,
        tags: Tags,
        texts: Sequence[str],
        options: DocumentOptions,
    ) -> None:
        self.schema = schema
        self.elements = elements
        self.tags = tags
        self.texts = texts
        self.options = options
        self.sizes = Sizes(elements.content, schema.roots, options.repetition, options.optional)
        self.small = _FREE if options.size is None else max(1.0, options.size * _SMALL)
        self._rows: dict[int, list[Writer]] = {}

    def part(self, name: str, room: int) -> Part:
        """An element, where so many levels are left."""
        row = self._rows.get(room)
        if row is None:
            row = self._rows[room] = []
            row += [self._late(row, one, room) for one in self.elements.names]
        return row, self.elements.number[name]

    def _late(self, row: list[Writer], name: str, room: int) -> Writer:
        """Makes the writer when it is first called, and gives its own place in the row to it."""

        def late(out: Items, random: Random, points: list[Point], path: int) -> None:
            writer = self._element(name, room)
            row[self.elements.number[name]] = writer
            writer(out, random, points, path)

        return late

    def _element(self, name: str, room: int) -> Writer:
        tallest = self.elements.tallest[name]
        if room > tallest:
            row, number = self.part(name, tallest)
            row[number] = self._element(name, tallest)
            return row[number]
        opens, end = self.tags.opens(name), self.tags.end(name)
        kind, content = self.schema.elements[name].kind, self.elements.content[name]
        step = self.elements.step[name]
        if kind is ContentKind.EMPTY:
            return writers.empty(opens)
        # Whether a part may be drawn at once depends on the element that it stands in.
        inside = _Inside(self, room - 1, name not in self.sizes.alone)
        if not kind.allows_text:
            assert content is not None, f"{name} has children"
            return writers.parent(opens, inside.parts(content), end, step)
        if not isinstance(content, Choice) or not inside.fits(replace(content, occurs=Occurs.ONCE)):
            return writers.leaf(opens, self.texts, end)
        if exact_bodies(replace(content, occurs=Occurs.ONCE), self.options.repeat):
            said: Part = [writers.empty(self.texts)], 0  # the text in front of the children
            return writers.parent(opens, [said, *inside.parts(content)], end, step)
        parts, needs = inside.branches(content)
        branches = writers.Branches(parts, needs, self.texts)
        most, optional = self.options.repetition, self.options.optional
        if inside.at_once and self.sizes.of(content, room - 1) <= self.small:
            return writers.blended(opens, branches, most, optional, end, step)
        return writers.mixed(opens, branches, most, end, step)


@dataclass(slots=True)
class _Inside:
    """The inside of an element: levels left, and may small parts be drawn at once."""

    plans: Plans
    room: int
    at_once: bool

    def parts(self, content: Content) -> list[Part]:
        """A model as parts to be written one after the other."""
        if content.occurs is not Occurs.ONCE:
            body = replace(content, occurs=Occurs.ONCE)
            return [self._repeated(content, body)] if self.fits(body) else []
        if isinstance(content, Child):
            return [self.plans.part(content.name, self.room)]
        if isinstance(content, Choice):
            return [([writers.choice(*self.branches(content))], 0)]
        return [found for part in content.parts for found in self.parts(part)]

    def _one(self, content: Content) -> Part:
        """A model as one part."""
        parts = self.parts(content)
        return parts[0] if len(parts) == 1 else ([writers.sequence(parts)], 0)

    def fits(self, content: Content) -> bool:
        """Whether there is room for it."""
        return self.plans.elements.height_of(content) <= self.room

    def branches(self, content: Choice) -> tuple[list[Part], list[int]]:
        """The branches that fit, the cheapest first, and what they need."""
        elements = self.plans.elements
        branches = sorted(filter(self.fits, content.parts), key=elements.cost_of)
        needs = [elements.need_of(one) for one in branches]
        parts = [self._one(one) for one in branches]
        return parts, needs

    def _repeated(self, content: Content, body: Content) -> Part:
        """A part with ?, * or +, whose body fits."""
        may_be_absent, may_repeat = content.occurs.may_be_absent, content.occurs.may_repeat
        repeats = exact_bodies(body, self.plans.options.repeat) if may_repeat else None
        if repeats is None:
            return self._slot(body, may_repeat, may_be_absent)
        need_of = self.plans.elements.need_of
        bodies = [
            (many, self._one(one), need_of(one)) for many, one in repeats.bodies if self.fits(one)
        ]
        rest = None
        if repeats.rest is not None and self.fits(repeats.rest):
            rest = self._slot(
                repeats.rest, True, may_be_absent or any(many for many, _, _ in bodies)
            )
        return [writers.exact(bodies, rest, None if may_be_absent else self._one(body))], 0

    def _slot(self, body: Content, may_repeat: bool, may_be_absent: bool) -> Part:
        plans = self.plans
        part = self._one(body)
        most = plans.options.repetition if may_repeat else 0
        # A choice looks for an open branch itself, and its lowest filling is only one of them.
        need = 0 if isinstance(body, Choice) else plans.elements.need_of(body)
        # What is recursive waits: a document should be able to grow deep rather than wide.
        ends = all(plans.elements.tallest.get(name, 0) < NEVER for name in names_of(body))
        if ends and self.at_once and plans.sizes.of(body, self.room) <= plans.small:
            return [writers.drawn(part, most, may_be_absent, need, plans.options.optional)], 0
        return [writers.repeated(part, most, may_be_absent, need)], 0
