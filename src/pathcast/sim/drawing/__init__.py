"""Draws an overlay as SVG: brokers, tables, links and traffic.

    topology   -> layout: positions of brokers  \\
    simulation -> facts: table sizes, traffic    -> svg

trees    layouts of trees: layers and rings
graphs   layout of graphs with cycles: stress majorization
layout   chooses a layout and the size of brokers
facts    the numbers and texts that the picture shows
labels   room for labels without overlaps
parts    the SVG of a link, a label, a broker
legend   the SVG of the legend
svg      the whole picture
"""

from __future__ import annotations

from pathlib import Path

from pathcast.sim.drawing.svg import draw
from pathcast.sim.simulation import Simulation

__all__ = ["draw", "write_picture"]


def write_picture(run: Simulation, path: Path) -> None:
    """Draw an overlay into a file; raise OSError."""
    path.write_text(draw(run), encoding="utf-8")
