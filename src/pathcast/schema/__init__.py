"""DTD -> element graph, recursion, root paths; can a pattern match any valid document?

text or file -> Schema (elements, content models, attributes, roots) -> Graph -> PathAutomaton
             -> satisfiable(pattern, schema): yes with a document, no with the step, or not known
"""

from pathcast.schema.catalog import Catalog
from pathcast.schema.graph import Graph
from pathcast.schema.model import (
    Attribute,
    AttributeType,
    Child,
    Choice,
    Content,
    ContentKind,
    Default,
    Element,
    Occurs,
    Sequence,
    names_of,
)
from pathcast.schema.paths import PathAutomaton, count_paths, root_paths
from pathcast.schema.reader import load_dtd, parse_dtd
from pathcast.schema.satisfiability import Satisfiability, satisfiable
from pathcast.schema.schema import Schema
from pathcast.schema.words import cheapest_word

__all__ = [
    "Attribute",
    "AttributeType",
    "Catalog",
    "Child",
    "Choice",
    "Content",
    "ContentKind",
    "Default",
    "Element",
    "Graph",
    "Occurs",
    "PathAutomaton",
    "Satisfiability",
    "Schema",
    "Sequence",
    "cheapest_word",
    "count_paths",
    "load_dtd",
    "names_of",
    "parse_dtd",
    "root_paths",
    "satisfiable",
]
