from pathcast.matching.compiled.core.automaton import Automaton
from pathcast.matching.compiled.core.label_paths import LabelPaths

class Memo(LabelPaths):
    limit: int
    hits: int
    misses: int
    flushes: int
    work: int
    def __init__(self, automaton: Automaton, limit: int = -1) -> None: ...
    @property
    def memory(self) -> int: ...
