from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import Labels
from pathcast.covering.published_indexes.factorization_tree import Shape

class Tree(Shape):
    few: int
    looked_at: int
    def __init__(self, labels: Labels, regions: bool = False, few: int = 8) -> None: ...
    def covered(
        self,
        labels: Sequence[int],
        parents: Sequence[int],
        deeper: Sequence[bool],
        flags: bytes | bytearray | None = None,
    ) -> array[int]: ...
    def covering(
        self,
        labels: Sequence[int],
        parents: Sequence[int],
        deeper: Sequence[bool],
        flags: bytes | bytearray | None = None,
    ) -> array[int]: ...
