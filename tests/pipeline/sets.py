"""Subscriptions and documents on which all ways of matching must agree, and a plain reference."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pathcast import Matcher
from pathcast.errors import DocumentError, SubscriptionError
from pathcast.files import Subscription

CONFORMANCE = Path(__file__).parents[1] / "conformance"


def conformance() -> dict[str, dict[str, Any]]:
    """Return the cases of the conformance suite by file and number."""
    return {
        f"{path.stem} {number}": case
        for path in sorted(CONFORMANCE.glob("*.toml"))
        for number, case in enumerate(tomllib.loads(path.read_text("utf-8")).get("case", ()))
    }


def without_expensive(subscriptions: Iterable[Subscription]) -> list[Subscription]:
    """Return the subscriptions that are not expensive."""
    accepted = []
    for subscription in subscriptions:
        try:
            Matcher().add(subscription.id, subscription.xpath, subscription.namespaces)
        except SubscriptionError as error:
            if error.kind != "expensive":
                raise
        else:
            accepted.append(subscription)
    return accepted


def by_matcher(
    subscriptions: Iterable[Subscription], bodies: Mapping[str, bytes | None]
) -> dict[str, frozenset[str]]:
    matcher = Matcher()
    matcher.add_many(
        (subscription.id, subscription.xpath, subscription.namespaces)
        for subscription in subscriptions
    )
    matches = {}
    for id, body in bodies.items():
        try:
            matches[id] = frozenset(map(str, matcher.match(body or b"")))
        except DocumentError:
            matches[id] = frozenset()
    return matches
