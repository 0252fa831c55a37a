"""Valid documents from a DTD.

options -> what can stand where (elements, sizes, repeats) -> writers of tags and content (tags, plans, writers)
        -> a document that grows to its size (growth)
"""

from pathcast.workload.documents.generator import Documents, documents
from pathcast.workload.documents.options import DocumentOptions

__all__ = ["DocumentOptions", "Documents", "documents"]
