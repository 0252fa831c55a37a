"""The nodes of one document, numbered straight from libxml2's tree."""

from lxml import etree

__all__ = ["number_document"]

def number_document(root: etree._Element) -> list[tuple[int, int, int, str]]:
    """The nodes of root's document: kind, parent, right and string-value of each."""
