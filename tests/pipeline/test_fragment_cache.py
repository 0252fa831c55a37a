"""A worker keeps as many fragments as fit; the memory here is counted, not measured."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import SparkFiles

from pathcast.documents import Limits
from pathcast.files import Subscription
from pathcast.pipeline import worker
from pathcast.pipeline.fragment_cache import FragmentCache, free_memory, resident_memory
from pathcast.pipeline.versions import compile_version

BASE = 1_000


def keep_memory() -> None:
    """Return nothing to the system: a fragment here is gone with its last reference."""


class SizedFragment:
    """A stand-in of a number of bytes."""

    def __init__(self, size: int) -> None:
        self.size = size


class CountedMemory:
    """Counts the bytes of the fragments that are alive."""

    def __init__(self) -> None:
        self.alive: list[weakref.ref[SizedFragment]] = []
        self.peak = 0

    def __call__(self) -> int:
        self.alive = [reference for reference in self.alive if reference() is not None]
        fragments = [fragment for reference in self.alive if (fragment := reference())]
        total = BASE + sum(fragment.size for fragment in fragments)
        self.peak = max(self.peak, total)
        return total

    def load(self, size: int) -> Callable[[], SizedFragment]:
        def load() -> SizedFragment:
            fragment = SizedFragment(size)
            self.alive.append(weakref.ref(fragment))
            return fragment

        return load


def test_least_recently_used_fragment_is_freed() -> None:
    memory = CountedMemory()
    cache: FragmentCache[SizedFragment] = FragmentCache(memory, keep_memory)

    def use(key: str) -> int:
        """Return the identity of a fragment of 80 bytes."""
        return id(cache.get(key, 250, lambda: 10, memory.load(80)))

    first = {key: use(key) for key in "abc"}
    assert len(cache) == 3
    assert use("a") == first["a"]
    use("d")
    assert len(cache) == 3
    assert [key for key in "acd" if use(key) == first.get(key)] == ["a", "c"]  # b made room
    assert memory.peak <= BASE + 250
    cache.clear()
    assert memory() == BASE


def test_growing_fragment_drives_others_out() -> None:
    memory = CountedMemory()
    cache: FragmentCache[SizedFragment] = FragmentCache(memory, keep_memory)
    for key in "abc":
        cache.get(key, 300, lambda: 10, memory.load(80))
    cache.get("c", 300, lambda: 10, memory.load(0)).size = 110
    cache.get("c", 300, lambda: 10, memory.load(0))  # 270 bytes, and 30 more are expected
    assert len(cache) == 3
    cache.get("c", 300, lambda: 10, memory.load(0)).size = 150
    cache.get("c", 300, lambda: 10, memory.load(0))  # 310 bytes, and 40 more
    assert len(cache) == 2
    cache.get("c", 300, lambda: 10, memory.load(0)).size = 900
    cache.get("c", 300, lambda: 10, memory.load(0))
    assert len(cache) == 1  # the fragment in use stays


def test_without_a_budget_or_a_measure_one_fragment_is_kept() -> None:
    for memory, budget in ((CountedMemory(), 0), (lambda: None, 1_000_000)):
        cache: FragmentCache[SizedFragment] = FragmentCache(memory, keep_memory)
        freed: list[weakref.ref[SizedFragment]] = []

        def load(freed: list[weakref.ref[SizedFragment]] = freed) -> SizedFragment:
            assert all(reference() is None for reference in freed)  # before the next is loaded
            fragment = SizedFragment(10)
            freed.append(weakref.ref(fragment))
            return fragment

        for key in "aba":
            cache.get(key, budget, lambda: 10, load)
        assert (len(cache), len(freed)) == (1, 3)


@given(
    st.integers(0, 2_000),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 60)), max_size=60),
)
def test_budget_holds(budget: int, uses: list[tuple[int, int]]) -> None:
    """The load of a fragment of typical growth never exceeds the budget, unless it is alone."""
    memory = CountedMemory()
    cache: FragmentCache[SizedFragment] = FragmentCache(memory, keep_memory)
    for key, size in uses:
        load, file_bytes = memory.load(8 * size), partial(int, size)
        assert cache.get((key, size), budget, file_bytes, load).size == 8 * size
        assert memory() - BASE <= budget or len(cache) == 1


def test_workers_keep_fragments_within_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [compile_version([Subscription("a", f"//{name}")], tmp_path) for name in "abc"]
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(tmp_path / name))
    monkeypatch.setattr(worker, "_version_cache", {})
    monkeypatch.setattr(worker, "_fragment_cache", FragmentCache(resident_memory, free_memory))
    previous = weakref.ref(worker.cached_version(versions[0].file).matcher)
    limits = Limits()
    for budget, expected in ((1 << 40, 3), (0, 1)):
        loaded = {
            id(worker.cached_fragment(version.file, limits, None, budget).matcher)
            for version in (*versions, *versions)
        }
        assert len(worker._fragment_cache) == expected
        if expected == 3:
            assert len(loaded) == 3
    assert previous() is None
    worker.cached_version(versions[0].file)
    assert len(worker._fragment_cache) == 0
