"""Generator of valid documents from a DTD.

    options -> elements that a document may use (usable_elements, expected_sizes, repeats)
            -> writers of tags and content (tags, writer_table, writers)
            -> a document that grows to its size (growth, generator)

- `options`: the options, checked.
- `generator`: `Documents`, the entry point.
- `usable_elements`: minimal heights and costs, and the recursion limit.
- `expected_sizes`: which parts are drawn at once, and which become growth points.
- `repeats`: exact numbers of repetitions.
- `tags`: pools of start tags; IDs and references.
- `writer_table`, `writers`: content models compiled to closures that write.
- `growth`: fills growth points until a document has its size.
"""

from pathcast.generators.documents.generator import Documents, documents
from pathcast.generators.documents.options import DocumentOptions

__all__ = ["DocumentOptions", "Documents", "documents"]
