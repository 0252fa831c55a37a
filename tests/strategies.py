"""Hypothesis strategies for documents and subscriptions.

They are the seeded generators with hypothesis as the source of randomness. Hypothesis records every
draw, so failures shrink towards short paths without predicates and small documents (see
`tests.pools`).
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests import generate
from tests.grammar import ExpressionMaker

__all__ = ["documents", "expressions", "native_expressions", "sideways_expressions", "token_lists"]

_random = st.randoms(use_true_random=False)


def documents(size: int = 8) -> st.SearchStrategy[bytes]:
    """Return a strategy of small well-formed documents."""
    return st.builds(generate.document, _random, st.just(size))


def native_expressions() -> st.SearchStrategy[str]:
    """Return a strategy of subscriptions that are tree patterns."""
    return st.builds(generate.expression, _random, st.just(generate.NATIVE))


def sideways_expressions() -> st.SearchStrategy[str]:
    """Return a strategy of subscriptions with axes outside the subtree and string functions."""
    return st.builds(generate.expression, _random, st.just(generate.SIDEWAYS))


def expressions() -> st.SearchStrategy[str]:
    """Return a strategy of subscriptions of the whole language."""
    knobs = st.sampled_from(
        [generate.WHOLE, generate.NATIVE, generate.SIDEWAYS, generate.Knobs(residual=0.6)]
    )
    return st.builds(generate.expression, _random, knobs)


def token_lists() -> st.SearchStrategy[list[str]]:
    """Return a strategy of the tokens of valid subscriptions, for tests that mutate them."""
    return st.builds(lambda rng: ExpressionMaker(rng, generate.WHOLE).top(), _random)
