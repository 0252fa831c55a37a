"""Paths on one document: what does a step find, and from where does a path lead to something?"""

from typing import Self

from lxml import etree
from typing_extensions import disjoint_base

from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["StepJoins"]

@disjoint_base
class StepJoins:
    """Steps and paths on one document. `work` counts the nodes looked at."""

    def __new__(cls, conditions: ConditionProgram, root: etree._Element) -> Self: ...
    @property
    def work(self) -> int: ...
