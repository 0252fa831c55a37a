"""The engines that every test of matching runs on, and what a test may see of the compiled one."""

from __future__ import annotations

from typing import Final

import pytest

from pathcast import Matcher
from pathcast.matching.compiled.core.memo import Memo
from pathcast.matching.compiled.core.run import Run
from pathcast.matching.compiled.engine import CompiledEngine
from pathcast.matching.engine import EngineName

__all__ = ["ENGINES", "each_engine", "memos", "with_limit"]

ENGINES: Final[tuple[EngineName, ...]] = ("core", "plain")
each_engine = pytest.mark.parametrize("engine", ENGINES)


def compiled(matcher: Matcher) -> CompiledEngine:
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    return engine


def memos(matcher: Matcher) -> list[Memo]:
    """What the runs of a compiled matcher remember, a memo for each automaton and run."""
    return [course.memo for run in compiled(matcher)._made for course in run.courses()]


def with_limit(matcher: Matcher, limit: int) -> Matcher:
    """The matcher with one run that remembers at most about so many ints of each automaton."""
    run = Run(limit=limit)
    engine = compiled(matcher)
    assert not engine._made
    engine._made.append(run)
    engine._idle.append(run)
    return matcher
