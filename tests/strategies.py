"""Hypothesis strategies for documents and subscriptions.

They are the seeded generators with hypothesis as the source of randomness: every roll is recorded, so
failures shrink, towards short paths without predicates and small documents (see `tests.pools`).
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests import generate
from tests.grammar import Maker

__all__ = ["documents", "expressions", "native_expressions", "token_lists"]

_rolls = st.randoms(use_true_random=False)


def documents(size: int = 8) -> st.SearchStrategy[bytes]:
    """Small well-formed documents."""
    return st.builds(generate.document, _rolls, st.just(size))


def native_expressions() -> st.SearchStrategy[str]:
    """Subscriptions that are tree patterns through and through."""
    return st.builds(generate.expression, _rolls, st.just(generate.NATIVE))


def expressions() -> st.SearchStrategy[str]:
    """Subscriptions of the whole language."""
    knobs = st.sampled_from([generate.WHOLE, generate.NATIVE, generate.Knobs(residual=0.6)])
    return st.builds(generate.expression, _rolls, knobs)


def token_lists() -> st.SearchStrategy[list[str]]:
    """The tokens of a valid subscription, for those who want to spoil it."""
    return st.builds(lambda rolls: Maker(rolls, generate.WHOLE).top(), _rolls)
