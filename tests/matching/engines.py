"""The engines that every test of matching runs on, and access to the compiled one's internals."""

from __future__ import annotations

from typing import Final

import pytest

from pathcast import Matcher
from pathcast.matching.compiled.core.lazy_dfa import LazyDfa
from pathcast.matching.compiled.core.match_context import MatchContext
from pathcast.matching.compiled.engine import CompiledEngine
from pathcast.matching.engine import EngineName

__all__ = ["ENGINES", "each_engine", "memos", "with_limit"]

ENGINES: Final[tuple[EngineName, ...]] = ("core", "plain")
each_engine = pytest.mark.parametrize("engine", ENGINES)


def compiled_engine(matcher: Matcher) -> CompiledEngine:
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    return engine


def memos(matcher: Matcher) -> list[LazyDfa]:
    """Return the lazy DFAs of a compiled matcher, one per NFA and match context."""
    contexts = compiled_engine(matcher)._contexts
    return [traversal.dfa for context in contexts for traversal in context.traversals()]


def with_limit(matcher: Matcher, limit: int) -> Matcher:
    """Give the matcher one match context with this memo bound, in ints per NFA."""
    context = MatchContext(limit=limit)
    engine = compiled_engine(matcher)
    assert not engine._contexts
    engine._contexts.append(context)
    engine._idle_contexts.append(context)
    return matcher
