"""The six routing strategies of Li, Hou and Jacobsen (2008, section 5), freely combined from three switches.

    no-Adv-no-Cov            subscriptions are told to every broker
    no-Adv-with-Cov          ... unless another one that was told covers them
    with-Adv-no-Cov          subscriptions are told towards publishers whose advertisement they overlap
    with-Adv-with-Cov        both
    with-Adv-with-CovPM      and merged, as long as nothing is let through in vain
    with-Adv-with-CovIPM(D)  and merged, as long as at most the share D of what a merger lets through is in vain

Without advertisements every broker makes itself known as one that may publish anything: trees are needed all the same.

Equal subscriptions are one in every strategy: a pattern that has been told to a neighbour is not told again for another subscriber.

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
    """`limit` is the imperfect degree that a merger may have; None: nothing is merged."""

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
        """Whether a document crosses a link only if somebody beyond wants it."""
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
    r"(?P<adv>no|with)-Adv-(?:(?P<cov>no|with)-Cov|with-Cov(?P<pm>PM|IPM(?:\((?P<degree>[0-9.]+)\))?))",
    re.IGNORECASE,
)


def strategy(name: str) -> Strategy:
    """The strategy of this name; raises RoutingError."""
    found = _NAME.fullmatch(name)
    if found is None:
        hint = f"one of {', '.join(STRATEGIES)}"
        raise RoutingError("strategy", f"there is no strategy {name!r}", hint=hint)
    advertisements = found["adv"].lower() == "with"
    if found["pm"] is None:
        return Strategy(advertisements, found["cov"].lower() == "with")
    if found["pm"].upper() == "PM":
        return Strategy(advertisements, True, Fraction(0))
    degree = Fraction(found["degree"] or "0.1")
    if not 0 < degree < 1:
        raise RoutingError("strategy", f"a degree lies between 0 and 1, unlike that of {name!r}")
    return Strategy(advertisements, True, degree)
