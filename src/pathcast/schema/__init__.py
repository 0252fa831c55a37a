"""DTDs: element graph, root paths, and satisfiability of patterns in valid documents.

    text or file -> Schema (elements, content models, attributes, roots) -> ElementGraph
                 -> PathAutomaton
                 -> satisfiable(pattern, schema): yes with a document, no with the step, or unknown

- `model`: elements, content models and attributes as frozen values.
- `reader`, `catalog`: from the text or file of a DTD to a `Schema`, without access to other files.
- `schema`: the `Schema`, its roots and its validator.
- `graph`, `paths`: the element graph, and the automaton of root paths.
- `glushkov`, `words`: content models as automata, and the cheapest word with given children.
- `summary`, `drawing`: figures of a schema, and its element graph as DOT or SVG.
- `satisfiability`: can a valid document match a pattern?
- `similar_names`: suggestions for misspelt names.
"""

from pathcast.schema.catalog import Catalog
from pathcast.schema.graph import ElementGraph
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
    "ElementGraph",
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
