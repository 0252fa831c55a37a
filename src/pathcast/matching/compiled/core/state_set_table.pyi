from pathcast.matching.compiled.core.nfa import CompiledNfa

class StateSetTable:
    nfa: CompiledNfa
