from pathcast.matching.compiled.core.automaton import Automaton

class Segments:
    automaton: Automaton
