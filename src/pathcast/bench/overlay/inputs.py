"""What goes into the overlay's benchmarks: subscriptions for each subscriber, documents, and documents as paths.

Li, Hou and Jacobsen (2008, section 5, "Network Traffic"): 1,000 distinct XPEs for each subscriber on PSD, 50 documents of which 4,182 paths are extracted. Our schema
`protein` stands for PSD. What they leave open, and what we do: the chances of * and // and the least length (0.05, 0.05, 4: then of 5,000 some 96% are
covered, of theirs 90%, and their table is reduced to 6%), and the documents' size (such that 50 have about as many paths).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents, documents
from pathcast.generators.presets import PRESETS
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.schema import Schema
from pathcast.xpath import parse

__all__ = [
    "Publications",
    "as_paths",
    "news_paths",
    "psd",
    "psd_documents",
    "psd_subscriptions",
    "whole",
]

_SIZE = 2_510  # bytes of a document; 50 of them have some 4,200 paths

_OPTIONS = SubscriptionOptions(max_depth=10, min_depth=4, full=True, wildcard=0.05, descendant=0.05)


@dataclass(frozen=True, slots=True)
class Publications:
    """What is published: an id and a body each."""

    name: str
    bodies: tuple[tuple[str, bytes], ...]


def psd() -> Schema:
    return bundled_schema("protein")


def psd_subscriptions(subscriber: int, count: int) -> list[str]:
    """Different ones for one subscriber; another subscriber may have some of them too."""
    drawn = subscriptions([psd()], _OPTIONS, seed=1_000 + subscriber, count=2 * count)
    found: dict[str, str] = {}
    for text in drawn:
        found.setdefault(parse(text).text, text)
        if len(found) == count:
            break
    return list(found.values())


def psd_documents(count: int) -> list[bytes]:
    options = DocumentOptions(max_depth=10, size=_SIZE)
    return list(documents(psd(), options, seed=7, count=count))


def _paths_of(body: bytes) -> Iterator[tuple[str, ...]]:
    """Each path from the root to a leaf, as the paper routes them."""
    root = etree.fromstring(body)
    for leaf in root.iter("*"):
        if not len(leaf):
            names = [str(leaf.tag), *(str(one.tag) for one in leaf.iterancestors())]
            yield tuple(reversed(names))


def _as_document(path: tuple[str, ...]) -> bytes:
    opened = "".join(f"<{name}>" for name in path[:-1])
    closed = "".join(f"</{name}>" for name in reversed(path[:-1]))
    return f"{opened}<{path[-1]}/>{closed}".encode()


def news_paths(count: int) -> list[tuple[str, ...]]:
    """Different paths of documents like those of the preset li2008-a, in the order of coming."""
    found: dict[tuple[str, ...], None] = {}
    made = Documents(bundled_schema("news"), PRESETS["li2008-a"].documents, seed=7)
    number = 0
    while len(found) < count:
        found.update(dict.fromkeys(_paths_of(made[number])))
        number += 1
    return list(found)[:count]


def as_paths(bodies: list[bytes]) -> Publications:
    found = [
        (f"d{number}.{place}", _as_document(path))
        for number, body in enumerate(bodies, 1)
        for place, path in enumerate(_paths_of(body), 1)
    ]
    return Publications("paths", tuple(found))


def whole(bodies: list[bytes]) -> Publications:
    return Publications("documents", tuple((f"d{n}", body) for n, body in enumerate(bodies, 1)))
