"""Generated documents or messages on their way out: formats, ids, writing, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pathcast.cli.console import Output, fail
from pathcast.cli.generate_common import part_of, shares
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

__all__ = ["arriving", "document_figures", "document_format", "document_table", "write_out"]


def arriving(process: Arrivals | None, seed: int) -> Iterator[str] | None:
    """When documents come: the seconds from the start, as their ids have them."""
    if process is None:
        return None
    from pathcast.rng import SeededRandom

    return (f"{second:.3f}" for second in process.times(SeededRandom(seed, "arrivals")))


def document_format(out: str | None, given: str | None) -> DocumentFormat:
    """The format to write; what cannot be written ends the command before anything is generated."""
    kind = next((one for one in DOCUMENT_FORMATS if one == given), None)
    if given is not None and kind is None:
        fail(f"--format: {given!r} is not one of {', '.join(DOCUMENT_FORMATS)}")
    if out is None:
        if kind not in (None, "jsonl"):
            fail(f"--format {kind} is not for standard output\n  hint: give --out PATH")
        return "jsonl"
    kind = kind or document_format_of(out)
    if kind is None:
        hint = "name it .jsonl or .parquet, give it no suffix to make a folder, or give --format"
        fail(f"the format of {out!r} is not known\n  hint: {hint}")
    return kind


def write_out(
    output: Output, out: str | None, kind: DocumentFormat, items: Iterable[tuple[str, bytes]]
) -> None:
    """Write pairs of an id and a body to their place, or to stdout as lines of JSON."""
    if out is not None:
        write_documents(out, items, kind)
    else:
        for key, body in items:
            output.text(document_line(key, body))


def document_figures(found: DocumentStatistics) -> dict[str, Any]:
    """For programs."""
    return {
        "documents": found.count,
        "distinct": found.distinct,
        "bytes": {"total": found.sizes.total, **found.sizes.as_dict()},
        "looked_into": found.elements.count,
        "elements": found.elements.as_dict(),
        "depths": dict(sorted(found.depths.items())),
    }


def document_table(found: DocumentStatistics, figures: dict[str, Any]) -> dict[str, str]:
    """For people."""
    duplicates = found.count - figures["distinct"]
    looked = found.elements.count
    scope = "" if looked == found.count else f" (of the first {looked:,})"
    return {
        "documents": f"{found.count:,}",
        "duplicates": f"{duplicates:,} ({part_of(duplicates, found.count)})",
        "bytes": f"{found.sizes}; {found.sizes.total:,} in all",
        "elements": f"{found.elements}{scope}",
        "depths": f"{shares(found.depths)}{scope}",
    }
