from collections.abc import Sequence
from typing import final

from pathcast.matching.compiled.core.labels import LinearPaths
from pathcast.matching.compiled.core.nfa import CompiledNfa

def is_bit_parallel(paths: LinearPaths, number: int) -> bool: ...

@final
class BitParallelPaths:
    words: int
    largest_number: int
    largest_hop: int
    def __init__(
        self, paths: LinearPaths, numbers: Sequence[int], main_nfa: CompiledNfa | None = None
    ) -> None: ...
    @property
    def memory(self) -> int: ...

@final
class BitParallelTraversal:
    def __init__(self) -> None: ...
