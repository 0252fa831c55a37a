from typing import final

from pathcast.xpath.tree import Condition

__all__ = ["ConditionProgram"]

@final
class ConditionProgram:
    def __len__(self) -> int: ...
    def add(self, condition: Condition) -> int: ...
    @property
    def memory(self) -> int: ...
