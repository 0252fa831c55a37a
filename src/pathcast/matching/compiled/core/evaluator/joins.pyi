"""Paths on one document: what does a step find, and from where does a path lead to something?"""

from typing import Self

from lxml import etree
from typing_extensions import disjoint_base

from pathcast.matching.compiled.core.evaluator.compiled import Conditions

__all__ = ["Joins"]

@disjoint_base
class Joins:
    """Steps and paths on one document. `work` counts the nodes looked at."""

    def __new__(cls, conditions: Conditions, root: etree._Element) -> Self: ...
    @property
    def work(self) -> int: ...
