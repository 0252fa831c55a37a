from __future__ import annotations

import json

import pytest

from pathcast.bench import memory
from pathcast.bench.memory import measure_peak, resident_peak

MEGABYTE = 1 << 20


def hold(size: int) -> int:
    """Found by the child under this module's name."""
    return len(b"x" * size)


def test_peak_is_that_of_the_function() -> None:
    """The memory of this process, which is larger than the child's, does not count."""
    ballast = b"x" * (200 * MEGABYTE)
    small, large = measure_peak(hold, 1000), measure_peak(hold, 64 * MEGABYTE)
    assert (small.result, large.result) == (1000, 64 * MEGABYTE)
    assert 0 < small.before <= small.peak < 150 * MEGABYTE < len(ballast)
    assert 60 * MEGABYTE < large.peak - small.peak < 80 * MEGABYTE
    assert resident_peak() > 200 * MEGABYTE


def test_results_and_arguments_are_json() -> None:
    assert measure_peak(json.dumps, {"a": [1, "é"]}).result == json.dumps({"a": [1, "é"]})


def test_failure_reports_the_last_output() -> None:
    with pytest.raises(RuntimeError, match=r"json.* status 1: .*JSONDecodeError"):
        measure_peak(json.loads, "{")


def test_without_proc_the_system_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = resident_peak()
    monkeypatch.setattr(memory, "peak_memory", lambda: None)
    assert reported // 2 < resident_peak() < reported * 100  # bytes, not kilobytes
