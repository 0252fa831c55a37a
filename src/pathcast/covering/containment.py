"""Containment of two patterns: `covers(wide, narrow)` returns a `Verdict`.

    texts -> patterns -> twigs -> homomorphism?         yes
                               -> canonical models      yes, if they are complete and all match
                                                        no, with one that does not, minimised
                               -> otherwise             undecided, with the reason

Yes and no are always right; a no has a witness that libxml2 has checked. Linear paths over `/ // *`
are always decided. So are twigs with attributes, numbers and equalities, as long as they have at
most `effort` models: the problem is coNP-complete. Beyond that fragment (negations, positions,
counts, other string tests, residuals) a homomorphism proves a yes, and a likely document disproves
it, or one that contains what the wide pattern negates (`negation_witnesses`).

With a `dtd` only its valid documents count (`under_dtd`), and the witness is one of them:

    homomorphism onto the twigs, or onto their chase by the DTD    yes
    DTD minus the wide pattern's documents,
        in which the narrow pattern is unsatisfiable               yes
        in which it is satisfiable                                 no, if an example is a witness
    canonical models, regardless of the DTD                        yes, else undecided

This decides all pairs of linear paths, and twigs of elements and attributes up to large bounds.

Every search spends steps of a work budget (`pathcast.budget`). Beyond it the answer is undecided,
unless a witness was found already: then minimising it ends.

>>> covers("//a", "/x/a[b]").answer
True
>>> verdict = covers("/x/a[b]", "//a")
>>> verdict.answer, verdict.witness
(False, b'<a/>')
>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd('''<!ELEMENT book (title, author)> <!ELEMENT title (#PCDATA)>
...     <!ELEMENT author (#PCDATA)>''')
>>> covers("/book/title", "//author", dtd=book).answer
True
>>> covers("//a[string-length(.) > 2]", "//a[lang('en')]").reason
'no mapping shows it, and no likely document speaks against it'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.canonical_models import CanonicalModels
from pathcast.covering.homomorphism import Implications, has_homomorphism, relax_wildcards
from pathcast.covering.negation_witnesses import graft_negations
from pathcast.covering.to_twigs import to_twigs
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
from pathcast.schema.satisfiability.example import MAX_DEPTH
from pathcast.xpath import Pattern, parse

__all__ = ["EFFORT", "Verdict", "covers"]

EFFORT = 2_000  # canonical models to check before giving up
_GRAFTED_MODELS = 50  # models to check of each twig with a grafted negation


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a containment question; true only on a proven yes.

    `answer` is True, False (then `witness` is a document) or None (then `reason` says why).
    """

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
    budget: WorkBudget | None = None,
) -> Verdict:
    """Return whether every document that matches `narrow` matches `wide`.

    With a `dtd`, only documents that are valid under it count. The answer is None if it takes more
    steps than the budget has, by default `DEFAULT_STEPS`. Raises SubscriptionError.
    """
    above, below = (
        text if isinstance(text, Pattern) else parse(text, namespaces) for text in (wide, narrow)
    )
    budget = WorkBudget() if budget is None else budget
    question = _Question(above, below, effort, budget, Implications(budget))
    try:
        return question.decide(dtd)
    except BudgetExceeded as error:
        return Verdict(None, reason=str(error))


@dataclass(frozen=True, slots=True)
class _Question:
    """A containment question, and the bounds of its search."""

    above: Pattern
    below: Pattern
    effort: int
    budget: WorkBudget
    implications: Implications

    def decide(self, schema: Schema | None) -> Verdict:
        """Return the verdict; raise BudgetExceeded."""
        self.budget.spend(1)
        wide_twigs, narrow_twigs = (
            to_twigs(pattern, self.budget) for pattern in (self.above, self.below)
        )
        relaxed = [relax_wildcards(twig) for twig in wide_twigs]
        open_twigs = [twig for twig in narrow_twigs if not self._maps(relaxed, twig)]
        if not open_twigs:
            return Verdict(True)
        if schema is not None:
            return self._among_valid(schema, wide_twigs, open_twigs)
        return self._by_models(wide_twigs, open_twigs)

    def _maps(self, wide: Sequence[Twig], narrow: Twig) -> bool:
        return any(has_homomorphism(twig, narrow, self.implications) for twig in wide)

    def _among_valid(
        self, schema: Schema, wide_twigs: tuple[Twig, ...], open_twigs: list[Twig]
    ) -> Verdict:
        budget = self.budget
        relaxed = [relax_wildcards(twig) for twig in wide_twigs]
        levels = max((len(twig) for twig in wide_twigs), default=0)
        chased = [chase(twig, schema, levels, budget) for twig in open_twigs]
        if all(twig is None or self._maps(relaxed, twig) for twig in chased):
            return Verdict(True)
        reason = "no mapping shows it, and no likely document that is valid speaks against it"
        try:
            bodies = examples(self.below, dtd_difference(schema, relaxed, budget), budget)
        except SearchLimitExceeded as error:
            reason = str(error)
            plain = satisfiable(self.below, schema, budget=budget)
            likely = [plain.example] if plain.example else []
            bodies = None if plain.answer is False else iter(likely)
        if bodies is None:
            return Verdict(True)
        checker = ValidWitnessChecker(schema, self.above, self.below, budget)
        tried = []
        for body in bodies:
            witness = minimize_valid(body, checker)
            if witness is not None:
                return Verdict(False, witness)
            tried.append(body)
        without_dtd = self._by_models(wide_twigs, open_twigs)
        if without_dtd.witness is not None:  # it may contain the value that makes the difference
            for body in tried:
                for substituted in substitute_values(body, without_dtd.witness):
                    witness = minimize_valid(substituted, checker)
                    if witness is not None:
                        return Verdict(False, witness)
        return without_dtd or Verdict(None, reason=reason)

    def _by_models(self, wide_twigs: tuple[Twig, ...], open_twigs: list[Twig]) -> Verdict:
        checker = WitnessChecker(self.above, self.below, self.budget)
        reason = ""
        for twig in open_twigs:
            if twig.height > MAX_DEPTH:  # so is every document that matches it
                reason = "a document that speaks against it cannot be written"
                continue
            models = CanonicalModels(twig, wide_twigs, self.budget)
            for model in islice(models, self.effort):
                if models.complete and self._maps(wide_twigs, model.twig()):
                    continue
                root = build_document(model)
                witness = None if root is None else minimize(root, checker)
                if witness is not None:
                    return Verdict(False, witness)
                if models.complete:  # libxml2 cannot read the counterexample, or reads it otherwise
                    reason = "a document that speaks against it cannot be written"
            if not models.complete:
                witness = self._by_negations(twig, wide_twigs, checker)
                if witness is not None:
                    return Verdict(False, witness)
                reason = reason or "no mapping shows it, and no likely document speaks against it"
            elif models.count > self.effort:
                reason = reason or (
                    f"there are {models.count:,} documents to look at, more than {self.effort:,}"
                )
        return Verdict(None, reason=reason) if reason else Verdict(True)

    def _by_negations(
        self, twig: Twig, wide_twigs: tuple[Twig, ...], checker: WitnessChecker
    ) -> bytes | None:
        """Return a witness with what the wide pattern negates, if a likely document is one."""
        for grafted in graft_negations(twig, wide_twigs, self.budget):
            models = CanonicalModels(grafted, wide_twigs, self.budget)
            for model in islice(models, _GRAFTED_MODELS):
                root = build_document(model)
                witness = None if root is None else minimize(root, checker)
                if witness is not None:
                    return witness
        return None
