from typing import final

from pathcast.matching.compiled.core.nfa import CompiledNfa
from pathcast.matching.compiled.core.path_table import PathTable
from pathcast.matching.compiled.core.state_set_table import StateSetTable

@final
class LazyDfa:
    nfa: CompiledNfa
    paths: PathTable
    sets: StateSetTable
    limit: int
    hits: int
    misses: int
    flushes: int
    work: int
    def __init__(self, nfa: CompiledNfa, limit: int = -1) -> None: ...
    def __len__(self) -> int: ...
    @property
    def memory(self) -> int: ...
