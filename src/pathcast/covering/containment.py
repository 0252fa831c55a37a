"""Does one pattern cover another? The door: `covers(a, b)`.

    texts -> patterns -> twigs -> a mapping?             yes
                               -> models, one by one     yes, if every one is matched and no others need to be looked at
                                                         no, with the one that is not, cut down and judged by libxml2
                               -> neither                gave up, and why

A yes is always right, and so is a no. Both are found for all paths of `/ // *`, and for twigs with attributes, numbers and equalities as long
as there are no more than `effort` models; the question is coNP-complete. What is beyond (denials, places, counts, other tests of
strings, expressions that only libxml2 decides) gets a yes where a mapping shows it, a no where a likely document shows it, and
else neither.

>>> covers("//a", "/x/a[b]").answer
True
>>> verdict = covers("/x/a[b]", "//a")
>>> verdict.answer, verdict.witness
(False, b'<a/>')
>>> covers("//a[string-length(.) > 2]", "//a[lang('en')]").reason
'no mapping shows it, and no likely document speaks against it'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from pathcast.covering.homomorphism import maps, relaxed
from pathcast.covering.models import Models
from pathcast.covering.twig import Twig, twigs
from pathcast.covering.witness import Judge, built, smallest
from pathcast.pattern import Pattern, parse

__all__ = ["EFFORT", "Verdict", "covers"]

EFFORT = 2_000  # models looked at before giving up


@dataclass(frozen=True, slots=True)
class Verdict:
    """True only on a proven yes. `answer` is True, False (then there is a witness) or None (then `reason` says why)."""

    answer: bool | None
    witness: bytes | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.answer is True


def covers(
    wide: str | Pattern,
    narrow: str | Pattern,
    namespaces: Mapping[str, str] | None = None,
    *,
    effort: int = EFFORT,
) -> Verdict:
    """Whether every document that matches `narrow` matches `wide`; raises SubscriptionError."""
    above, below = (
        one if isinstance(one, Pattern) else parse(one, namespaces) for one in (wide, narrow)
    )
    wider, narrower = twigs(above), twigs(below)
    loose = [relaxed(one) for one in wider]
    left = [one for one in narrower if not any(maps(other, one) for other in loose)]
    if not left:
        return Verdict(True)
    return _by_models(above, below, wider, left, effort)


def _by_models(
    above: Pattern, below: Pattern, wider: tuple[Twig, ...], left: list[Twig], effort: int
) -> Verdict:
    judge = Judge(above, below)
    reason = ""
    for twig in left:
        models = Models(twig, wider)
        for model in islice(models, effort):
            if models.all and any(maps(one, model.twig()) for one in wider):
                continue
            root = built(model)
            witness = None if root is None else smallest(root, judge)
            if witness is not None:
                return Verdict(False, witness)
        if not models.all:
            reason = reason or "no mapping shows it, and no likely document speaks against it"
        elif models.count > effort:
            reason = (
                reason or f"there are {models.count:,} documents to look at, more than {effort:,}"
            )
    return Verdict(None, reason=reason) if reason else Verdict(True)
