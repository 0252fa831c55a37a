"""The results of matching: `Matches` for a document, `Batch` for several, `Hops` for a relay.

A result is a buffer of int32 subscription numbers. It looks up their ids on demand.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from pathcast.documents import to_octets
from pathcast.errors import DocumentError, EvaluationError

__all__ = ["Batch", "Hops", "Id", "Matches", "Stats", "collect_batch", "format_id"]

Id = str | int
_NO_ERRORS: Mapping[Id, EvaluationError] = {}


def format_id(id: Id) -> str:
    """Return an id as a message shows it; Python refuses to print an int of thousands of digits."""
    return repr(id) if isinstance(id, str) or abs(id) < 10**100 else "(a very large number)"


class Matches:
    """The subscriptions that a document matches, in the order in which they were added.

    Iteration yields their ids. `numbers` is an int32 buffer of the matcher's internal numbers, for
    bulk processing. `errors` maps the ids of undecided subscriptions to the reason.
    """

    __slots__ = ("_ids", "_numbers", "errors")

    def __init__(
        self,
        ids: Sequence[Id],
        numbers: array[int] | memoryview,
        errors: Mapping[Id, EvaluationError] = _NO_ERRORS,
    ) -> None:
        """`ids` are those of all subscriptions, by number."""
        self._ids = ids
        self._numbers = numbers
        self.errors = errors

    @property
    def numbers(self) -> memoryview:
        """The internal numbers of the subscriptions, read-only."""
        return memoryview(self._numbers).toreadonly()

    def __iter__(self) -> Iterator[Id]:
        ids = self._ids
        return iter([ids[number] for number in self._numbers])

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, id: object) -> bool:
        if isinstance(id, bool):
            return False
        is_str = isinstance(id, str)
        return any(match == id and isinstance(match, str) is is_str for match in self)

    def __repr__(self) -> str:
        shown = ", ".join(format_id(self._ids[number]) for number in self.numbers[:5])
        more = f", ... ({len(self)})" if len(self) > 5 else ""
        failed = f", errors={len(self.errors)}" if self.errors else ""
        return f"Matches([{shown}{more}]{failed})"


class Batch(Sequence[Matches]):
    """The results for several documents, in two buffers.

    `numbers[offsets[i]:offsets[i + 1]]` are the matches of document i. This is Arrow's layout of a
    list column: `pyarrow.ListArray.from_arrays(offsets, numbers)`. `errors` maps the index of a
    rejected document to its error; such a document has no numbers, and indexing it raises the
    error. `undecided` maps the index of a document to its undecided subscriptions.
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
            return [self[position] for position in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        if position in self.errors:
            raise self.errors[position]
        numbers = self.numbers[self.offsets[position] : self.offsets[position + 1]]
        return Matches(self._ids, numbers, self.undecided.get(position, _NO_ERRORS))

    def ids(self, numbers: Iterable[int]) -> list[Id]:
        """Return the ids of subscription numbers of this batch."""
        return [self._ids[number] for number in numbers]


def collect_batch(
    ids: Sequence[Id], bodies: Iterable[bytes | str], match: Callable[[bytes], Matches]
) -> Batch:
    """Match documents one by one and collect a batch; all numbers must refer to `ids`."""
    offsets, numbers = array("i", [0]), array("i")
    chunks: list[memoryview] = []
    count = 0
    errors: dict[int, DocumentError] = {}
    undecided: dict[int, Mapping[Id, EvaluationError]] = {}
    for index, body in enumerate(bodies):
        try:
            matches = match(to_octets(body))
        except DocumentError as error:
            errors[index] = error
        else:
            chunks.append(matches.numbers.cast("B"))
            count += len(matches.numbers)
            if matches.errors:
                undecided[index] = matches.errors
        offsets.append(count)
    numbers.frombytes(b"".join(chunks))
    return Batch(ids, offsets, numbers, errors, undecided)


class Hops:
    """The hops of the subscriptions that a document matches, in ascending order.

    `errors` are as in `Matches`: an undecided subscription may hide a hop.
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
    """The contents of a matcher, and counters of its work since its creation."""

    engine: str
    subscriptions: int
    patterns: int
    residuals: int
    expensive: int
    automata: int
    """The number of tiers: a document runs them all; recent subscriptions are in small ones."""
    states: int
    documents: int
    matches: int
    memo: int
    memo_hits: int
    memo_misses: int
    memo_hit_rate: float | None
    """Hits of the memo per look-up of a label path; None before the first."""
    memo_flushes: int
    joins: int
    join_work: int
    skeletons_passed: int
    residuals_false: int
    residual_errors: int
    false_pass_rate: float | None
    """False residuals per passed skeleton; None before the first."""
    memory: Mapping[str, int] = field(hash=False)
    """Bytes by component; empty for the plain engine, which does not count them."""
