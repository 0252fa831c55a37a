"""Drawings of the element graph: DOT for Graphviz, or SVG with a layered layout of our own.

- `dot`: the edges of the graph with their occurrence, and DOT.
- `layers`: the layered layout.
- `svg`: the SVG.
"""

from pathcast.schema.drawing.dot import dot
from pathcast.schema.drawing.svg import svg

__all__ = ["dot", "svg"]
