"""Answers: to one document, to many, and with hops alone; and what a matcher tells of itself.

An answer is a buffer of int32 numbers. What their ids are is looked up when somebody asks.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from pathcast.errors import DocumentError, EvaluationError

__all__ = ["Batch", "Hops", "Id", "Matches", "Stats", "collect_batch", "format_id"]

Id = str | int
_NO_ERRORS: Mapping[Id, EvaluationError] = {}


def format_id(id: Id) -> str:
    """An id in a message; Python refuses to write out an int of thousands of digits."""
    return repr(id) if isinstance(id, str) or abs(id) < 10**100 else "(a very large number)"


class Matches:
    """The subscriptions that a document matches, in the order in which they were added.

    Iterating gives their ids; `numbers` is an int32 buffer of the matcher's own numbers for them, for
    those who handle many. `errors` names the subscriptions that could not be decided.
    """

    __slots__ = ("_ids", "errors", "numbers")

    def __init__(
        self,
        ids: Sequence[Id],
        numbers: array[int] | memoryview,
        errors: Mapping[Id, EvaluationError] = _NO_ERRORS,
    ) -> None:
        """`ids` are all there are, by number."""
        self._ids = ids
        self.numbers = memoryview(numbers).toreadonly()
        self.errors = errors

    def __iter__(self) -> Iterator[Id]:
        ids = self._ids
        return iter([ids[number] for number in self.numbers])

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, id: object) -> bool:
        if isinstance(id, bool):
            return False
        text = isinstance(id, str)
        return any(one == id and isinstance(one, str) is text for one in self)

    def __repr__(self) -> str:
        shown = ", ".join(format_id(self._ids[number]) for number in self.numbers[:5])
        more = f", ... ({len(self)})" if len(self) > 5 else ""
        failed = f", errors={len(self.errors)}" if self.errors else ""
        return f"Matches([{shown}{more}]{failed})"


class Batch(Sequence[Matches]):
    """The answers to many documents, as two buffers: `numbers[offsets[i]:offsets[i + 1]]` are those of document i.

    That is how Arrow lays out a list of int32 for each row: `pyarrow.ListArray.from_arrays(offsets, numbers)`.
    `errors` are the documents that were refused (they have no numbers, and asking for their matches raises
    the error), `undecided` the subscriptions that could not be decided, each by the document's place.
    """

    __slots__ = ("_ids", "errors", "numbers", "offsets", "undecided")

    def __init__(
        self,
        ids: Sequence[Id],
        offsets: array[int],
        numbers: array[int],
        errors: Mapping[int, DocumentError],
        undecided: Mapping[int, Mapping[Id, EvaluationError]],
    ) -> None:
        self._ids = ids
        self.offsets = memoryview(offsets).toreadonly()
        self.numbers = memoryview(numbers).toreadonly()
        self.errors = errors
        self.undecided = undecided

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Matches: ...

    @overload
    def __getitem__(self, index: slice) -> list[Matches]: ...

    def __getitem__(self, index: int | slice) -> Matches | list[Matches]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if place in self.errors:
            raise self.errors[place]
        found = self.numbers[self.offsets[place] : self.offsets[place + 1]]
        return Matches(self._ids, found, self.undecided.get(place, _NO_ERRORS))

    def ids(self, numbers: Iterable[int]) -> list[Id]:
        """The ids that numbers of this batch stand for."""
        return [self._ids[number] for number in numbers]


def collect_batch(
    ids: Sequence[Id], bodies: Iterable[bytes], match: Callable[[bytes], Matches]
) -> Batch:
    """The answers to many documents, put together; `match` must give numbers of the same `ids` throughout."""
    offsets, numbers = array("i", [0]), array("i")
    parts: list[memoryview] = []
    count = 0
    errors: dict[int, DocumentError] = {}
    undecided: dict[int, Mapping[Id, EvaluationError]] = {}
    for place, body in enumerate(bodies):
        try:
            found = match(body)
        except DocumentError as error:
            errors[place] = error
        else:
            parts.append(found.numbers.cast("B"))
            count += len(found.numbers)
            if found.errors:
                undecided[place] = found.errors
        offsets.append(count)
    numbers.frombytes(b"".join(parts))
    return Batch(ids, offsets, numbers, errors, undecided)


class Hops:
    """The hops behind which somebody wants a document, in order; `errors` as with `Matches`.

    A subscription that could not be decided may have kept a hop out.
    """

    __slots__ = ("_hops", "errors")

    def __init__(
        self, hops: Sequence[int], errors: Mapping[Id, EvaluationError] = _NO_ERRORS
    ) -> None:
        self._hops = tuple(hops)
        self.errors = errors

    def __iter__(self) -> Iterator[int]:
        return iter(self._hops)

    def __len__(self) -> int:
        return len(self._hops)

    def __contains__(self, hop: object) -> bool:
        return hop in self._hops

    def __repr__(self) -> str:
        failed = f", errors={len(self.errors)}" if self.errors else ""
        return f"Hops({list(self._hops)}{failed})"


@dataclass(frozen=True, slots=True)
class Stats:
    """What a matcher holds and what it did. Counts of work are since it was made."""

    engine: str
    subscriptions: int
    patterns: int
    residuals: int
    expensive: int
    automata: int
    """How many automata are run one after the other: what came last is in small ones until they are merged."""
    states: int
    documents: int
    matches: int
    memo: int
    memo_hits: int
    memo_misses: int
    memo_hit_rate: float | None
    """The share of label paths that were known; None before there is one."""
    memo_flushes: int
    joins: int
    join_work: int
    skeletons_passed: int
    residuals_false: int
    residual_errors: int
    false_pass_rate: float | None
    """The share of passed skeletons whose residual then was false; None before there is one."""
    memory: Mapping[str, int] = field(hash=False)
    """Bytes by part, as far as the engine knows them; empty for the plain one."""
