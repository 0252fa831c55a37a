from typing import final

from pathcast.matching.compiled.core.evaluator.joins import StepJoins
from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["ConditionProgram", "Evaluation"]

@final
class Evaluation(StepJoins):
    def holds(self, handle: int) -> bool: ...
