from __future__ import annotations

import json

import pytest

from pathcast.bench import memory
from pathcast.bench.memory import peak, resident_peak

MEGABYTE = 1 << 20


def hold(size: int) -> int:
    """Found by the child under this module's name."""
    return len(b"x" * size)


def test_the_peak_is_that_of_the_function() -> None:
    """Whatever this process holds, which is more than the child's."""
    ballast = b"x" * (200 * MEGABYTE)
    small, large = peak(hold, 1000), peak(hold, 64 * MEGABYTE)
    assert (small.result, large.result) == (1000, 64 * MEGABYTE)
    assert 0 < small.before <= small.most < 150 * MEGABYTE < len(ballast)
    assert 60 * MEGABYTE < large.most - small.most < 80 * MEGABYTE
    assert resident_peak() > 200 * MEGABYTE


def test_results_and_arguments_are_json() -> None:
    assert peak(json.dumps, {"a": [1, "é"]}).result == json.dumps({"a": [1, "é"]})


def test_a_failure_is_told_with_its_last_words() -> None:
    with pytest.raises(RuntimeError, match=r"json.* status 1: .*JSONDecodeError"):
        peak(json.loads, "{")


def test_without_proc_the_system_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    known = resident_peak()
    monkeypatch.setattr(memory, "peak_memory", lambda: None)
    assert known // 2 < resident_peak() < known * 100  # bytes, not kilobytes
