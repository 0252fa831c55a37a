"""The answer to one document, and what a matcher tells of itself."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pathcast.errors import EvaluationError

__all__ = ["Id", "Matches", "Stats", "shown_id"]

Id = str | int


def shown_id(id: Id) -> str:
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
        numbers: Sequence[int],
        errors: Mapping[Id, EvaluationError] | None = None,
    ) -> None:
        self._ids = tuple(ids)
        self.numbers = memoryview(array("i", numbers)).toreadonly()
        self.errors: Mapping[Id, EvaluationError] = dict(errors or {})

    def __iter__(self) -> Iterator[Id]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        if isinstance(id, bool):
            return False
        text = isinstance(id, str)
        return any(one == id and isinstance(one, str) is text for one in self._ids)

    def __repr__(self) -> str:
        shown = ", ".join(shown_id(id) for id in self._ids[:5])
        more = f", ... ({len(self._ids)})" if len(self._ids) > 5 else ""
        failed = f", errors={len(self.errors)}" if self.errors else ""
        return f"Matches([{shown}{more}]{failed})"


@dataclass(frozen=True, slots=True)
class Stats:
    """What a matcher holds and what it did. Counts of work are since it was made."""

    subscriptions: int
    patterns: int
    residuals: int
    expensive: int
    states: int
    documents: int
    matches: int
    memo: int
    memo_hits: int
    memo_misses: int
    joins: int
    join_work: int
    skeletons_passed: int
    residuals_false: int
    residual_errors: int
    false_pass_rate: float | None
    """The share of passed skeletons whose residual then was false; None before there is one."""
