"""Work budget: a bound on the steps of a search, counted, so that no clock decides an answer.

Containment, satisfiability and overlap have inputs of a few lines that would take hours. A search
gets a budget, spends steps for the work of its inner loops, and ends when the budget is exceeded.
The answer is then "unknown". A step takes about half a microsecond, so the default of two million
steps is about a second. The same input spends the same steps on every machine and at every call:
relations that a schema computes once are not counted, and a cached answer costs what it cost first.

>>> budget = WorkBudget(10)
>>> budget.spend(4)
>>> budget.spend(7)
Traceback (most recent call last):
pathcast.budget.BudgetExceeded: budget: the answer takes more than 10 steps
"""

from __future__ import annotations

import math

__all__ = ["DEFAULT_STEPS", "BudgetExceeded", "WorkBudget"]

DEFAULT_STEPS = 2_000_000


class BudgetExceeded(Exception):
    """The search needs more steps than its budget has; the question stays open."""


class WorkBudget:
    """The steps that one question may take; `spent` counts them. A limit of None is no limit."""

    __slots__ = ("_limit", "spent")

    def __init__(self, limit: int | None = DEFAULT_STEPS) -> None:
        self._limit: float = math.inf if limit is None else limit
        self.spent = 0

    def spend(self, steps: int) -> None:
        """Count steps, before the work that they stand for; raise BudgetExceeded."""
        self.spent += steps
        if self.spent > self._limit:
            raise BudgetExceeded(f"budget: the answer takes more than {self._limit:,} steps")
