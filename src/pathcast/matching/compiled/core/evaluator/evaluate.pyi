"""Does a condition hold in this document? The twig join by region codes, on libxml2's own tree."""

from typing import final

from pathcast.matching.compiled.core.evaluator.compiled import Conditions
from pathcast.matching.compiled.core.evaluator.joins import Joins

__all__ = ["Conditions", "Evaluation"]

@final
class Evaluation(Joins):
    """Conditions on one document."""
    def holds(self, handle: int) -> bool:
        """Whether a condition holds at the document node."""
