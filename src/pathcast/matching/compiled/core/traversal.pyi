from typing import final

from pathcast.matching.compiled.core.lazy_dfa import LazyDfa
from pathcast.matching.compiled.core.nfa import CompiledNfa

@final
class Traversal:
    nfa: CompiledNfa
    dfa: LazyDfa
    def __init__(self, nfa: CompiledNfa, limit: int) -> None: ...
