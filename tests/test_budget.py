"""Work budgets: they count, they end a search, and every process spends the same steps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pathcast.budget import DEFAULT_STEPS, BudgetExceeded, WorkBudget

ROOT = Path(__file__).parents[1]

# Prints the steps of questions whose search order depended on the order of sets.
QUESTIONS = """
from pathcast.budget import WorkBudget
from pathcast.covering import covers
from pathcast.generators.bundled import bundled_schema
from pathcast.schema import satisfiable

news = bundled_schema("news")
for wide, narrow, dtd in (
    ("//a[b/c][b/d][.//e]", "/a[b[c][d]]//e[b or c][f = 1 or f = 'x']", None),
    ("//a[not(b or c)][starts-with(., 'x') and contains(., 'y')]", "//a[not(b)][. != 'z']", None),
    ("//p[em]//q", "//*[.//p][.//em]//q", news),
):
    budget = WorkBudget(300_000)
    verdict = covers(wide, narrow, dtd=dtd, budget=budget)
    print(verdict, budget.spent)
for text in ("//p[em][q]//a", "//*[p][.//q][.//em or .//a]//p", "//table[tr[2]][.//em = 'x']"):
    budget = WorkBudget(300_000)
    print(satisfiable(text, news, budget=budget), budget.spent)
"""


def test_spending() -> None:
    budget = WorkBudget(3)
    budget.spend(1)
    budget.spend(2)
    assert budget.spent == 3
    with pytest.raises(BudgetExceeded, match="budget: the answer takes more than 3 steps"):
        budget.spend(1)


def test_the_default_and_no_limit() -> None:
    WorkBudget().spend(DEFAULT_STEPS)
    with pytest.raises(BudgetExceeded):
        WorkBudget().spend(DEFAULT_STEPS + 1)
    WorkBudget(None).spend(10**30)


def test_every_process_spends_the_same_steps() -> None:
    """The order of a set of strings differs between processes, by the seed of their hashes."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", QUESTIONS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 6
