"""Peak memory of loading a set of subscriptions and matching documents.

It is measured in a process of its own, which reads texts and documents one by one and keeps none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pathcast.bench.filter.context import FilterContext, join_notes, load_matcher, match_all
from pathcast.bench.filter.subprocess_inputs import read_bodies, read_texts, write_inputs
from pathcast.bench.memory import measure_peak
from pathcast.bench.report import ReportLine

__all__ = ["count_after_matching", "memory"]

_MEMORY = {100_000: 250.0, 1_000_000: 1_200.0}
_DOCUMENTS = 400
_MEGABYTE = 1_000_000


def memory(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.inputs.documents(_DOCUMENTS // bench.sizes.divide)
    for size in bench.sizes.of(_MEMORY):
        label = f"peak memory, linear, {size.count:,}"
        bench.progress(label)
        with TemporaryDirectory(prefix="pathcast-") as folder:
            usage = measure_peak(
                count_after_matching,
                write_inputs(Path(folder), bench.inputs.linear(size.count), bodies),
            )
        assert usage.result == size.count, "all subscriptions must be loaded"
        note = f"{len(bodies)} documents; {usage.before / _MEGABYTE:,.0f} MB of it before the first"
        yield ReportLine(
            label,
            usage.peak / _MEGABYTE,
            "MB",
            target=size.target,
            at_least=False,
            note=join_notes(note, size.note),
        )


def count_after_matching(folder: str) -> int:
    """Load the subscriptions and match the documents of a folder; return the subscription count."""
    matcher = load_matcher(read_texts(folder))
    match_all(matcher, read_bodies(folder))
    return len(matcher)
