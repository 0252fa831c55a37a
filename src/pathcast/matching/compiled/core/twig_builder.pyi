from typing import final

from pathcast.matching.compiled.core.trie import Trie
from pathcast.matching.compiled.core.twigs import TwigIndex

@final
class TwigBuilder:
    def __init__(self, trie: Trie, twigs: TwigIndex) -> None: ...
