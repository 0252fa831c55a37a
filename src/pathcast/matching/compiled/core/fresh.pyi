from collections.abc import Sequence

from pathcast.matching.compiled.core.automaton import Automaton
from pathcast.matching.compiled.core.labels import Paths

def fits(paths: Paths, number: int) -> bool: ...

class Fresh:
    words: int
    largest_number: int
    largest_hop: int
    def __init__(
        self, paths: Paths, numbers: Sequence[int], beside: Automaton | None = None
    ) -> None: ...
    @property
    def memory(self) -> int: ...

class FreshRun:
    def __init__(self) -> None: ...
