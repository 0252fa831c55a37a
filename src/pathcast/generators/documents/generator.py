"""Generator of valid documents: the same seed gives the same bytes.

A document is UTF-8 without an XML declaration, which UTF-8 does not need, and without a DOCTYPE,
since the DTD is not read from documents. There is no white space between elements.

`usable_elements` determines which element may stand where. `writer_table` compiles content models
to writers, which write a minimal document with slots, and `growth` fills the slots. A document
depends on the schema, the options, the seed and its number only, so the work can be split or
resumed anywhere.

>>> from pathcast.generators.bundled import bundled_schema
>>> book = bundled_schema("book")
>>> first, second = documents(book, DocumentOptions(size=300), seed=1, count=2)
>>> book.faults(first), len(first)
([], 300)
>>> Documents(book, DocumentOptions(size=300), seed=1)[1] == second
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pathcast.documents.limits import Limits
from pathcast.errors import WorkloadError
from pathcast.generators.documents.growth import (
    always_zero,
    flatten,
    grow_freely,
    grow_to_size,
    lengthen_texts,
)
from pathcast.generators.documents.options import DocumentOptions
from pathcast.generators.documents.repeats import check_repeats
from pathcast.generators.documents.tags import TagPools, text_table
from pathcast.generators.documents.usable_elements import (
    UNBOUNDED,
    UsableElements,
    bound_prefixes,
    unusable_elements,
)
from pathcast.generators.documents.writer_table import WriterTable
from pathcast.generators.documents.writers import (
    GrowthPoint,
    OutputItems,
    RandomFunction,
    WriterRef,
)
from pathcast.rng import SeededRandom
from pathcast.schema import AttributeType, Default, Schema

__all__ = ["DocumentOptions", "Documents", "documents"]

_MAX_GROWTH_ATTEMPTS = 4  # new starts if a document cannot grow
_MAX_REFERENCE_ATTEMPTS = 50  # new starts if references have no ID
_MAX_ELEMENTS = Limits().elements
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)


def documents(schema: Schema, options: DocumentOptions, seed: int, count: int) -> Iterator[bytes]:
    """Yield `count` documents; raises WorkloadError if the options cannot be met."""
    generator = Documents(schema, options, seed)
    return (generator[number] for number in range(count))


class Documents:
    """All documents of a seed, by number from 0; raises WorkloadError for impossible options."""

    def __init__(
        self, schema: Schema, options: DocumentOptions | None = None, seed: int = 0
    ) -> None:
        self.schema = schema
        self.options = options or DocumentOptions()
        self.seed = seed
        unusable = unusable_elements(schema)
        bound = bound_prefixes(schema, unusable)
        values = self.options.values
        self._bound = bound
        self._tags = TagPools(schema, values, self.options.optional, seed, bound)
        self._texts = text_table(values, seed)
        self._ends = {
            self._tags.end_tag(name) for name in bound if schema.elements[name].kind.allows_text
        }
        self._writers = self._writers_for(self._tags, bound)
        if not self._writers.roots:
            raise _impossible_error(schema, self.options, self._writers.elements, unusable)
        check_repeats(schema, self._writers.elements.content.values(), self.options.repeat)
        self._writers_without_required: _RootWriters | None = None
        self._writers_without_references: _RootWriters | None = None
        if self.options.size is not None:
            self._check_size(self.options.size)

    def __getitem__(self, number: int) -> bytes:
        if number < 0:
            raise IndexError("documents are numbered from 0")
        random = SeededRandom(self.seed, "documents", number).random
        source = self._writers
        for _ in range(_MAX_REFERENCE_ATTEMPTS):
            text = "".join(self._draw_strings(source, random))
            completed = self._tags.assign_ids(text, random)
            if completed is None:
                source = self._without_required_references()
            elif self._is_too_small(text, completed):
                source = self._without_references()
            else:
                return self._encode(completed)
        message = f"{self.schema.name}: required references (IDREF) found no ID to refer to"
        hint = "a bigger size, optional or max_depth, so that elements with an ID come in"
        raise WorkloadError("references", message, hint=hint)

    def _draw_strings(self, source: _RootWriters, random: RandomFunction) -> list[str]:
        optional, size = self.options.optional, self.options.size
        if size is None:
            items, points = source.begin(random)
            grow_freely(points, random, optional)
            return flatten(items)
        nearest: tuple[int, OutputItems] | None = None
        for _ in range(_MAX_GROWTH_ATTEMPTS):
            items, points = source.begin(random)
            missing = size - sum(map(len, items))
            if missing < 0:
                items, points = source.begin(always_zero)
                missing = size - sum(map(len, items))
            if missing > 0:
                missing = grow_to_size(points, random, optional, missing)
            if missing <= size // 10:
                return flatten(items)
            if nearest is None or missing < nearest[0]:
                nearest = missing, items
        assert nearest is not None, "there is a first try"
        missing, items = nearest
        strings = flatten(items)
        missing = lengthen_texts(strings, random, self._texts, self._ends, missing)
        if missing > size // 2:
            message = (
                f"{self.schema.name}: no document grew to {size} bytes, "
                f"the biggest has {size - missing}"
            )
            hint = "a smaller size, or a bigger max_depth or recursion, so that more can repeat"
            raise WorkloadError("size", message, hint=hint)
        return strings

    def _is_too_small(self, text: str, completed: str) -> bool:
        """Return whether removing its optional references made a document too small."""
        size = self.options.size
        return (
            size is not None and len(completed) < len(text) and len(completed) < size - size // 10
        )

    def _writers_for(self, tags: TagPools, names: Iterable[str]) -> _RootWriters:
        return _RootWriters(self.schema, self.options, tags, self._texts, names)

    def _without_required_references(self) -> _RootWriters:
        """Return writers of documents without required references, if there are any."""
        if self._writers_without_required is None:
            self._writers_without_required = self._writers_for(
                self._tags, self._elements_without_references()
            )
        return (
            self._writers_without_required
            if self._writers_without_required.roots
            else self._writers
        )

    def _without_references(self) -> _RootWriters:
        """Return writers of documents without references, for a document that became too small."""
        if self._writers_without_references is None:
            options = self.options
            bare = TagPools(
                self.schema,
                options.values,
                options.optional,
                self.seed,
                self._bound,
                optional_references=False,
            )
            self._writers_without_references = self._writers_for(
                bare, self._elements_without_references()
            )
        return self._writers_without_references

    def _elements_without_references(self) -> list[str]:
        """Return the elements without a required reference."""
        return [
            name
            for name in self._writers.elements.names
            if not any(
                attribute.type in _REFERENCES and attribute.default is Default.REQUIRED
                for attribute in self.schema.elements[name].attributes
            )
        ]

    def _encode(self, text: str) -> bytes:
        if len(text) > _MAX_ELEMENTS and text.count("<") - text.count("</") > _MAX_ELEMENTS:
            message = (
                f"{self.schema.name}: a document has more than the {_MAX_ELEMENTS} elements "
                f"that our parser takes"
            )
            raise WorkloadError("limit", message, hint="a smaller size, repetition or repeat")
        return text.encode("latin-1")

    def _check_size(self, size: int) -> None:
        smallest = sum(map(len, self._writers.begin(always_zero)[0]))
        if smallest > size:
            message = f"{self.schema.name}: the smallest document has {smallest} bytes, not {size}"
            raise WorkloadError("size", message, hint=f"a size of {smallest} or more")


class _RootWriters:
    """Writers of the possible roots, for a set of usable elements."""

    def __init__(
        self,
        schema: Schema,
        options: DocumentOptions,
        tags: TagPools,
        text_table: Sequence[str],
        names: Iterable[str],
    ) -> None:
        tag_sizes = {
            name: len(tags.minimal_start_tag(name)) + len(tags.end_tag(name)) for name in names
        }
        recursion = options.recursion and min(options.recursion, options.max_depth)
        self.elements = UsableElements(schema, recursion, tag_sizes)
        writers = WriterTable(schema, self.elements, tags, text_table, options)
        height, cost = self.elements.min_height, self.elements.cost
        roots = [root for root in schema.roots if height.get(root, UNBOUNDED) <= options.max_depth]
        if options.size is not None:  # a source element may be a leaf, which cannot grow
            roots = [root for root in roots if writers.sizes.can_grow(root)] or roots
        roots.sort(key=lambda root: cost[root])
        self.roots: list[WriterRef] = [writers.part(root, options.max_depth) for root in roots]

    def begin(self, random: RandomFunction) -> tuple[OutputItems, list[GrowthPoint]]:
        """Return a minimal document and its growth points."""
        items: OutputItems = []
        points: list[GrowthPoint] = []
        row, number = self.roots[int(random() * len(self.roots))]
        row[number](items, random, points, self.elements.path_start)
        return items, points


def _impossible_error(
    schema: Schema,
    options: DocumentOptions,
    elements: UsableElements,
    unusable: dict[str, str],
) -> WorkloadError:
    heights = [elements.min_height[root] for root in schema.roots if root in elements.min_height]
    if heights:
        lowest = min(heights)
        message = (
            f"{schema.name}: no document has {options.max_depth} levels or fewer; "
            f"the lowest has {lowest}"
        )
        return WorkloadError("depth", message, hint=f"a max_depth of {lowest} or more")
    named = ", ".join(schema.roots) or "nothing"
    for name, reason in unusable.items():
        message = f"{schema.name}: no document can be made, {name} cannot be used: {reason}"
        hint = "such elements are left out where the content model allows it"
        return WorkloadError("unsupported", message, hint=hint)
    message = f"{schema.name}: no finite document has the root {named}"
    hint = "another root, or a DTD without endless recursion"
    if schema.undeclared_names:
        hint = f"nothing declares {', '.join(schema.undeclared_names[:5])}"
        if schema.missing:
            hint += (
                f"; {', '.join(schema.missing[:5])} was not found: "
                f"put it beside the DTD, or give a catalog"
            )
    return WorkloadError("infinite", message, hint=hint)
