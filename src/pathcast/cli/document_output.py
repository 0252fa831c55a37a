"""Writes generated documents: their format, their arrival times, and their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pathcast.cli.console import Output, fail
from pathcast.cli.generate_common import format_distribution, percentage
from pathcast.files import (
    DOCUMENT_FORMATS,
    DocumentFormat,
    document_format_of,
    document_line,
    write_documents,
)

if TYPE_CHECKING:
    from pathcast.generators.arrivals import Arrivals
    from pathcast.generators.statistics import DocumentStatistics

__all__ = [
    "arrival_times",
    "choose_document_format",
    "document_figures",
    "document_table",
    "write_output",
]


def arrival_times(process: Arrivals | None, seed: int) -> Iterator[str] | None:
    """Return the seconds from the start at which documents arrive, as text for their ids."""
    if process is None:
        return None
    from pathcast.rng import SeededRandom

    return (f"{second:.3f}" for second in process.times(SeededRandom(seed, "arrivals")))


def choose_document_format(path: str | None, option: str | None) -> DocumentFormat:
    """Return the format by `--format` or by the path; end the command if neither is usable."""
    file_format = next((name for name in DOCUMENT_FORMATS if name == option), None)
    if option is not None and file_format is None:
        fail(f"--format: {option!r} is not one of {', '.join(DOCUMENT_FORMATS)}")
    if path is None:
        if file_format not in (None, "jsonl"):
            fail(f"--format {file_format} is not for standard output\n  hint: give --out PATH")
        return "jsonl"
    file_format = file_format or document_format_of(path)
    if file_format is None:
        hint = "name it .jsonl or .parquet, give it no suffix to make a folder, or give --format"
        fail(f"the format of {path!r} is not known\n  hint: {hint}")
    return file_format


def write_output(
    output: Output,
    path: str | None,
    file_format: DocumentFormat,
    documents: Iterable[tuple[str, bytes]],
) -> None:
    """Write documents (id, body) to the path, or to stdout as lines of JSON."""
    if path is not None:
        write_documents(path, documents, file_format)
    else:
        for key, body in documents:
            output.text(document_line(key, body))


def document_figures(statistics: DocumentStatistics) -> dict[str, Any]:
    """Return the statistics as JSON values."""
    return {
        "documents": statistics.count,
        "distinct": statistics.distinct,
        "bytes": {"total": statistics.sizes.total, **statistics.sizes.as_dict()},
        "looked_into": statistics.elements.count,
        "elements": statistics.elements.as_dict(),
        "depths": dict(sorted(statistics.depths.items())),
    }


def document_table(statistics: DocumentStatistics, figures: dict[str, Any]) -> dict[str, str]:
    """Return the statistics as the rows of a table."""
    duplicates = statistics.count - figures["distinct"]
    parsed = statistics.elements.count
    scope = "" if parsed == statistics.count else f" (of the first {parsed:,})"
    return {
        "documents": f"{statistics.count:,}",
        "duplicates": f"{duplicates:,} ({percentage(duplicates, statistics.count)})",
        "bytes": f"{statistics.sizes}; {statistics.sizes.total:,} in total",
        "elements": f"{statistics.elements}{scope}",
        "depths": f"{format_distribution(statistics.depths)}{scope}",
    }
