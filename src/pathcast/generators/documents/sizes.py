"""Which parts of a content model are drawn as soon as they come up, and which wait for their turn.

Waiting costs a visit, and pays where much depends on it: a part that can become big, or one that stands where nothing
around it repeats, so that a document could not grow without it. A small part below something that repeats is as well
drawn at once: there will be more of its kind.

>>> from pathcast.schema import parse_dtd
>>> schema = parse_dtd("<!ELEMENT list (name?, item*)><!ELEMENT name EMPTY><!ELEMENT item (name*, item?)>")
>>> contents = {name: element.content for name, element in schema.elements.items()}
>>> sizes = Sizes(contents, schema.roots, 3, 0.5)
>>> sorted(sizes.alone), sizes.expected("item", 2)
(['list', 'name'], 2.5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pathcast.schema import Child, Choice, Content

__all__ = ["Sizes"]

_ENDLESS = float("inf")
_LOW = 24  # levels; more are never small, and would be work to find out


class Sizes:
    """`alone`: the elements that may stand where nothing repeats."""

    def __init__(
        self,
        contents: Mapping[str, Content | None],
        roots: Sequence[str],
        repetition: int,
        optional: float,
    ) -> None:
        self.alone = _alone(contents, roots)
        self._contents = contents
        self._several = (1 + repetition) / 2
        self._optional = optional
        self._known: dict[tuple[str, int], float] = {}

    def expected(self, name: str, room: int) -> float:
        """How many elements a tree of this one has on the average, where so many levels are left."""
        if room > _LOW:
            return _ENDLESS
        if room <= 0 or name not in self._contents:
            return 0.0
        found = self._known.get((name, room))
        if found is None:
            content = self._contents[name]
            found = 1.0 + (0.0 if content is None else self.of(content, room - 1))
            self._known[name, room] = found
        return found

    def grows(self, name: str) -> bool:
        """Whether anything repeats in an element, at any depth."""
        known = {name}
        waiting = [self._contents[name]]
        while waiting:
            part = waiting.pop()
            if part is None:
                continue
            if part.occurs.may_repeat:
                return True
            if not isinstance(part, Child):
                waiting += part.parts
            elif part.name in self._contents and part.name not in known:
                known.add(part.name)
                waiting.append(self._contents[part.name])
        return False

    def of(self, content: Content, room: int) -> float:
        """How many elements to expect of a content model."""
        if isinstance(content, Child):
            once = self.expected(content.name, room)
        else:
            parts = [self.of(part, room) for part in content.parts]
            once = sum(parts)
            if isinstance(content, Choice):
                once /= len(parts)
        if content.occurs.may_repeat:
            once *= self._several
        return once * self._optional if content.occurs.may_be_absent and self._optional else once


def _alone(contents: Mapping[str, Content | None], roots: Sequence[str]) -> set[str]:
    found = {root for root in roots if root in contents}
    waiting = list(found)
    while waiting:
        parts = [contents[waiting.pop()]]
        while parts:
            part = parts.pop()
            if part is None or part.occurs.may_repeat:
                continue
            if not isinstance(part, Child):
                parts += part.parts
            elif part.name in contents and part.name not in found:
                found.add(part.name)
                waiting.append(part.name)
    return found
