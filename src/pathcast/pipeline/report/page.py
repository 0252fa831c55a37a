"""The HTML page: figures, then plots, then tables. All untrusted text passes through `_text`."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Final

from pathcast.pipeline.report import plots
from pathcast.pipeline.report.content import ReportContent, ReportTable
from pathcast.pipeline.report.style import STYLE
from pathcast.pipeline.report.texts import (
    UNKNOWN,
    format_bytes,
    format_count,
    format_duration,
    format_quantity,
    format_rate,
    format_share,
    format_time,
    shorten,
)

__all__ = ["render_page"]

_MAX_TEXT_LENGTH: Final = 160  # characters of an id or message

ReportColumn = tuple[str, Callable[[Any], str], str]
"""A heading, a function that renders a value as escaped text, and the value's key in rows.

The first column, and columns whose heading ends with a colon, hold text.
"""


def render_page(content: ReportContent, out: str) -> str:
    """Return the HTML document."""
    title = f"pathcast: {shorten(out, _MAX_TEXT_LENGTH)}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_text(out)}</h1>\n{_about(content)}\n{_figures(content)}\n"
        f'<div class="grid">\n{_plots(content)}\n{_tables(content)}\n</div>\n'
        "</main>\n</body>\n</html>\n"
    )


def _about(content: ReportContent) -> str:
    summary = content.summary
    period = "no times"
    if summary.first is not None and summary.last is not None:
        period = f"{format_time(summary.first)} to {format_time(summary.last)} UTC"
    window_length = (
        format_duration(summary.window)
        if summary.by == "time"
        else format_quantity(summary.window, "batch", "batches")
    )
    kept_windows = (
        ""
        if summary.kept is None
        else f", the newest {format_count(summary.kept)} of them counting"
    )
    batches = format_quantity(summary.batches, "batch", "batches")
    windows = format_quantity(summary.windows, "window", "windows")
    return (
        f"<p>{batches}, documents of {period}. {windows} of {window_length}{kept_windows}; "
        f"a document counts {summary.decay:g} times as much for each window that it is older.</p>"
    )


def _figures(content: ReportContent) -> str:
    summary = content.summary
    matches_per_document = summary.matches / summary.read if summary.read else None
    figures = [
        (format_count(summary.documents), "documents"),
        (format_bytes(summary.bytes), "in them"),
        (
            format_count(summary.matched),
            f"matched ({format_share(summary.matched / summary.read if summary.read else None)})",
        ),
        (format_count(summary.refused), "refused"),
        (format_count(summary.subscriptions), "subscriptions"),
        (
            UNKNOWN if summary.silent is None else format_count(summary.silent),
            "of them never matched",
        ),
        (format_rate(matches_per_document), "matches per document"),
        (format_count(summary.deliveries), "deliveries"),
        (format_count(summary.groups), "subscribers reached"),
        (
            format_count(summary.structures),
            f"structures in {format_count(summary.sampled)} sampled",
        ),
    ]
    return (
        '<div class="figures">'
        + "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in figures)
        + "</div>"
    )


def _plots(content: ReportContent) -> str:
    bar_width = (
        "a window"
        if content.windows_per_point == 1
        else f"{format_count(content.windows_per_point)} windows"
    )
    return "\n".join(
        (
            _section(
                "Documents over time",
                plots.plot_traffic(content),
                f"A bar is {bar_width}: documents that some subscription matches, that none does, "
                "and that were refused.",
                "There are no documents.",
            ),
            _section(
                "Matches over time",
                plots.plot_matches(content),
                "Subscriptions that a document matches, on average.",
                "Nothing matched.",
            ),
            _section(
                "Selectivity",
                plots.plot_selectivity(content),
                "Subscriptions by the share of documents that they match, "
                "newer documents counting for more.",
                "Nothing matched.",
            ),
            _section(
                "Structures",
                plots.plot_structures(content),
                "Documents whose structure a cache would have: "
                "with its entries there from the start (warm: the cumulative "
                "share of structures), or each missed once (cold).",
                "No structures are known: documents were not sampled.",
            ),
            _section(
                "Overlap",
                plots.plot_overlap(content.overlap),
                "The fuller a square, the more of the documents of the column's subscription "
                "match the row's too; a row that is full where its column is not contains it. "
                "Numbers are those of the table of compared subscriptions.",
                "There are no two subscriptions to compare.",
            ),
            _section(
                "Busiest subscribers",
                plots.plot_busiest(content.busiest),
                "Documents, each counted once for a subscriber.",
                "Nothing was delivered.",
            ),
            _section(
                "Errors",
                plots.plot_errors(content.errors),
                "Refused documents, and subscriptions that could not be decided, by kind.",
                "There were no errors.",
            ),
        )
    )


def _tables(content: ReportContent) -> str:
    unit = content.summary.unit
    selectivity_columns: list[ReportColumn] = [
        ("subscription", _text, "subscription"),
        ("XPath:", _text, "xpath"),
        ("selectivity", format_share, "selectivity"),
        ("matched", format_count, "matched"),
        ("of", format_count, "documents"),
        ("last", format_time, "last"),
    ]
    no_silent = "It is not known which subscriptions there are."
    if content.summary.silent is not None:
        no_silent = "There is none: every subscription matched something."
    compared = tuple(
        {
            "number": index + 1,
            "subscription": subscription,
            "documents": content.overlap.documents[index],
            "xpath": content.overlap.xpaths[index],
        }
        for index, subscription in enumerate(content.overlap.subscriptions)
    )
    return "\n".join(
        (
            _table("Most matching", content.most_matching, selectivity_columns, "Nothing matched."),
            _table(
                "Least matching", content.least_matching, selectivity_columns, "Nothing matched."
            ),
            _table(
                "Never matched",
                content.silent_subscriptions,
                [
                    ("subscription", _text, "subscription"),
                    ("XPath:", _text, "xpath"),
                    ("of documents", format_count, "documents"),
                    ("since", format_time, "since"),
                ],
                no_silent,
            ),
            _table(
                "Compared subscriptions",
                compared,
                [
                    ("number", format_count, "number"),
                    ("subscription:", _text, "subscription"),
                    ("XPath:", _text, "xpath"),
                    ("documents", format_count, "documents"),
                ],
                "There are none.",
            ),
            _table(
                "Subscribers",
                content.busiest,
                [
                    ("subscriber", _text, "group"),
                    ("documents", format_count, "documents"),
                    ("bytes", format_bytes, "bytes"),
                    (f"documents/{unit}", format_rate, "documents_rate"),
                    ("lately", format_rate, "recent_documents_rate"),
                    ("peak", format_rate, "peak_documents_rate"),
                ],
                "Nothing was delivered.",
            ),
            _table(
                "Batches",
                content.batches,
                [
                    ("of a batch", _text, "measure"),
                    ("median", format_rate, "median"),
                    ("95% at most", format_rate, "most"),
                    ("maximum", format_rate, "maximum"),
                ],
                "The records of batches are not there.",
            ),
            _table(
                "Sources",
                content.sources,
                [
                    ("source", _text, "source"),
                    ("documents", format_count, "documents"),
                    ("bytes", format_bytes, "bytes"),
                    ("matched", format_count, "matched"),
                    ("refused", format_count, "refused"),
                ],
                "There are no documents.",
            ),
            _table(
                "Most frequent structures",
                content.structures,
                [
                    ("first document", _text, "first"),
                    ("documents", format_count, "documents"),
                    ("share", format_share, "share"),
                    ("together", format_share, "cumulative"),
                ],
                "No structures are known.",
            ),
            _table(
                "Errors by kind",
                content.errors,
                [
                    ("kind", _text, "kind"),
                    ("errors", format_count, "errors"),
                    ("documents", format_count, "documents"),
                    ("for example:", _example, "example"),
                ],
                "There were no errors.",
                wide=True,
            ),
        )
    )


def _section(heading: str, figure: str | None, caption: str, empty: str) -> str:
    content = (
        f"<p>{caption}</p>{figure}" if figure is not None else f'<div class="none">{empty}</div>'
    )
    return f"<section><h2>{heading}</h2>{content}</section>"


def _table(
    heading: str,
    rows: ReportTable,
    columns: Sequence[ReportColumn],
    empty: str,
    *,
    wide: bool = False,
) -> str:
    section_class = ' class="wide"' if wide else ""
    if not rows:
        return (
            f'<section{section_class}><h2>{heading}</h2><div class="none">{empty}</div></section>'
        )
    cell_classes = [' class="text"' if name.endswith(":") else "" for name, _, _ in columns]
    head = "".join(
        f"<th{cell_class}>{name.rstrip(':')}</th>"
        for cell_class, (name, _, _) in zip(cell_classes, columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{cell_class}>{render(row[key])}</td>"
            for cell_class, (_, render, key) in zip(cell_classes, columns, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<section{section_class}><h2>{heading}</h2><div class="scroll">'
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _example(example: dict[str, Any]) -> str:
    parts = [example[name] for name in ("document", "place", "message") if example[name]]
    return ": ".join(_text(part) for part in parts)


def _text(value: object) -> str:
    return UNKNOWN if value is None else html.escape(shorten(value, _MAX_TEXT_LENGTH))
