from lxml import etree

__all__ = ["number_document"]

def number_document(root: etree._Element) -> list[tuple[int, int, int, str]]: ...
