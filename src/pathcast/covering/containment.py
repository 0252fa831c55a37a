"""Does one pattern cover another? The door: `covers(a, b)`.

    texts -> patterns -> twigs -> a mapping?             yes
                               -> models, one by one     yes, if every one is matched and no others need to be looked at
                                                         no, with the one that is not, cut down and judged by libxml2
                               -> neither                gave up, and why

A yes is always right, and so is a no. Both are found for all paths of `/ // *`, and for twigs with attributes, numbers and equalities as long
as there are no more than `effort` models; the question is coNP-complete. What is beyond (denials, places, counts, other tests of
strings, expressions that only libxml2 decides) gets a yes where a mapping shows it, a no where a likely document shows it (or one
that has what the wide pattern denies: `denials`), and else neither.

With a `dtd` only its valid documents count (`covering/valid`), and the witness is one of them:

    a mapping, from the twigs as they are or from what the DTD makes of them              yes
    the DTD without the documents of the wide pattern -> none of the narrow one is left   yes
                                                      -> one is left                      no, if it is judged so
    models, without regard to the DTD                                                     yes, if they say so; else neither

That decides all pairs of paths, and of twigs of elements and attributes up to bounds of work that are far away.

>>> covers("//a", "/x/a[b]").answer
True
>>> verdict = covers("/x/a[b]", "//a")
>>> verdict.answer, verdict.witness
(False, b'<a/>')
>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd("<!ELEMENT book (title, author)> <!ELEMENT title (#PCDATA)> <!ELEMENT author (#PCDATA)>")
>>> covers("/book/title", "//author", dtd=book).answer
True
>>> covers("//a[string-length(.) > 2]", "//a[lang('en')]").reason
'no mapping shows it, and no likely document speaks graft_negations it'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from pathcast.covering.canonical_models import Models
from pathcast.covering.homomorphism import has_homomorphism, relax_wildcards
from pathcast.covering.negation_witnesses import graft_negations
from pathcast.covering.to_twigs import twigs
from pathcast.covering.twig import Twig
from pathcast.covering.under_dtd import (
    ValidWitnessChecker,
    chase,
    dtd_difference,
    examples,
    minimize_valid,
    substitute_values,
)
from pathcast.covering.witness import WitnessChecker, build_document, minimize
from pathcast.schema import Schema, satisfiable
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.xpath import Pattern, parse

__all__ = ["EFFORT", "Verdict", "covers"]

EFFORT = 2_000  # models looked at before giving up
_LIKELY = 50  # of each pattern that has what the other denies


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
    dtd: Schema | None = None,
    effort: int = EFFORT,
) -> Verdict:
    """Whether every document (valid under the DTD, if there is one) that matches `narrow` matches `wide`.

    Raises SubscriptionError.
    """
    above, below = (
        one if isinstance(one, Pattern) else parse(one, namespaces) for one in (wide, narrow)
    )
    wider, narrower = twigs(above), twigs(below)
    loose = [relax_wildcards(one) for one in wider]
    left = [one for one in narrower if not any(has_homomorphism(other, one) for other in loose)]
    if not left:
        return Verdict(True)
    if dtd is not None:
        return _among_valid(dtd, above, below, wider, left, effort)
    return _by_models(above, below, wider, left, effort)


def _among_valid(
    schema: Schema,
    above: Pattern,
    below: Pattern,
    wider: tuple[Twig, ...],
    left: list[Twig],
    effort: int,
) -> Verdict:
    loose = [relax_wildcards(one) for one in wider]
    levels = max((len(one) for one in wider), default=0)
    known = [chase(one, schema, levels) for one in left]
    if all(one is None or any(has_homomorphism(other, one) for other in loose) for one in known):
        return Verdict(True)
    reason = "no mapping shows it, and no likely document that is valid speaks graft_negations it"
    try:
        found = examples(below, dtd_difference(schema, loose))
    except SearchLimitExceeded as error:
        reason = str(error)
        plain = satisfiable(below, schema)
        found = None if plain.answer is False else iter([plain.example] if plain.example else [])
    if found is None:
        return Verdict(True)
    judge = ValidWitnessChecker(schema, above, below)
    tried = []
    for body in found:
        witness = minimize_valid(body, judge)
        if witness is not None:
            return Verdict(False, witness)
        tried.append(body)
    anyhow = _by_models(above, below, wider, left, effort)
    if anyhow.witness is not None:  # perhaps it has the value that makes the difference
        for body in (other for one in tried for other in substitute_values(one, anyhow.witness)):
            witness = minimize_valid(body, judge)
            if witness is not None:
                return Verdict(False, witness)
    return anyhow or Verdict(None, reason=reason)


def _by_models(
    above: Pattern, below: Pattern, wider: tuple[Twig, ...], left: list[Twig], effort: int
) -> Verdict:
    judge = WitnessChecker(above, below)
    reason = ""
    for twig in left:
        models = Models(twig, wider)
        for model in islice(models, effort):
            if models.all and any(has_homomorphism(one, model.twig()) for one in wider):
                continue
            root = build_document(model)
            witness = None if root is None else minimize(root, judge)
            if witness is not None:
                return Verdict(False, witness)
            if (
                models.all
            ):  # it speaks graft_negations it, but libxml2 does not read it, or not like that
                reason = "a document that speaks graft_negations it cannot be written"
        if not models.all:
            witness = _by_denials(twig, wider, judge)
            if witness is not None:
                return Verdict(False, witness)
            reason = (
                reason or "no mapping shows it, and no likely document speaks graft_negations it"
            )
        elif models.count > effort:
            reason = (
                reason or f"there are {models.count:,} documents to look at, more than {effort:,}"
            )
    return Verdict(None, reason=reason) if reason else Verdict(True)


def _by_denials(twig: Twig, wider: tuple[Twig, ...], judge: WitnessChecker) -> bytes | None:
    """A witness that has what the wide pattern denies, if a likely document is one."""
    for one in graft_negations(twig, wider):
        for model in islice(Models(one, wider), _LIKELY):
            root = build_document(model)
            witness = None if root is None else minimize(root, judge)
            if witness is not None:
                return witness
    return None
