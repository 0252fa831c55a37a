"""Exact repetition: a given number of an element wherever a content model lets it repeat.

A part lets an element repeat if the part has * or +, and the element occurs in it outside nested
parts of that kind: `book*`, `(title, book)*`, `(article | book)+`, or beside text. With
`repeat={"book": 300}`, 300 repetitions of such a part have exactly one book, and any others have
none. Both are content models derived from the part's:

>>> from pathcast.schema import Child, Choice, Occurs, Sequence
>>> body = Sequence((Child("title"), Choice((Child("article"), Child("book")))))
>>> repeats = exact_bodies(body, {"book": 300})
>>> [(many, str(model)) for many, model in repeats.bodies], str(repeats.others)
([(300, '(title, book)')], '(title, (article))')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pathcast.errors import WorkloadError
from pathcast.schema import Child, Choice, Content, Occurs, Schema, Sequence, names_of
from pathcast.schema.similar_names import similar_names

__all__ = ["ExactRepeats", "check_repeats", "exact_bodies"]

_NOTHING = Sequence(())


@dataclass(frozen=True, slots=True)
class ExactRepeats:
    """The required repetitions, each a count and a model, and the model of additional ones."""

    bodies: tuple[tuple[int, Content], ...]
    others: Content | None


def check_repeats(
    schema: Schema, contents: Iterable[Content | None], repeat: Mapping[str, int]
) -> None:
    """Raise WorkloadError if these content models cannot have the requested numbers."""
    repeatable: dict[str, None] = {}
    waiting = [content for content in contents if content is not None]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Child):
            waiting += part.parts
        if not part.occurs.may_repeat:
            continue
        body = replace(part, occurs=Occurs.ONCE)
        repeatable.update(dict.fromkeys(_direct_names(body)))
        repeats = exact_bodies(body, repeat)
        if repeats is None or part.occurs.may_be_absent or repeats.others is not None:
            continue
        if not any(count for count, _ in repeats.bodies):
            message = f"{part} cannot be left out, so repeat must be 1 or more there"
            raise WorkloadError("repeat", message, hint="a number from 1")
    for name in repeat:
        if name not in repeatable:
            missing = "lets it repeat" if name in schema.elements else "declares it"
            close = similar_names(name, sorted(repeatable))
            hint = f"near names: {', '.join(close)}" if close else "an element with * or +"
            message = f"repeat names {name}, but nothing in {schema.name} {missing}"
            raise WorkloadError("repeat", message, hint=hint)


def exact_bodies(body: Content, repeat: Mapping[str, int]) -> ExactRepeats | None:
    """Return the repetitions that `repeat` requires of a body; None if it names no child of it."""
    names = [name for name in dict.fromkeys(_direct_names(body)) if name in repeat]
    if not names:
        return None
    others: Content | None = body
    for name in names:
        others = others and _exclude(others, name)
    if others is not None and not any(True for _ in names_of(others)):
        others = None
    bodies = []
    for name in names:
        alone = _exactly_one(body, name)
        for other in names:
            alone = alone and (alone if other == name else _exclude(alone, other))
        if alone is None:
            break
        bodies.append((repeat[name], alone))
    else:
        return ExactRepeats(tuple(bodies), others)
    together: Content | None = body
    for name in names:
        together = together and _exactly_one(together, name)
    if together is None or len({repeat[name] for name in names}) > 1:
        requested = ", ".join(f"{name} {repeat[name]}" for name in names)
        message = f"a repetition of {body} cannot be made for repeat: {requested}"
        hint = (
            "each repetition must be able to have one of them; "
            "two that come together need the same number"
        )
        raise WorkloadError("repeat", message, hint=hint)
    return ExactRepeats(((repeat[names[0]], together),), others)


def _direct_names(content: Content) -> Iterator[str]:
    """Yield the names outside repeatable parts."""
    if content.occurs.may_repeat:
        return
    if isinstance(content, Child):
        yield content.name
    else:
        for part in content.parts:
            yield from _direct_names(part)


def _exclude(content: Content, name: str) -> Content | None:
    """Return the model without a name outside repeatable parts; None if impossible."""
    if content.occurs.may_repeat:
        return content
    absent = _NOTHING if content.occurs.may_be_absent else None
    if isinstance(content, Child):
        return absent if content.name == name else content
    parts = [_exclude(part, name) for part in content.parts]
    remaining = tuple(part for part in parts if part is not None)
    if isinstance(content, Choice):
        return replace(content, parts=remaining) if remaining else absent
    return replace(content, parts=remaining) if len(remaining) == len(parts) else absent


def _exactly_one(content: Content, name: str) -> Content | None:
    """Return the model with a name exactly once outside repeatable parts; None if impossible."""
    if content.occurs.may_repeat:
        return None
    if isinstance(content, Child):
        return Child(name) if content.name == name else None
    if isinstance(content, Choice):
        branches = [_exactly_one(part, name) for part in content.parts]
    else:
        branches = [
            _sequence(
                _exactly_one(part, name) if at == chosen else _exclude(part, name)
                for at, part in enumerate(content.parts)
            )
            for chosen in range(len(content.parts))
        ]
    remaining = tuple(branch for branch in branches if branch is not None)
    return Choice(remaining) if len(remaining) > 1 else next(iter(remaining), None)


def _sequence(parts: Iterable[Content | None]) -> Content | None:
    candidates = tuple(parts)
    remaining = tuple(part for part in candidates if part is not None)
    return Sequence(remaining) if len(remaining) == len(candidates) else None
