"""Memory of a set of subscriptions: at the peak of loading and matching, and after it.

It is measured in a process of its own, which reads texts and documents one by one and keeps none.
Resident memory is that of the process after the last document: interpreter, modules, subscriptions
and memo.

A large document is a feed of many items. Its line is the memory beyond that of lxml's tree, as a
multiple of the document's size.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pathcast.bench.filter.context import (
    FilterContext,
    join_notes,
    load_matcher,
    match_all,
    parse_all,
)
from pathcast.bench.filter.subprocess_inputs import read_bodies, read_texts, write_inputs
from pathcast.bench.memory import PeakMemory, measure_peak
from pathcast.bench.report import ReportLine
from pathcast.documents import new_parser
from pathcast.sandbox.processes import proc_field

__all__ = ["memory", "parse_documents", "resident_after_matching"]

_PEAK = {100_000: 250.0, 1_000_000: 1_200.0}
_RESIDENT = {100_000: 150.0, 1_000_000: 400.0}
_SELECTIVE_RESIDENT = {100_000: 200.0, 1_000_000: 900.0}
_LARGE_DOCUMENT = {30_000_000: 3.0}  # bytes
_DOCUMENTS = 400
_MEGABYTE = 1_000_000


def memory(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.inputs.documents(_DOCUMENTS // bench.sizes.divide)
    for peak, resident in zip(bench.sizes.of(_PEAK), bench.sizes.of(_RESIDENT), strict=True):
        name = f"linear, {peak.count:,}"
        usage = _measure(bench, name, bench.inputs.linear(peak.count), bodies)
        yield _line(
            f"peak memory, {name}", usage.peak, peak.target, _note(usage, bodies, peak.note)
        )
        yield _line(f"resident memory, {name}", _resident(usage), resident.target, resident.note)
    bodies = bench.inputs.alert_documents(_DOCUMENTS // bench.sizes.divide)
    for size in bench.sizes.of(_SELECTIVE_RESIDENT):
        name = f"selective, {size.count:,}"
        usage = _measure(bench, name, bench.inputs.alerts(size.count), bodies)
        note = join_notes(f"peak {usage.peak / _MEGABYTE:,.0f} MB", size.note)
        yield _line(f"resident memory, {name}", _resident(usage), size.target, note)
    for nominal, target in _LARGE_DOCUMENT.items():
        yield _large_document_line(bench, nominal // bench.sizes.divide, target)


def _large_document_line(bench: FilterContext, size: int, target: float) -> ReportLine:
    label = f"memory beyond the tree / document, {size / _MEGABYTE:g} MB"
    bench.progress(label)
    bodies = bench.inputs.alert_documents(50)
    items = b"".join([body[len("<feed>") : -len("</feed>")] for body in bodies])
    body = b"<feed>" + items * max(1, size // len(items)) + b"</feed>"
    texts = bench.inputs.alerts(1_000)
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = write_inputs(Path(name), texts, [body])
        ours = measure_peak(resident_after_matching, folder)
        theirs = measure_peak(parse_documents, folder)
    beyond = (ours.peak - ours.before) - (theirs.peak - theirs.before)
    note = (
        f"{beyond / _MEGABYTE:,.0f} MB beyond {(theirs.peak - theirs.before) / _MEGABYTE:,.0f} MB"
    )
    figure = max(0.0, beyond / len(body))
    return ReportLine(label, figure, "x", target=target, at_least=False, note=note)


def _measure(
    bench: FilterContext, name: str, texts: Sequence[str], bodies: Sequence[bytes]
) -> PeakMemory:
    bench.progress(f"peak memory, {name}")
    bench.progress(f"resident memory, {name}")
    with TemporaryDirectory(prefix="pathcast-") as folder:
        usage = measure_peak(resident_after_matching, write_inputs(Path(folder), texts, bodies))
    count, _ = usage.result
    assert count == len(texts), "all subscriptions must be loaded"
    return usage


def _resident(usage: PeakMemory) -> int:
    return int(usage.result[1])


def _note(usage: PeakMemory, bodies: Sequence[bytes], size_note: str) -> str:
    before = f"{len(bodies)} documents; {usage.before / _MEGABYTE:,.0f} MB of it before the first"
    return join_notes(before, size_note)


def _line(label: str, size: int, target: float, note: str) -> ReportLine:
    return ReportLine(label, size / _MEGABYTE, "MB", target=target, at_least=False, note=note)


def parse_documents(folder: str) -> None:
    """Parse the documents of a folder."""
    parse_all(read_bodies(folder), new_parser())


def resident_after_matching(folder: str) -> tuple[int, int]:
    """Load the subscriptions and match the documents of a folder.

    Return the number of subscriptions, and the resident size of this process in bytes.
    """
    matcher = load_matcher(read_texts(folder))
    match_all(matcher, read_bodies(folder))
    gc.collect()
    return len(matcher), proc_field(Path("/proc/self/status"), "VmRSS") or 0
