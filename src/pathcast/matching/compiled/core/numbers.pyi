"""Numbers as libxml2 reads them, from the bytes of a document."""

__all__ = ["number"]

def number(text: str) -> float: ...
