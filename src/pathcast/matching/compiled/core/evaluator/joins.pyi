from typing import Self

from lxml import etree
from typing_extensions import disjoint_base

from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["StepJoins"]

@disjoint_base
class StepJoins:
    def __new__(cls, conditions: ConditionProgram, root: etree._Element) -> Self: ...
    @property
    def work(self) -> int: ...
