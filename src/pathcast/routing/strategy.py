"""The six routing strategies of Li, Hou and Jacobsen (2008, section 5), as three switches.

    no-Adv-no-Cov            subscriptions are flooded to every broker
    no-Adv-with-Cov          ... unless a subscription that covers them was sent
    with-Adv-no-Cov          subscriptions go towards publishers whose advertisement they overlap
    with-Adv-with-Cov        both
    with-Adv-with-CovPM      with perfect merging: mergers cause no wasted crossings
    with-Adv-with-CovIPM(D)  with imperfect merging: the imperfect degree of a merger is at most D

Without advertisements every broker announces itself as a publisher of any document, because routing
needs the trees in every strategy. Equal subscriptions are always one: a broker sends a pattern to a
neighbour once, however many subscribers have it.

>>> strategy("with-Adv-with-CovIPM(0.1)").limit
Fraction(1, 10)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from pathcast.errors import RoutingError

__all__ = ["STRATEGIES", "Strategy", "strategy"]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A routing strategy; `limit` bounds the imperfect degree of mergers, None: no merging."""

    advertisements: bool = True
    covering: bool = True
    limit: Fraction | None = None

    def __str__(self) -> str:
        name = f"{'with' if self.advertisements else 'no'}-Adv-"
        if self.limit is None:
            return name + ("with-Cov" if self.covering else "no-Cov")
        return name + ("with-CovIPM" + f"({float(self.limit):g})" if self.limit else "with-CovPM")

    @property
    def exact(self) -> bool:
        """Whether routing is perfect: no document crosses a link without a match beyond it."""
        return not self.limit


STRATEGIES = (
    "no-Adv-no-Cov",
    "no-Adv-with-Cov",
    "with-Adv-no-Cov",
    "with-Adv-with-Cov",
    "with-Adv-with-CovPM",
    "with-Adv-with-CovIPM(0.1)",
)

_NAME = re.compile(
    r"(?P<adv>no|with)-Adv-"
    r"(?:(?P<cov>no|with)-Cov|with-Cov(?P<pm>PM|IPM(?:\((?P<degree>[0-9.]+)\))?))",
    re.IGNORECASE,
)


def strategy(name: str) -> Strategy:
    """Return the strategy of a name; raise RoutingError."""
    name_match = _NAME.fullmatch(name)
    if name_match is None:
        hint = f"one of {', '.join(STRATEGIES)}"
        raise RoutingError("strategy", f"there is no strategy {name!r}", hint=hint)
    advertisements = name_match["adv"].lower() == "with"
    if name_match["pm"] is None:
        return Strategy(advertisements, name_match["cov"].lower() == "with")
    if name_match["pm"].upper() == "PM":
        return Strategy(advertisements, True, Fraction(0))
    degree = Fraction(name_match["degree"] or "0.1")
    if not 0 < degree < 1:
        raise RoutingError("strategy", f"a degree lies between 0 and 1, unlike that of {name!r}")
    return Strategy(advertisements, True, degree)
