from pathcast.matching.compiled.core.automaton import Automaton
from pathcast.matching.compiled.core.memo import Memo

class Course:
    automaton: Automaton
    memo: Memo
    def __init__(self, automaton: Automaton, limit: int) -> None: ...
