from pathcast.matching.core.automaton import Automaton

class Memo:
    automaton: Automaton
    limit: int
    hits: int
    misses: int
    flushes: int
    work: int
    def __init__(self, automaton: Automaton, limit: int = -1) -> None: ...
    def __len__(self) -> int: ...
    @property
    def memory(self) -> int: ...
