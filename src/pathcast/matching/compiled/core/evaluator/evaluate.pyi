"""Does a condition hold in this document? The twig join by region codes, on libxml2's own tree."""

from typing import final

from pathcast.matching.compiled.core.evaluator.joins import StepJoins
from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["ConditionProgram", "Evaluation"]

@final
class Evaluation(StepJoins):
    """Conditions on one document."""
    def holds(self, handle: int) -> bool:
        """Whether a condition holds at the document node."""
