"""Compiler from content models to writers, one per element and number of levels left.

A *row* holds the writers of all elements for one number of levels left, by element number. Writers
refer to a row and a number instead of another writer. So each is compiled on first use, and a
recursive schema needs at most elements x levels of them. An element with levels to spare shares the
writer of the row in which its highest tree just fits.

Compilation drops optional parts and branches of a choice that need too many levels. Recursion
depends on the path, so writers check it (`usable_elements`). Branches are ordered by cost: with a
random function that is always 0, every writer writes its cheapest content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathcast.generators.documents import writers
from pathcast.generators.documents.expected_sizes import ExpectedSizes
from pathcast.generators.documents.options import DocumentOptions
from pathcast.generators.documents.repeats import exact_bodies
from pathcast.generators.documents.tags import TagPools
from pathcast.generators.documents.usable_elements import UNBOUNDED, UsableElements
from pathcast.generators.documents.writers import (
    GrowthPoint,
    OutputItems,
    RandomFunction,
    Writer,
    WriterRef,
)
from pathcast.schema import Child, Choice, Content, ContentKind, Occurs, Schema, names_of

__all__ = ["WriterTable"]

# Parts with at most this many expected elements are drawn at once. A document has some forty parts
# of that size.
_SMALL_PER_BYTE = 1 / 1600  # elements per byte of the requested size
_SMALL_WITHOUT_SIZE = 32.0


class WriterTable:
    """The writers of a schema's elements."""

    def __init__(
        self,
        schema: Schema,
        elements: UsableElements,
        tags: TagPools,
        texts: Sequence[str],
        options: DocumentOptions,
    ) -> None:
        self.schema = schema
        self.elements = elements
        self.tags = tags
        self.texts = texts
        self.options = options
        self.sizes = ExpectedSizes(
            elements.content, schema.roots, options.repetition, options.optional
        )
        self.small = (
            _SMALL_WITHOUT_SIZE
            if options.size is None
            else max(1.0, options.size * _SMALL_PER_BYTE)
        )
        self._rows: dict[int, list[Writer]] = {}

    def part(self, name: str, levels_left: int) -> WriterRef:
        """Return the writer of an element with this many levels left."""
        row = self._rows.get(levels_left)
        if row is None:
            row = self._rows[levels_left] = []
            row += [
                self._lazy_writer(row, element_name, levels_left)
                for element_name in self.elements.names
            ]
        return row, self.elements.number[name]

    def _lazy_writer(self, row: list[Writer], name: str, levels_left: int) -> Writer:
        """Return a writer that compiles its element on first call, and replaces itself."""

        def late(
            out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
        ) -> None:
            writer = self._element_writer(name, levels_left)
            row[self.elements.number[name]] = writer
            writer(out, random, points, path)

        return late

    def _element_writer(self, name: str, levels_left: int) -> Writer:
        max_height = self.elements.max_height[name]
        if levels_left > max_height:
            row, number = self.part(name, max_height)
            row[number] = self._element_writer(name, max_height)
            return row[number]
        opens, end = self.tags.start_tags(name), self.tags.end_tag(name)
        kind, content = self.schema.elements[name].kind, self.elements.content[name]
        step = self.elements.path_increment[name]
        if kind is ContentKind.EMPTY:
            return writers.empty_element(opens)
        # The enclosing element decides whether a part may be drawn at once.
        compiler = _ContentCompiler(self, levels_left - 1, name not in self.sizes.unrepeated)
        if not kind.allows_text:
            assert content is not None, f"{name} has children"
            return writers.parent_element(opens, compiler.parts(content), end, step)
        if not isinstance(content, Choice) or not compiler.fits(
            replace(content, occurs=Occurs.ONCE)
        ):
            return writers.text_element(opens, self.texts, end)
        if exact_bodies(replace(content, occurs=Occurs.ONCE), self.options.repeat):
            text_part: WriterRef = [writers.empty_element(self.texts)], 0  # before the children
            return writers.parent_element(opens, [text_part, *compiler.parts(content)], end, step)
        parts, masks = compiler.branches(content)
        branches = writers.MixedContent(parts, masks, self.texts)
        max_repeats, optional = self.options.repetition, self.options.optional
        if compiler.at_once and self.sizes.of_content(content, levels_left - 1) <= self.small:
            return writers.mixed_element_at_once(opens, branches, max_repeats, optional, end, step)
        return writers.mixed_element(opens, branches, max_repeats, end, step)


@dataclass(slots=True)
class _ContentCompiler:
    """Compiles the content of an element, for a number of levels left.

    `at_once`: small parts may be drawn at once.
    """

    table: WriterTable
    levels_left: int
    at_once: bool

    def parts(self, content: Content) -> list[WriterRef]:
        """Compile a model to a sequence of parts."""
        if content.occurs is not Occurs.ONCE:
            body = replace(content, occurs=Occurs.ONCE)
            return [self._repeated_part(content, body)] if self.fits(body) else []
        if isinstance(content, Child):
            return [self.table.part(content.name, self.levels_left)]
        if isinstance(content, Choice):
            return [([writers.choice(*self.branches(content))], 0)]
        return [inner for part in content.parts for inner in self.parts(part)]

    def _single_part(self, content: Content) -> WriterRef:
        """Compile a model to one part."""
        parts = self.parts(content)
        return parts[0] if len(parts) == 1 else ([writers.sequence(parts)], 0)

    def fits(self, content: Content) -> bool:
        """Return whether the model fits into the levels left."""
        return self.table.elements.min_height_of(content) <= self.levels_left

    def branches(self, content: Choice) -> tuple[list[WriterRef], list[int]]:
        """Return the branches that fit, cheapest first, with their recursion masks."""
        elements = self.table.elements
        branches = sorted(filter(self.fits, content.parts), key=elements.cost_of)
        masks = [elements.mask_of(branch) for branch in branches]
        parts = [self._single_part(branch) for branch in branches]
        return parts, masks

    def _repeated_part(self, content: Content, body: Content) -> WriterRef:
        """Compile a part with ?, * or + whose body fits."""
        may_be_absent, may_repeat = content.occurs.may_be_absent, content.occurs.may_repeat
        repeats = exact_bodies(body, self.table.options.repeat) if may_repeat else None
        if repeats is None:
            return self._repetition(body, may_repeat, may_be_absent)
        mask_of = self.table.elements.mask_of
        bodies = [
            (count, self._single_part(repetition), mask_of(repetition))
            for count, repetition in repeats.bodies
            if self.fits(repetition)
        ]
        others = None
        if repeats.others is not None and self.fits(repeats.others):
            others = self._repetition(
                repeats.others, True, may_be_absent or any(count for count, _, _ in bodies)
            )
        return [
            writers.exact_repeats(
                bodies, others, None if may_be_absent else self._single_part(body)
            )
        ], 0

    def _repetition(self, body: Content, may_repeat: bool, may_be_absent: bool) -> WriterRef:
        table = self.table
        part = self._single_part(body)
        max_repeats = table.options.repetition if may_repeat else 0
        # A choice tests the masks of its branches itself.
        mask = 0 if isinstance(body, Choice) else table.elements.mask_of(body)
        # A recursive part becomes a growth point, so that documents grow deep, not only wide.
        finite = all(table.elements.max_height.get(name, 0) < UNBOUNDED for name in names_of(body))
        if (
            finite
            and self.at_once
            and table.sizes.of_content(body, self.levels_left) <= table.small
        ):
            return [
                writers.repeat_at_once(
                    part, max_repeats, may_be_absent, mask, table.options.optional
                )
            ], 0
        return [writers.growth_slot(part, max_repeats, may_be_absent, mask)], 0
