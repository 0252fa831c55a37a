from typing import final

from pathcast.matching.compiled.core.labels import Vocabulary

@final
class Trie:
    def __init__(self, vocabulary: Vocabulary) -> None: ...
    def __len__(self) -> int: ...
