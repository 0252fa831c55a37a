"""Conditions compiled once, for the evaluation of any number of documents."""

from typing import final

from pathcast.xpath.tree import Condition

__all__ = ["ConditionProgram"]

@final
class ConditionProgram:
    """Conditions by number, ready to be evaluated."""
    def __len__(self) -> int:
        """How many distinct conditions there are, those inside others included."""
    def add(self, condition: Condition) -> int:
        """The number of a condition: a handle for evaluations. Equal conditions have one number."""
    @property
    def memory(self) -> int:
        """Bytes, roughly."""
