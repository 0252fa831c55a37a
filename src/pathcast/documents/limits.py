"""How much of a document is too much.

A publisher may send anything, so every dimension in which a document can grow has a limit, and passing
it is a `DocumentError` whose kind is the limit's name (`attributes_total` counts as `attributes`).
All may be set lower. All may be set higher but `depth`: libxml2 itself stops at 256 levels unless its
other safeguards are given up as well.

libxml2 adds limits of its own (kind `limit` or `amplification`): 10,000,000 bytes for one text,
attribute, comment or processing instruction, 50,000 for a name, and entities that make more than
1,000,000 bytes may make no more than five times of what was read.

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
"""The depth at which libxml2 gives up."""

MAX_DOCTYPE_BYTES = 1024 * 1024
"""How long a DOCTYPE may be, its internal subset included (kind `limit`): it takes 25 times that."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may have at most."""

    size: int = 64 * 1024 * 1024
    """Bytes."""
    depth: int = MAX_DEPTH
    """Elements inside one another; the root element alone is depth 1."""
    attributes: int = 1_000
    """Attributes of one element; its namespace declarations may be as many again."""
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
