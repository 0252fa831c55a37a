"""A picture of an overlay: brokers, tables, links and traffic, as SVG.

    topology -> places of brokers (trees: layers or rings; graphs: stress)  \\
    run      -> facts: sizes of tables, bytes on links                      -> svg
"""

from __future__ import annotations

from pathlib import Path

from pathcast.sim.drawing.svg import draw
from pathcast.sim.simulation import Simulation

__all__ = ["draw", "write_picture"]


def write_picture(run: Simulation, path: Path) -> None:
    """Draw an overlay into a file; raises OSError."""
    path.write_text(draw(run), encoding="utf-8")
