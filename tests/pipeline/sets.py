"""Sets of subscriptions and documents on which all ways to match must agree, and the plainest of these ways."""

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
    """The cases of the conformance suite, by their places in it."""
    return {
        f"{path.stem} {number}": case
        for path in sorted(CONFORMANCE.glob("*.toml"))
        for number, case in enumerate(tomllib.loads(path.read_text("utf-8")).get("case", ()))
    }


def admitted(subscriptions: Iterable[Subscription]) -> list[Subscription]:
    """Without the expensive ones."""
    found = []
    for one in subscriptions:
        try:
            Matcher().add(one.id, one.xpath, one.namespaces)
        except SubscriptionError as error:
            if error.kind != "expensive":
                raise
        else:
            found.append(one)
    return found


def by_matcher(
    subscriptions: Iterable[Subscription], bodies: Mapping[str, bytes | None]
) -> dict[str, frozenset[str]]:
    matcher = Matcher()
    matcher.add_many((one.id, one.xpath, one.namespaces) for one in subscriptions)
    found = {}
    for id, body in bodies.items():
        try:
            found[id] = frozenset(map(str, matcher.match(body or b"")))
        except DocumentError:
            found[id] = frozenset()
    return found
