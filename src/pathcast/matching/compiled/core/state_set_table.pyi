from typing import final

from pathcast.matching.compiled.core.nfa import CompiledNfa

@final
class StateSetTable:
    nfa: CompiledNfa
