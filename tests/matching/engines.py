"""The engines that the matching tests run on, and access to the memos of the compiled one."""

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


def compiled_engine(matcher: Matcher) -> CompiledEngine:
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    return engine


def memos(matcher: Matcher) -> list[Memo]:
    """Return the memos of a compiled matcher, one per automaton and run."""
    return [course.memo for run in compiled_engine(matcher)._made for course in run.courses()]


def with_limit(matcher: Matcher, limit: int) -> Matcher:
    """Give the matcher a single run, whose memos hold about `limit` ints each; return the matcher."""
    run = Run(limit=limit)
    engine = compiled_engine(matcher)
    assert not engine._made
    engine._made.append(run)
    engine._idle.append(run)
    return matcher
