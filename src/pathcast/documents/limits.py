"""Limits on the size of a document.

Publishers are untrusted, so every dimension of a document has a limit. A document that exceeds one
is a `DocumentError` with the limit's name as its kind (`attributes` for `attributes_total`). All
limits may be lowered. All except `depth` may be raised: libxml2 stops at 256 levels unless its
other safeguards are disabled as well.

libxml2 adds limits of its own (kind `limit` or `amplification`): 10,000,000 bytes for one text,
attribute, comment or processing instruction, and 50,000 for a name. Entities that expand to more
than 1,000,000 bytes may expand to at most five times the input.

>>> Limits(depth=20).depth
20
>>> Limits(depth=1000)
Traceback (most recent call last):
...
ValueError: depth must be from 1 to 256, not 1000
"""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["MAX_DEPTH", "MAX_DOCTYPE_BYTES", "Limits"]

MAX_DEPTH = 256
"""The maximum depth of libxml2."""

MAX_DOCTYPE_BYTES = 1024 * 1024
"""Limit on a DOCTYPE with its internal subset (kind `limit`): it takes 25 times that in memory."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum of each dimension of a document."""

    size: int = 64 * 1024 * 1024
    """Bytes of the document."""
    depth: int = MAX_DEPTH
    """Nesting of elements; the root element has depth 1."""
    attributes: int = 1_000
    """Attributes of one element, and separately its namespace declarations."""
    elements: int = 1_000_000
    """Elements, comments and processing instructions, together."""
    attributes_total: int = 2_000_000
    """Attributes and namespace declarations of all elements, together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "depth" and not 1 <= value <= MAX_DEPTH:
                raise ValueError(f"depth must be from 1 to {MAX_DEPTH}, not {value}")
            if value < 1:
                raise ValueError(f"{field.name} must be at least 1, not {value}")
