"""The plots of the report: each function returns an SVG figure, or None without data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pathcast.pipeline.report.content import (
    BARS_PER_DECADE,
    OverlapMatrix,
    ReportContent,
    ReportTable,
    TrafficPoint,
)
from pathcast.pipeline.report.drawing import (
    ACCENT,
    BAD,
    GRID,
    INK,
    MUTED,
    SECOND,
    render_svg,
    require_matplotlib,
)
from pathcast.pipeline.report.texts import EPOCH, format_count, format_times, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_busiest",
    "plot_errors",
    "plot_matches",
    "plot_overlap",
    "plot_selectivity",
    "plot_structures",
    "plot_traffic",
    "require_matplotlib",
]


def plot_traffic(content: ReportContent) -> str | None:
    """Plot documents over time: matched, unmatched and refused."""
    points = content.traffic
    if not points:
        return None

    def draw(axes: Axes) -> None:
        series = {
            "matched": ([point.matched for point in points], ACCENT),
            "matched by none": ([_unmatched_count(point) for point in points], GRID),
            "refused": ([point.refused for point in points], BAD),
        }
        bottoms = [0] * len(points)
        for label, (heights, colour) in series.items():
            if any(heights):
                axes.bar(
                    _positions(points, content),
                    heights,
                    bottom=bottoms,
                    width=content.windows_per_point * 0.9,
                    align="edge",
                    color=colour,
                    label=label,
                )
            bottoms = [low + height for low, height in zip(bottoms, heights, strict=True)]
        _use_integer_ticks(axes.yaxis)
        _time_axis(axes, content)
        axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)

    return render_svg("traffic", "documents over time", draw)


def plot_matches(content: ReportContent) -> str | None:
    """Plot the average number of matches per document over time."""
    points = [point for point in content.traffic if point.documents > point.refused]
    if not points or not content.summary.matches:
        return None

    def draw(axes: Axes) -> None:
        averages = {
            window: point.matches / (point.documents - point.refused)
            for window, point in zip(_positions(points, content), points, strict=True)
        }
        step = content.windows_per_point
        windows = range(min(averages), max(averages) + 1, step)
        axes.plot(
            [window + step / 2 for window in windows],
            [
                averages.get(window, math.nan) for window in windows
            ],  # NaN interrupts the line where a window is empty
            color=ACCENT,
            linewidth=1.6,
            marker="o",
            markersize=3,
        )
        axes.set_ylim(bottom=0)
        axes.set_xlim(_x_limits(content))
        axes.set_ylabel("matches per document")
        _time_axis(axes, content)

    return render_svg("matches", "matches per document over time", draw)


def plot_selectivity(content: ReportContent) -> str | None:
    """Plot the histogram of selectivities."""
    histogram = content.selectivity_histogram
    if not histogram:
        return None

    def draw(axes: Axes) -> None:
        lowest = min(*histogram, -BARS_PER_DECADE)
        axes.bar(list(histogram), list(histogram.values()), width=0.9, align="edge", color=ACCENT)
        powers = range(math.floor(lowest / BARS_PER_DECADE), 1)
        axes.set_xticks(
            [power * BARS_PER_DECADE for power in powers], [_percent(p) for p in powers]
        )
        axes.set_xlim(powers[0] * BARS_PER_DECADE, 0)
        axes.set_xlabel("share of documents that a subscription matches")
        axes.set_ylabel("subscriptions")
        _use_integer_ticks(axes.yaxis)

    return render_svg("selectivity", "subscriptions by their selectivity", draw)


def plot_structures(content: ReportContent) -> str | None:
    """Plot the hit rate of a structure cache by its size."""
    rows = content.cache
    if not rows:
        return None

    def draw(axes: Axes) -> None:
        sizes = [row["entries"] for row in rows]
        line: dict[str, Any] = {"linewidth": 1.6, "marker": "o", "markersize": 3.5}
        axes.plot(sizes, [row["warm"] for row in rows], color=ACCENT, label="warm", **line)
        axes.plot(sizes, [row["cold"] for row in rows], color=SECOND, label="cold", **line)
        axes.set_xscale("log")
        ticks = _readable_ticks(sizes)
        axes.set_xticks(ticks, [format_count(size) for size in ticks], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, 1.03)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        axes.set_xlabel("structures kept, the most frequent first")
        axes.set_ylabel("documents that hit")
        axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)

    return render_svg("structures", "cumulative share of structures", draw)


def plot_overlap(matrix: OverlapMatrix) -> str | None:
    """Plot one square per pair: the fuller, the more of the column's documents match the row."""
    count = len(matrix.subscriptions)
    if count < 2:
        return None

    def draw(axes: Axes) -> None:
        from matplotlib.patches import Rectangle

        axes.grid(visible=False)
        for i, row in enumerate(matrix.shares):
            for j, share in enumerate(row):
                alpha = 0.0 if share is None else share
                corner = (j + 0.04, i + 0.04)
                colour = MUTED if i == j else ACCENT
                alpha = 0.25 if i == j else alpha
                axes.add_patch(Rectangle(corner, 0.92, 0.92, facecolor=GRID, alpha=0.35))
                axes.add_patch(Rectangle(corner, 0.92, 0.92, facecolor=colour, alpha=alpha))
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

    return render_svg("overlap", "overlap of subscriptions", draw, height=4.6)


def plot_errors(rows: ReportTable) -> str | None:
    """Plot errors by kind."""
    return _plot_ranking("errors", "errors by kind", rows, "kind", "errors", BAD)


def plot_busiest(rows: ReportTable) -> str | None:
    """Plot the subscribers with the most documents."""
    return _plot_ranking("busiest", "busiest subscribers", rows, "group", "documents", ACCENT)


def _plot_ranking(
    name: str, title: str, rows: ReportTable, label: str, value: str, colour: str
) -> str | None:
    if not rows:
        return None

    def draw(axes: Axes) -> None:
        values = [row[value] for row in rows]
        positions = range(len(rows))
        bars = axes.barh(positions, values, height=0.68, color=colour)
        axes.bar_label(
            bars, [format_count(value_shown) for value_shown in values], padding=4, color=INK
        )
        axes.set_yticks(positions, [shorten(row[label], 22) for row in rows], color=INK)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_xlim(0, max(values) * 1.18)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)

    return render_svg(name, title, draw, height=0.45 + 0.26 * len(rows))


def _readable_ticks(sizes: list[int]) -> list[int]:
    """Choose ticks of a logarithmic axis that do not collide: the last, and others far enough from
    it.
    """
    ticks = sizes[-1:]
    for size in reversed(sizes):
        if ticks[0] / size >= max(1.9, (sizes[-1] / sizes[0]) ** 0.11):
            ticks.insert(0, size)
    return [sizes[0], *ticks[1:]] if len(ticks) > 1 else ticks


def _percent(power: int) -> str:
    return f"{10.0 ** (power + 2):.10f}".rstrip("0").rstrip(".") + "%"


def _positions(points: Sequence[TrafficPoint], content: ReportContent) -> list[int]:
    """Return the x positions of points: the first window of each group."""
    return [point.window - point.window % content.windows_per_point for point in points]


def _unmatched_count(point: TrafficPoint) -> int:
    return point.documents - point.matched - point.refused


def _x_limits(content: ReportContent) -> tuple[float, float]:
    positions, step = _positions(content.traffic, content), content.windows_per_point
    padding_bars = max(
        0, 6 - (positions[-1] - positions[0]) // step
    )  # pad short runs so that bars stay narrow
    return positions[0] - padding_bars * step / 2, positions[-1] + step + padding_bars * step / 2


def _time_axis(axes: Axes, content: ReportContent) -> None:
    """Label the x axis with the windows' times, or with batch numbers."""
    axes.set_xlim(_x_limits(content))
    positions = _positions(content.traffic, content)
    first, last = positions[0], positions[-1]
    count = min(4, (last - first) // content.windows_per_point)
    windows = sorted({first + (last - first) * n // max(count, 1) for n in range(count + 1)})
    length = content.summary.window
    if content.summary.by == "batch":
        axes.set_xlabel("batch")
        labels = [format_count(window * int(length)) for window in windows]
    else:
        times = [EPOCH + timedelta(seconds=window * length) for window in windows]
        labels = format_times(times)
        axes.set_xlabel(f"from {times[0]:%Y-%m-%d} on, UTC")
    # A time marks the start of a window; a batch number marks its middle.
    middle = content.windows_per_point * 0.45 if content.summary.by == "batch" else 0.0
    axes.set_xticks([window + middle for window in windows], labels)


def _use_integer_ticks(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_count(int(value))))
