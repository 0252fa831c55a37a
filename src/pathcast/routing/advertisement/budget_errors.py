"""The error of a conversion that exceeds its work budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pathcast.budget import BudgetExceeded
from pathcast.errors import AdvertisementError

__all__ = ["budget_errors"]


@contextmanager
def budget_errors(consequence: str) -> Iterator[None]:
    """Turn BudgetExceeded into an AdvertisementError that states the consequence.

    A conversion that ends early would write fewer paths than the publisher may send.
    """
    try:
        yield
    except BudgetExceeded as error:
        message = f"{consequence}: {str(error).removeprefix('budget: ')}"
        raise AdvertisementError(
            "budget", message, hint="the automaton is exact; allow more steps, or a lower depth"
        ) from None
