"""Valid documents from a DTD.

options -> what can stand where (elements, sizes, repeats) -> writers of tags and content (tags, plans, writers)
        -> a document that grows to its size (growth)
"""

from pathcast.generators.documents.generator import Documents, documents
from pathcast.generators.documents.options import DocumentOptions

__all__ = ["DocumentOptions", "Documents", "documents"]
