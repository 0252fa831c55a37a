"""Exactly so many of an element, wherever a content model lets it repeat.

A part lets an element repeat if the part has * or + and the element stands in it not inside another such part:
`book*`, `(title, book)*`, `(article | book)+`, or beside text. With `repeat={"book": 300}`, such a part is repeated so
that 300 of its repetitions have one book, and any others have none. Both are models that follow from that of the part:

>>> from pathcast.schema import Child, Choice, Occurs, Sequence
>>> body = Sequence((Child("title"), Choice((Child("article"), Child("book")))))
>>> repeats = exact_bodies(body, {"book": 300})
>>> [(many, str(model)) for many, model in repeats.bodies], str(repeats.rest)
([(300, '(title, book)')], '(title, (article))')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pathcast.errors import WorkloadError
from pathcast.schema import Child, Choice, Content, Occurs, Schema, Sequence, names_of
from pathcast.schema.similar_names import similar_names

__all__ = ["Repeats", "check_repeats", "exact_bodies"]

_NOTHING = Sequence(())


@dataclass(frozen=True, slots=True)
class Repeats:
    """The repetitions that must be there, each model so many times, and what may come on top."""

    bodies: tuple[tuple[int, Content], ...]
    rest: Content | None


def check_repeats(
    schema: Schema, contents: Iterable[Content | None], wanted: Mapping[str, int]
) -> None:
    """Raises WorkloadError if these content models cannot have so many of what is wanted."""
    known: dict[str, None] = {}
    waiting = [content for content in contents if content is not None]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Child):
            waiting += part.parts
        if not part.occurs.may_repeat:
            continue
        body = replace(part, occurs=Occurs.ONCE)
        known.update(dict.fromkeys(_direct(body)))
        repeats = exact_bodies(body, wanted)
        if repeats is None or part.occurs.may_be_absent or repeats.rest is not None:
            continue
        if not any(many for many, _ in repeats.bodies):
            message = f"{part} cannot be left out, so repeat must be 1 or more there"
            raise WorkloadError("repeat", message, hint="a number from 1")
    for name in wanted:
        if name not in known:
            said = "lets it repeat" if name in schema.elements else "declares it"
            close = similar_names(name, sorted(known))
            hint = f"near names: {', '.join(close)}" if close else "an element with * or +"
            message = f"repeat names {name}, but nothing in {schema.name} {said}"
            raise WorkloadError("repeat", message, hint=hint)


def exact_bodies(body: Content, wanted: Mapping[str, int]) -> Repeats | None:
    """What the repetitions of this model must be; None if nothing that is wanted stands in it."""
    names = [name for name in dict.fromkeys(_direct(body)) if name in wanted]
    if not names:
        return None
    rest: Content | None = body
    for name in names:
        rest = rest and _without(rest, name)
    if rest is not None and not any(True for _ in names_of(rest)):
        rest = None
    bodies = []
    for name in names:
        alone = _once(body, name)
        for other in names:
            alone = alone and (alone if other == name else _without(alone, other))
        if alone is None:
            break
        bodies.append((wanted[name], alone))
    else:
        return Repeats(tuple(bodies), rest)
    together: Content | None = body
    for name in names:
        together = together and _once(together, name)
    if together is None or len({wanted[name] for name in names}) > 1:
        asked = ", ".join(f"{name} {wanted[name]}" for name in names)
        message = f"a repetition of {body} cannot be made for repeat: {asked}"
        hint = "each repetition must be able to have one of them; two that come together need the same number"
        raise WorkloadError("repeat", message, hint=hint)
    return Repeats(((wanted[names[0]], together),), rest)


def _direct(content: Content) -> Iterator[str]:
    """The names outside parts that repeat."""
    if content.occurs.may_repeat:
        return
    if isinstance(content, Child):
        yield content.name
    else:
        for part in content.parts:
            yield from _direct(part)


def _without(content: Content, name: str) -> Content | None:
    """The model without this name outside parts that repeat; None if it cannot be."""
    if content.occurs.may_repeat:
        return content
    instead = _NOTHING if content.occurs.may_be_absent else None
    if isinstance(content, Child):
        return instead if content.name == name else content
    parts = [_without(part, name) for part in content.parts]
    kept = tuple(part for part in parts if part is not None)
    if isinstance(content, Choice):
        return replace(content, parts=kept) if kept else instead
    return replace(content, parts=kept) if len(kept) == len(parts) else instead


def _once(content: Content, name: str) -> Content | None:
    """The model with this name just once outside parts that repeat; None if it cannot be."""
    if content.occurs.may_repeat:
        return None
    if isinstance(content, Child):
        return Child(name) if content.name == name else None
    if isinstance(content, Choice):
        branches = [_once(part, name) for part in content.parts]
    else:
        branches = [
            _sequence(
                _once(part, name) if at == place else _without(part, name)
                for at, part in enumerate(content.parts)
            )
            for place in range(len(content.parts))
        ]
    kept = tuple(branch for branch in branches if branch is not None)
    return Choice(kept) if len(kept) > 1 else next(iter(kept), None)


def _sequence(parts: Iterable[Content | None]) -> Content | None:
    found = tuple(parts)
    kept = tuple(part for part in found if part is not None)
    return Sequence(kept) if len(kept) == len(found) else None
