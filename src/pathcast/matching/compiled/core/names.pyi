from typing import final

from pathcast.matching.compiled.core.labels import Vocabulary

@final
class NameTable:
    def __init__(self, vocabulary: Vocabulary) -> None: ...
    @property
    def memory(self) -> int: ...

@final
class NameCache: ...
