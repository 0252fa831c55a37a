"""Inputs of the overlay benchmark: subscriptions per subscriber, documents, documents as paths.

Li 2008, section 5, "Network Traffic": 1,000 distinct XPEs per subscriber on PSD, and 50 documents
with 4,182 extracted paths. The bundled schema `protein` stands in for PSD. The paper leaves open
the probabilities of * and // and the minimal length; with 0.05, 0.05 and 4, about 96% of 5,000 are
covered (90% in the paper, whose table shrinks to 6%). The size of the documents is chosen so that
50 have about as many paths.
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
    "PublishedSet",
    "as_paths",
    "news_paths",
    "psd",
    "psd_documents",
    "psd_subscriptions",
    "whole_documents",
]

_DOCUMENT_BYTES = 2_510  # 50 documents then have about 4,200 paths

_OPTIONS = SubscriptionOptions(max_depth=10, min_depth=4, full=True, wildcard=0.05, descendant=0.05)


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """The documents to publish, each an id and a body."""

    name: str
    bodies: tuple[tuple[str, bytes], ...]


def psd() -> Schema:
    return bundled_schema("protein")


def psd_subscriptions(subscriber: int, count: int) -> list[str]:
    """Return distinct subscriptions for one subscriber; subscribers may share some."""
    drawn = subscriptions([psd()], _OPTIONS, seed=1_000 + subscriber, count=2 * count)
    distinct: dict[str, str] = {}
    for text in drawn:
        distinct.setdefault(parse(text).text, text)
        if len(distinct) == count:
            break
    return list(distinct.values())


def psd_documents(count: int) -> list[bytes]:
    options = DocumentOptions(max_depth=10, size=_DOCUMENT_BYTES)
    return list(documents(psd(), options, seed=7, count=count))


def _paths_of(body: bytes) -> Iterator[tuple[str, ...]]:
    """Yield each path from the root to a leaf, the unit that the paper routes."""
    root = etree.fromstring(body)
    for leaf in root.iter("*"):
        if not len(leaf):
            names = [str(leaf.tag), *(str(ancestor.tag) for ancestor in leaf.iterancestors())]
            yield tuple(reversed(names))


def _as_document(path: tuple[str, ...]) -> bytes:
    start_tags = "".join(f"<{name}>" for name in path[:-1])
    end_tags = "".join(f"</{name}>" for name in reversed(path[:-1]))
    return f"{start_tags}<{path[-1]}/>{end_tags}".encode()


def news_paths(count: int) -> list[tuple[str, ...]]:
    """Return distinct paths of documents like those of the preset li2008-a, in order."""
    paths: dict[tuple[str, ...], None] = {}
    generated = Documents(bundled_schema("news"), PRESETS["li2008-a"].documents, seed=7)
    number = 0
    while len(paths) < count:
        paths.update(dict.fromkeys(_paths_of(generated[number])))
        number += 1
    return list(paths)[:count]


def as_paths(bodies: list[bytes]) -> PublishedSet:
    documents = [
        (f"d{number}.{index}", _as_document(path))
        for number, body in enumerate(bodies, 1)
        for index, path in enumerate(_paths_of(body), 1)
    ]
    return PublishedSet("paths", tuple(documents))


def whole_documents(bodies: list[bytes]) -> PublishedSet:
    return PublishedSet("documents", tuple((f"d{n}", body) for n, body in enumerate(bodies, 1)))
