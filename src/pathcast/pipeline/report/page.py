"""The page: figures first, then plots, then tables. Whatever comes from outside goes through `_text`."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Final

from pathcast.pipeline.report import plots
from pathcast.pipeline.report.content import Content, Table
from pathcast.pipeline.report.style import STYLE
from pathcast.pipeline.report.texts import (
    UNKNOWN,
    lasting,
    moment,
    number,
    several,
    share,
    short,
    size,
    whole,
)

__all__ = ["rendered"]

_LONG: Final = 160  # characters of an id or a message that are shown

Column = tuple[str, Callable[[Any], str], str]
"""A heading, the escaped text of a value, and its name in rows; the first column, and those whose heading ends with a colon, are texts."""


def rendered(content: Content, out: str) -> str:
    """The whole document."""
    title = f"pathcast: {short(out, _LONG)}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_text(out)}</h1>\n{_about(content)}\n{_figures(content)}\n"
        f'<div class="grid">\n{_plots(content)}\n{_tables(content)}\n</div>\n</main>\n</body>\n</html>\n'
    )


def _about(content: Content) -> str:
    known = content.summary
    when = "no times"
    if known.first is not None and known.last is not None:
        when = f"{moment(known.first)} to {moment(known.last)} UTC"
    length = (
        lasting(known.window) if known.by == "time" else several(known.window, "batch", "batches")
    )
    kept = "" if known.kept is None else f", the newest {whole(known.kept)} of them counting"
    return (
        f"<p>{several(known.batches, 'batch', 'batches')}, documents of {when}. {several(known.windows, 'window', 'windows')} of {length}{kept}; "
        f"a document counts {known.decay:g} times as much for each window that it is older.</p>"
    )


def _figures(content: Content) -> str:
    known = content.summary
    per = known.matches / known.read if known.read else None
    pairs = [
        (whole(known.documents), "documents"),
        (size(known.bytes), "in them"),
        (
            whole(known.matched),
            f"matched ({share(known.matched / known.read if known.read else None)})",
        ),
        (whole(known.refused), "refused"),
        (whole(known.subscriptions), "subscriptions"),
        (UNKNOWN if known.silent is None else whole(known.silent), "of them never matched"),
        (number(per), "matches per document"),
        (whole(known.deliveries), "deliveries"),
        (whole(known.groups), "subscribers reached"),
        (whole(known.structures), f"structures in {whole(known.sampled)} sampled"),
    ]
    return (
        '<div class="figures">'
        + "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in pairs)
        + "</div>"
    )


def _plots(content: Content) -> str:
    windows = "a window" if content.together == 1 else f"{whole(content.together)} windows"
    return "\n".join(
        (
            _section(
                "Documents over time",
                plots.show_traffic(content),
                f"A bar is {windows}: documents that some subscription matches, that none does, and that were refused.",
                "There are no documents.",
            ),
            _section(
                "Matches over time",
                plots.show_matches(content),
                "Subscriptions that a document matches, on average.",
                "Nothing matched.",
            ),
            _section(
                "Selectivity",
                plots.show_selectivity(content),
                "Subscriptions by the share of documents that they match, newer documents counting for more.",
                "Nothing matched.",
            ),
            _section(
                "Structures",
                plots.show_structures(content),
                "Documents whose structure a cache would have: with its entries there from the start (warm: the cumulative "
                "share of structures), or each missed once (cold).",
                "No structures are known: documents were not sampled.",
            ),
            _section(
                "Overlap",
                plots.show_overlap(content.overlap),
                "The fuller a square, the more of the documents of the column's subscription match the row's too; a row that is full "
                "where its column is not contains it. Numbers are those of the table of compared subscriptions.",
                "There are no two subscriptions to compare.",
            ),
            _section(
                "Busiest subscribers",
                plots.show_busiest(content.busiest),
                "Documents, each counted once for a subscriber.",
                "Nothing was delivered.",
            ),
            _section(
                "Errors",
                plots.show_errors(content.errors),
                "Refused documents, and subscriptions that could not be decided, by kind.",
                "There were no errors.",
            ),
        )
    )


def _tables(content: Content) -> str:
    unit = content.summary.unit
    matching: list[Column] = [
        ("subscription", _text, "subscription"),
        ("selectivity", share, "selectivity"),
        ("matched", whole, "matched"),
        ("of", whole, "documents"),
        ("last", moment, "last"),
    ]
    never = "It is not known which subscriptions there are."
    if content.summary.silent is not None:
        never = "There is none: every subscription matched something."
    compared = tuple(
        {"number": n + 1, "subscription": one, "documents": content.overlap.documents[n]}
        for n, one in enumerate(content.overlap.subscriptions)
    )
    return "\n".join(
        (
            _table("Most matching", content.most, matching, "Nothing matched."),
            _table("Least matching", content.least, matching, "Nothing matched."),
            _table(
                "Never matched",
                content.never,
                [
                    ("subscription", _text, "subscription"),
                    ("of documents", whole, "documents"),
                    ("since", moment, "since"),
                ],
                never,
            ),
            _table(
                "Compared subscriptions",
                compared,
                [
                    ("number", whole, "number"),
                    ("subscription:", _text, "subscription"),
                    ("documents", whole, "documents"),
                ],
                "There are none.",
            ),
            _table(
                "Subscribers",
                content.busiest,
                [
                    ("subscriber", _text, "group"),
                    ("documents", whole, "documents"),
                    ("bytes", size, "bytes"),
                    (f"documents/{unit}", number, "documents_rate"),
                    ("lately", number, "recent_documents_rate"),
                    ("peak", number, "peak_documents_rate"),
                ],
                "Nothing was delivered.",
            ),
            _table(
                "Sources",
                content.sources,
                [
                    ("source", _text, "source"),
                    ("documents", whole, "documents"),
                    ("bytes", size, "bytes"),
                    ("matched", whole, "matched"),
                    ("refused", whole, "refused"),
                ],
                "There are no documents.",
            ),
            _table(
                "Most frequent structures",
                content.structures,
                [
                    ("first document", _text, "first"),
                    ("documents", whole, "documents"),
                    ("share", share, "share"),
                    ("together", share, "cumulative"),
                ],
                "No structures are known.",
            ),
            _table(
                "Errors by kind",
                content.errors,
                [
                    ("kind", _text, "kind"),
                    ("errors", whole, "errors"),
                    ("documents", whole, "documents"),
                    ("for example:", _example, "example"),
                ],
                "There were no errors.",
                wide=True,
            ),
        )
    )


def _section(heading: str, figure: str | None, told: str, empty: str) -> str:
    shown = f"<p>{told}</p>{figure}" if figure is not None else f'<div class="none">{empty}</div>'
    return f"<section><h2>{heading}</h2>{shown}</section>"


def _table(
    heading: str, rows: Table, columns: Sequence[Column], empty: str, *, wide: bool = False
) -> str:
    kind = ' class="wide"' if wide else ""
    if not rows:
        return f'<section{kind}><h2>{heading}</h2><div class="none">{empty}</div></section>'
    marks = [' class="text"' if name.endswith(":") else "" for name, _, _ in columns]
    head = "".join(
        f"<th{mark}>{name.rstrip(':')}</th>"
        for mark, (name, _, _) in zip(marks, columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{mark}>{write(row[key])}</td>"
            for mark, (_, write, key) in zip(marks, columns, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<section{kind}><h2>{heading}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _example(example: dict[str, Any]) -> str:
    parts = [example[name] for name in ("document", "place", "message") if example[name]]
    return ": ".join(_text(part) for part in parts)


def _text(value: object) -> str:
    return UNKNOWN if value is None else html.escape(short(value, _LONG))
