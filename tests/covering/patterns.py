"""Strategies for covering tests: paths and twigs over few names, values, small documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from hypothesis import strategies as st
from lxml import etree

__all__ = ["paths", "small_documents", "twigs", "value_tests"]

_names = st.sampled_from(["a", "b", "a", "b", "c", "*"])
_axes = st.sampled_from(["/", "/", "//"])


def paths(longest: int = 5) -> st.SearchStrategy[str]:
    """Return linear paths over `/ // *`, absolute or relative."""
    steps = st.lists(st.tuples(_axes, _names), min_size=1, max_size=longest)
    texts = steps.map(lambda parts: "".join(axis + name for axis, name in parts))
    return st.one_of(texts, texts.map(lambda text: text.lstrip("/")))


def twigs(*, values: bool = False) -> st.SearchStrategy[str]:
    """Return paths with branches and attributes, optionally with values."""
    ends = [st.just(""), st.just(""), st.just("[@x]")]
    if values:
        ends += [value_tests("@x"), value_tests(".")]
    leaf = st.tuples(_names, st.one_of(ends)).map("".join)

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        branch = st.tuples(st.sampled_from(["", "", ".//"]), inner).map("".join)
        branches = st.lists(branch.map(lambda text: f"[{text}]"), max_size=2).map("".join)
        return st.tuples(_names, branches, _axes, inner).map("".join)

    return st.tuples(_axes, st.recursive(leaf, extend, max_leaves=4)).map("".join)


def value_tests(of: str) -> st.SearchStrategy[str]:
    """Return predicates that compare a value with a constant."""
    ops = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    numbers = st.sampled_from(["1", "2", "3"])
    words = st.sampled_from(["'1'", "'2.0'", "'w'"])
    numeric = st.tuples(ops, numbers).map(lambda pair: f"[{of} {pair[0]} {pair[1]}]")
    textual = st.tuples(st.sampled_from(["=", "!="]), words)
    return st.one_of(numeric, textual.map(lambda pair: f"[{of} {pair[0]} {pair[1]}]"))


@cache
def small_documents(max_elements: int = 4) -> tuple[etree._ElementTree, ...]:
    """Return every document with these names up to a size, up to the order of siblings."""
    return tuple(
        etree.ElementTree(etree.fromstring(text))
        for size in range(1, max_elements + 1)
        for text in _trees(size)
    )


@cache
def _trees(size: int) -> tuple[str, ...]:
    return tuple(
        f"<{name}>{inner}</{name}>" for name in "abz" for inner in _forests(size - 1, size)
    )


@cache
def _forests(size: int, largest: int) -> tuple[str, ...]:
    """Return sequences of trees with `size` elements in all, larger trees first."""
    if not size:
        return ("",)
    return tuple(dict.fromkeys(_concatenations(size, largest)))


def _concatenations(size: int, largest: int) -> Iterator[str]:
    for first in range(min(size, largest), 0, -1):
        for tree, rest in product(_trees(first), _forests(size - first, first)):
            yield tree + rest
