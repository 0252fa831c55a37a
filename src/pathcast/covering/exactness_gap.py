"""The exactness gap of an aggregate: roots that exact containment would hide.

An aggregate decides covering by homomorphisms, which are fast and can be indexed but incomplete
(see `homomorphism`). This module counts the roots for which `covers` would find more. A pattern
can cover another only if the other has all its features (names, pairs of adjacent names, equality
constants): otherwise a canonical model of the other lacks one. So a feature index supplies the
candidates, and each is decided as in `containment`, but without a witness:

    homomorphism from the relaxed form   covered
    two linear paths                     not covered: relaxed homomorphisms decide these
    canonical models, at most `effort`   covered if all match, not covered if one does not
    otherwise                            undecided

>>> from pathcast.xpath import parse
>>> exactness_gap([parse(text) for text in ("/a/*//*/d", "/a//b/c/d", "/x[@y > 1]")])
ExactnessGap(covered=1, undecided=0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.canonical_models import CanonicalModels
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.homomorphism import Implications, has_homomorphism, relax_wildcards
from pathcast.covering.index_registry import feature_index
from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.to_twigs import to_twigs
from pathcast.covering.twig import Twig
from pathcast.xpath import Pattern

__all__ = ["ExactnessGap", "exactness_gap"]


@dataclass(frozen=True, slots=True)
class ExactnessGap:
    """How many patterns exact containment finds covered, and how many it could not decide."""

    covered: int
    undecided: int


def exactness_gap(patterns: Sequence[Pattern], effort: int = 200) -> ExactnessGap:
    """Count the patterns that another covers; of two equivalent ones only the second counts."""
    encoder = TwigEncoder()
    index = feature_index(encoder.labels)
    forms = [_PatternForms(pattern, encoder) for pattern in patterns]
    for key, form in enumerate(forms):
        index.add(key, form.encoded)
    containment = _ExactContainment(HomomorphismTest(encoder.labels), effort)
    covered = undecided = 0
    for key, form in enumerate(forms):
        answers = set()
        for other in sorted(index.may_cover(form.encoded) - {key}):
            answer = containment.covers(forms[other], form)
            if answer and other > key and containment.covers(form, forms[other]):
                answer = False  # they are equivalent
            answers.add(answer)
            if answer:
                break
        covered += True in answers
        undecided += True not in answers and None in answers
    return ExactnessGap(covered, undecided)


class _PatternForms:
    """A pattern with the representations that containment needs."""

    def __init__(self, pattern: Pattern, encoder: TwigEncoder) -> None:
        self._encoder = encoder
        self.twigs = to_twigs(pattern)
        self.encoded = encoder.encode(pattern)

    @cached_property
    def relaxed_twigs(self) -> list[EncodedTwig]:
        return [self._encoder.encode_twig(relax_wildcards(twig)) for twig in self.twigs]

    @cached_property
    def is_linear(self) -> bool:
        return len(self.twigs) == 1 and _is_linear(self.twigs[0])


def _is_linear(twig: Twig) -> bool:
    return all(len(children) < 2 for children in twig.children) and all(
        isinstance(label, NameLabel) and label.kind in (LabelKind.ROOT, LabelKind.ELEMENT)
        for label in twig.labels
    )


@dataclass(frozen=True, slots=True)
class _ExactContainment:
    """Containment by homomorphisms and complete sets of canonical models, without witnesses."""

    homomorphism: HomomorphismTest
    effort: int

    def covers(self, wide: _PatternForms, narrow: _PatternForms) -> bool | None:
        if self.homomorphism.covers(wide.relaxed_twigs, narrow.encoded):
            return True
        if wide.is_linear and narrow.is_linear:
            return False
        answers = {self._matches_all_models(wide.twigs, twig) for twig in narrow.twigs}
        return False if False in answers else None if None in answers else True

    def _matches_all_models(self, wide: Sequence[Twig], narrow: Twig) -> bool | None:
        implications = Implications(WorkBudget())
        try:
            models = CanonicalModels(narrow, wide, implications.budget)
            if not models.complete:
                return None
            for model in islice(models, self.effort):
                document = model.twig()
                if not any(has_homomorphism(twig, document, implications) for twig in wide):
                    return False
        except BudgetExceeded:
            return None
        return None if models.count > self.effort else True
