from pathcast.matching.compiled.core.labels import Vocabulary

class PatternArena:
    vocabulary: Vocabulary
    def __init__(self, vocabulary: Vocabulary) -> None: ...
