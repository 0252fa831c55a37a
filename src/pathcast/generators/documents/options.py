"""Options of the document generator, checked on construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pathcast.documents.limits import MAX_DEPTH, Limits
from pathcast.errors import WorkloadError
from pathcast.generators.values import ValueDomain

__all__ = ["DocumentOptions"]


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Parameters of `documents`.

    - `max_depth`: element levels, up to the 256 that the parser accepts.
    - `repetition`: the most repetitions of a part with * or +; the children beside text are one
      such part. With a `size`, it is exceeded where the document would stay too small.
    - `optional`: the probability of a part with ? or *, and of an attribute that is not required.
    - `recursion`: how often an element may occur on one path from the root; 1 forbids recursion,
      direct or not. It is never exceeded. None sets no limit but `max_depth`.
    - `size`: target size in bytes. Without it the size is random.
    - `repeat`: element -> its exact number in every part that lets it repeat (see `repeats`),
      unless depth or recursion leave no room.
    - `values`: the values of texts and attributes.
    """

    max_depth: int = 10
    repetition: int = 3
    optional: float = 0.5
    recursion: int | None = None
    size: int | None = None
    repeat: Mapping[str, int] = field(default_factory=dict)
    values: ValueDomain = field(default_factory=ValueDomain)

    def __post_init__(self) -> None:
        _check("max_depth", self.max_depth, 1, MAX_DEPTH, "that many levels our parser takes")
        _check("repetition", self.repetition, 1, None)
        _check("optional", self.optional, 0, 1, "a probability")
        _check("recursion", self.recursion, 1, None, "1: never inside itself")
        _check("size", self.size, 1, Limits().size, "bytes; that many our parser takes")
        for name, count in self.repeat.items():
            _check(f"repeat of {name}", count, 0, None)


def _check(
    name: str, value: float | None, low: int, high: int | None, hint: str | None = None
) -> None:
    if value is not None and not low <= value <= (value if high is None else high):
        allowed = f"{low} or more" if high is None else f"from {low} to {high}"
        raise WorkloadError("options", f"{name} must be {allowed}, not {value}", hint=hint)
