from typing import final

from pathcast.matching.compiled.core.pattern_reader import PatternReader
from pathcast.xpath.tree import Condition

@final
class PlannedReader(PatternReader):
    def plan(self) -> list[tuple[str, object]]: ...
    def linear_path(self) -> tuple[int, ...] | None: ...
    def condition(self) -> Condition: ...
