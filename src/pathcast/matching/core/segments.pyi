from pathcast.matching.core.automaton import Automaton

class Segments:
    automaton: Automaton
