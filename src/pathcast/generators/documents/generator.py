"""Valid documents from a DTD, as many as wanted: the same seed gives the same bytes.

>>> from pathcast.generators.bundled import bundled_schema
>>> book = bundled_schema("book")
>>> first, second = documents(book, DocumentOptions(size=300), seed=1, count=2)
>>> book.faults(first), len(first)
([], 300)
>>> Documents(book, DocumentOptions(size=300), seed=1)[1] == second
True

A document is UTF-8 without an XML declaration, which UTF-8 does not need, and without a DOCTYPE, since nothing reads
the DTD from a document here. There is no white space between elements.

How it is made: `elements` says what can stand where at all, `plans` turns content models into
writers, a writer leaves slots where more could stand, and `growth` fills them. A document depends on the schema, the
options, the seed and its number, and on nothing that was made before it, so that the work can be shared or picked up
anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pathcast.documents.limits import Limits
from pathcast.errors import WorkloadError
from pathcast.generators.documents.elements import NEVER, Elements, scopes, unusable
from pathcast.generators.documents.growth import bloom, fill, flat, stretch, zero
from pathcast.generators.documents.options import DocumentOptions
from pathcast.generators.documents.plans import Plans
from pathcast.generators.documents.repeats import check_repeats
from pathcast.generators.documents.tags import Tags, texts
from pathcast.generators.documents.writers import Items, Part, Point, Random
from pathcast.rng import SeededRandom
from pathcast.schema import AttributeType, Default, Schema

__all__ = ["DocumentOptions", "Documents", "documents"]

_TRIES = 4  # documents begun anew because what was drawn could not grow
_SEARCHES = 50  # documents begun anew because references had nothing to refer to
_MOST = Limits().elements
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)


def documents(schema: Schema, options: DocumentOptions, seed: int, count: int) -> Iterator[bytes]:
    """So many documents, one by one; raises WorkloadError if the options cannot be met."""
    made = Documents(schema, options, seed)
    return (made[number] for number in range(count))


class Documents:
    """All documents of a seed, by number from 0; raises WorkloadError if the options cannot be met."""

    def __init__(
        self, schema: Schema, options: DocumentOptions | None = None, seed: int = 0
    ) -> None:
        self.schema = schema
        self.options = options or DocumentOptions()
        self.seed = seed
        unfit = unusable(schema)
        bound = scopes(schema, unfit)
        values = self.options.values
        self._bound = bound
        self._tags = Tags(schema, values, self.options.optional, seed, bound)
        self._texts = texts(values, seed)
        self._ends = {
            self._tags.end(name) for name in bound if schema.elements[name].kind.allows_text
        }
        self._source = self._begun(self._tags, bound)
        if not self._source.roots:
            raise _impossible(schema, self.options, self._source.elements, unfit)
        check_repeats(schema, self._source.elements.content.values(), self.options.repeat)
        self._unreferring: _Source | None = None
        self._unlinked: _Source | None = None
        if self.options.size is not None:
            self._check_size(self.options.size)

    def __getitem__(self, number: int) -> bytes:
        if number < 0:
            raise IndexError("documents are numbered from 0")
        random = SeededRandom(self.seed, "documents", number).random
        source = self._source
        for _ in range(_SEARCHES):
            text = "".join(self._strings(source, random))
            found = self._tags.settle(text, random)
            if found is None:
                source = self._without_references()
            elif self._shrunk(text, found):
                source = self._without_any_references()
            else:
                return self._checked(found)
        message = f"{self.schema.name}: required references (IDREF) found no ID to refer to"
        hint = "a bigger size, optional or max_depth, so that elements with an ID come in"
        raise WorkloadError("references", message, hint=hint)

    def _strings(self, source: _Source, random: Random) -> list[str]:
        optional, size = self.options.optional, self.options.size
        if size is None:
            items, points = source.begin(random)
            bloom(points, random, optional)
            return flat(items)
        nearest: tuple[int, Items] | None = None
        for _ in range(_TRIES):
            items, points = source.begin(random)
            missing = size - sum(map(len, items))
            if missing < 0:
                items, points = source.begin(zero)
                missing = size - sum(map(len, items))
            if missing > 0:
                missing = fill(points, random, optional, missing)
            if missing <= size // 10:
                return flat(items)
            if nearest is None or missing < nearest[0]:
                nearest = missing, items
        assert nearest is not None, "there is a first try"
        missing, items = nearest
        strings = flat(items)
        missing = stretch(strings, random, self._texts, self._ends, missing)
        if missing > size // 2:
            message = f"{self.schema.name}: no document grew to {size} bytes, the biggest has {size - missing}"
            hint = "a smaller size, or a bigger max_depth or recursion, so that more can repeat"
            raise WorkloadError("size", message, hint=hint)
        return strings

    def _shrunk(self, text: str, found: str) -> bool:
        """Whether a document is too small now that its references are left out."""
        size = self.options.size
        return size is not None and len(found) < len(text) and len(found) < size - size // 10

    def _begun(self, tags: Tags, names: Iterable[str]) -> _Source:
        return _Source(self.schema, self.options, tags, self._texts, names)

    def _without_references(self) -> _Source:
        """Documents in which nothing must refer to an ID, if there are any."""
        if self._unreferring is None:
            self._unreferring = self._begun(self._tags, self._free())
        return self._unreferring if self._unreferring.roots else self._source

    def _without_any_references(self) -> _Source:
        """Documents in which nothing refers to an ID; a document that shrunk was of their elements."""
        if self._unlinked is None:
            options = self.options
            bare = Tags(
                self.schema, options.values, options.optional, self.seed, self._bound, linked=False
            )
            self._unlinked = self._begun(bare, self._free())
        return self._unlinked

    def _free(self) -> list[str]:
        """The elements that need not refer to an ID."""
        return [
            name
            for name in self._source.elements.names
            if not any(
                one.type in _REFERENCES and one.default is Default.REQUIRED
                for one in self.schema.elements[name].attributes
            )
        ]

    def _checked(self, text: str) -> bytes:
        if len(text) > _MOST and text.count("<") - text.count("</") > _MOST:
            message = f"{self.schema.name}: a document has more than the {_MOST} elements that our parser takes"
            raise WorkloadError("limit", message, hint="a smaller size, repetition or repeat")
        return text.encode("latin-1")

    def _check_size(self, size: int) -> None:
        smallest = sum(map(len, self._source.begin(zero)[0]))
        if smallest > size:
            message = f"{self.schema.name}: the smallest document has {smallest} bytes, not {size}"
            raise WorkloadError("size", message, hint=f"a size of {smallest} or more")


class _Source:
    """Where documents begin: the roots that fit, and the writers of these elements."""

    def __init__(
        self,
        schema: Schema,
        options: DocumentOptions,
        tags: Tags,
        texts: Sequence[str],
        names: Iterable[str],
    ) -> None:
        shell = {name: len(tags.bare(name)) + len(tags.end(name)) for name in names}
        recursion = options.recursion and min(options.recursion, options.max_depth)
        self.elements = Elements(schema, recursion, shell)
        plans = Plans(schema, self.elements, tags, texts, options)
        height, cost = self.elements.height, self.elements.cost
        roots = [root for root in schema.roots if height.get(root, NEVER) <= options.max_depth]
        if options.size is not None:  # elements that nothing leads to may be leaves
            roots = [root for root in roots if plans.sizes.grows(root)] or roots
        roots.sort(key=lambda root: cost[root])
        self.roots: list[Part] = [plans.part(root, options.max_depth) for root in roots]

    def begin(self, random: Random) -> tuple[Items, list[Point]]:
        """A document at its smallest, and where it can grow."""
        items: Items = []
        points: list[Point] = []
        row, number = self.roots[int(random() * len(self.roots))]
        row[number](items, random, points, self.elements.start)
        return items, points


def _impossible(
    schema: Schema, options: DocumentOptions, elements: Elements, unfit: dict[str, str]
) -> WorkloadError:
    heights = [elements.height[root] for root in schema.roots if root in elements.height]
    if heights:
        lowest = min(heights)
        message = f"{schema.name}: no document has {options.max_depth} levels or fewer; the lowest has {lowest}"
        return WorkloadError("depth", message, hint=f"a max_depth of {lowest} or more")
    named = ", ".join(schema.roots) or "nothing"
    for name, reason in unfit.items():
        message = f"{schema.name}: no document can be made, {name} cannot be used: {reason}"
        hint = "such elements are left out where the content model allows it"
        return WorkloadError("unsupported", message, hint=hint)
    message = f"{schema.name}: no finite document has the root {named}"
    hint = "another root, or a DTD without endless recursion"
    if schema.undeclared_names:
        hint = f"nothing declares {', '.join(schema.undeclared_names[:5])}"
        if schema.missing:
            hint += f"; {', '.join(schema.missing[:5])} was not found: put it beside the DTD, or give a catalog"
    return WorkloadError("infinite", message, hint=hint)
