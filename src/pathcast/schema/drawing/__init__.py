"""The element graph as a picture: DOT for Graphviz, or an SVG of our own, laid out in layers by depth."""

from pathcast.schema.drawing.dot import dot
from pathcast.schema.drawing.svg import svg

__all__ = ["dot", "svg"]
