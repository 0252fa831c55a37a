"""The plots of the report, each a figure from the content, or nothing where there is nothing to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pathcast.pipeline.report.content import STEPS, Content, Matrix, Point, Table
from pathcast.pipeline.report.drawing import (
    ACCENT,
    BAD,
    GRID,
    INK,
    MUTED,
    SECOND,
    drawn,
    require,
)
from pathcast.pipeline.report.texts import EPOCH, moments, short, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "require",
    "show_busiest",
    "show_errors",
    "show_matches",
    "show_overlap",
    "show_selectivity",
    "show_structures",
    "show_traffic",
]


def show_traffic(content: Content) -> str | None:
    """Documents over time, and how many of them somebody wanted."""
    points = content.traffic
    if not points:
        return None

    def draw(axes: Axes) -> None:
        shown = {
            "matched": ([one.matched for one in points], ACCENT),
            "matched by none": ([_unwanted(one) for one in points], GRID),
            "refused": ([one.refused for one in points], BAD),
        }
        below = [0] * len(points)
        for label, (heights, colour) in shown.items():
            if any(heights):
                axes.bar(
                    _places(points, content),
                    heights,
                    bottom=below,
                    width=content.together * 0.9,
                    align="edge",
                    color=colour,
                    label=label,
                )
            below = [low + height for low, height in zip(below, heights, strict=True)]
        _whole_numbers(axes.yaxis)
        _time_axis(axes, content)
        axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)

    return drawn("traffic", "documents over time", draw)


def show_matches(content: Content) -> str | None:
    """Matches of a document over time, on average."""
    points = [one for one in content.traffic if one.documents > one.refused]
    if not points or not content.summary.matches:
        return None

    def draw(axes: Axes) -> None:
        values = {
            at: one.matches / (one.documents - one.refused)
            for at, one in zip(_places(points, content), points, strict=True)
        }
        step = content.together
        every = range(min(values), max(values) + 1, step)
        axes.plot(
            [at + step / 2 for at in every],
            [values.get(at, math.nan) for at in every],  # the line ends where nothing came
            color=ACCENT,
            linewidth=1.6,
            marker="o",
            markersize=3,
        )
        axes.set_ylim(bottom=0)
        axes.set_xlim(_edges(content))
        axes.set_ylabel("matches per document")
        _time_axis(axes, content)

    return drawn("matches", "matches per document over time", draw)


def show_selectivity(content: Content) -> str | None:
    """How many subscriptions match how large a share of documents."""
    sizes = content.selectivities
    if not sizes:
        return None

    def draw(axes: Axes) -> None:
        lowest = min(*sizes, -STEPS)
        axes.bar(list(sizes), list(sizes.values()), width=0.9, align="edge", color=ACCENT)
        powers = range(math.floor(lowest / STEPS), 1)
        axes.set_xticks([power * STEPS for power in powers], [_percent(p) for p in powers])
        axes.set_xlim(powers[0] * STEPS, 0)
        axes.set_xlabel("share of documents that a subscription matches")
        axes.set_ylabel("subscriptions")
        _whole_numbers(axes.yaxis)

    return drawn("selectivity", "subscriptions by their selectivity", draw)


def show_structures(content: Content) -> str | None:
    """What a cache of so many structures would hit."""
    rows = content.cache
    if not rows:
        return None

    def draw(axes: Axes) -> None:
        sizes = [row["entries"] for row in rows]
        line: dict[str, Any] = {"linewidth": 1.6, "marker": "o", "markersize": 3.5}
        axes.plot(sizes, [row["warm"] for row in rows], color=ACCENT, label="warm", **line)
        axes.plot(sizes, [row["cold"] for row in rows], color=SECOND, label="cold", **line)
        axes.set_xscale("log")
        shown = _apart(sizes)
        axes.set_xticks(shown, [whole(size) for size in shown], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, 1.03)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        axes.set_xlabel("structures kept, the most frequent first")
        axes.set_ylabel("documents that hit")
        axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)

    return drawn("structures", "cumulative share of structures", draw)


def show_overlap(matrix: Matrix) -> str | None:
    """A square for each pair: the fuller, the more of the column's documents match the row."""
    count = len(matrix.subscriptions)
    if count < 2:
        return None

    def draw(axes: Axes) -> None:
        from matplotlib.patches import Rectangle

        axes.grid(visible=False)
        for i, row in enumerate(matrix.shares):
            for j, share in enumerate(row):
                alpha = 0.0 if share is None else share
                place = (j + 0.04, i + 0.04)
                colour = MUTED if i == j else ACCENT
                alpha = 0.25 if i == j else alpha
                axes.add_patch(Rectangle(place, 0.92, 0.92, facecolor=GRID, alpha=0.35))
                axes.add_patch(Rectangle(place, 0.92, 0.92, facecolor=colour, alpha=alpha))
        axes.set_xlim(0, count)
        axes.set_ylim(count, 0)
        axes.set_aspect("equal")
        numbers = [str(n + 1) for n in range(count)]
        middle = [n + 0.5 for n in range(count)]
        axes.set_xticks(middle, numbers, size=8)
        axes.set_yticks(middle, numbers, size=8)
        axes.tick_params(length=0)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("of the documents of")
        axes.set_ylabel("this share matches")
        axes.spines["bottom"].set_visible(False)

    return drawn("overlap", "overlap of subscriptions", draw, height=4.6)


def show_errors(rows: Table) -> str | None:
    """Errors by kind."""
    return _ranked("errors", "errors by kind", rows, "kind", "errors", BAD)


def show_busiest(rows: Table) -> str | None:
    """Who gets most documents."""
    return _ranked("busiest", "busiest subscribers", rows, "group", "documents", ACCENT)


def _ranked(name: str, title: str, rows: Table, label: str, value: str, colour: str) -> str | None:
    if not rows:
        return None

    def draw(axes: Axes) -> None:
        values = [row[value] for row in rows]
        places = range(len(rows))
        bars = axes.barh(places, values, height=0.68, color=colour)
        axes.bar_label(bars, [whole(one) for one in values], padding=4, color=INK)
        axes.set_yticks(places, [short(row[label], 22) for row in rows], color=INK)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_xlim(0, max(values) * 1.18)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)

    return drawn(name, title, draw, height=0.45 + 0.26 * len(rows))


def _apart(sizes: list[int]) -> list[int]:
    """Those of a logarithmic axis that can be read side by side: the last one, and others as far from it as they must be."""
    shown = sizes[-1:]
    for size in reversed(sizes):
        if shown[0] / size >= max(1.9, (sizes[-1] / sizes[0]) ** 0.11):
            shown.insert(0, size)
    return [sizes[0], *shown[1:]] if len(shown) > 1 else shown


def _percent(power: int) -> str:
    return f"{10.0 ** (power + 2):.10f}".rstrip("0").rstrip(".") + "%"


def _places(points: Sequence[Point], content: Content) -> list[int]:
    """Where points stand: the first of the windows that they may have."""
    return [one.window - one.window % content.together for one in points]


def _unwanted(one: Point) -> int:
    return one.documents - one.matched - one.refused


def _edges(content: Content) -> tuple[float, float]:
    places, step = _places(content.traffic, content), content.together
    missing = max(
        0, 6 - (places[-1] - places[0]) // step
    )  # a few bars are not as broad as the page
    return places[0] - missing * step / 2, places[-1] + step + missing * step / 2


def _time_axis(axes: Axes, content: Content) -> None:
    """Names of windows below: their time, or their batch."""
    axes.set_xlim(_edges(content))
    places = _places(content.traffic, content)
    first, last = places[0], places[-1]
    count = min(4, (last - first) // content.together)
    shown = sorted({first + (last - first) * n // max(count, 1) for n in range(count + 1)})
    length = content.summary.window
    if content.summary.by == "batch":
        axes.set_xlabel("batch")
        labels = [whole(window * int(length)) for window in shown]
    else:
        times = [EPOCH + timedelta(seconds=window * length) for window in shown]
        labels = moments(times)
        axes.set_xlabel(f"from {times[0]:%Y-%m-%d} on, UTC")
    # A time is where a window begins; a batch is the window.
    middle = content.together * 0.45 if content.summary.by == "batch" else 0.0
    axes.set_xticks([window + middle for window in shown], labels)


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: whole(int(value))))
