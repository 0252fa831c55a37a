"""Expected sizes: which parts are drawn at once, and which become growth points.

A growth point costs a visit. It pays for a part that can become big, and for a part with no
repeatable part around it, without which a document could not grow. A small part inside a repeatable
one is drawn at once: there will be more of its kind.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd(
...     "<!ELEMENT list (name?, item*)><!ELEMENT name EMPTY><!ELEMENT item (name*, item?)>"
... )
>>> contents = {name: element.content for name, element in schema.elements.items()}
>>> sizes = ExpectedSizes(contents, schema.roots, 3, 0.5)
>>> sorted(sizes.unrepeated), sizes.expected_size("item", 2)
(['list', 'name'], 2.5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pathcast.schema import Child, Choice, Content

__all__ = ["ExpectedSizes"]

_UNLIMITED = float("inf")
_MAX_LEVELS = 24  # deeper trees count as unlimited


class ExpectedSizes:
    """Expected numbers of elements; `unrepeated` are the elements that may occur unrepeated."""

    def __init__(
        self,
        contents: Mapping[str, Content | None],
        roots: Sequence[str],
        repetition: int,
        optional: float,
    ) -> None:
        self.unrepeated = _unrepeated_elements(contents, roots)
        self._contents = contents
        self._mean_repeats = (1 + repetition) / 2
        self._optional = optional
        self._cache: dict[tuple[str, int], float] = {}

    def expected_size(self, name: str, levels_left: int) -> float:
        """Return the mean number of elements in a tree of this element with the levels left."""
        if levels_left > _MAX_LEVELS:
            return _UNLIMITED
        if levels_left <= 0 or name not in self._contents:
            return 0.0
        size = self._cache.get((name, levels_left))
        if size is None:
            content = self._contents[name]
            size = 1.0 + (0.0 if content is None else self.of_content(content, levels_left - 1))
            self._cache[name, levels_left] = size
        return size

    def can_grow(self, name: str) -> bool:
        """Return whether an element has a repeatable part at any depth."""
        visited = {name}
        waiting = [self._contents[name]]
        while waiting:
            part = waiting.pop()
            if part is None:
                continue
            if part.occurs.may_repeat:
                return True
            if not isinstance(part, Child):
                waiting += part.parts
            elif part.name in self._contents and part.name not in visited:
                visited.add(part.name)
                waiting.append(self._contents[part.name])
        return False

    def of_content(self, content: Content, levels_left: int) -> float:
        """Return the mean number of elements of a content model."""
        if isinstance(content, Child):
            once = self.expected_size(content.name, levels_left)
        else:
            parts = [self.of_content(part, levels_left) for part in content.parts]
            once = sum(parts)
            if isinstance(content, Choice):
                once /= len(parts)
        if content.occurs.may_repeat:
            once *= self._mean_repeats
        return once * self._optional if content.occurs.may_be_absent and self._optional else once


def _unrepeated_elements(contents: Mapping[str, Content | None], roots: Sequence[str]) -> set[str]:
    names = {root for root in roots if root in contents}
    waiting = list(names)
    while waiting:
        parts = [contents[waiting.pop()]]
        while parts:
            part = parts.pop()
            if part is None or part.occurs.may_repeat:
                continue
            if not isinstance(part, Child):
                parts += part.parts
            elif part.name in contents and part.name not in names:
                names.add(part.name)
                waiting.append(part.name)
    return names
