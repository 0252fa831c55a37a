from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import LabelTable
from pathcast.covering.published_indexes.factorization_tree import FactorizationTree

class FactorizationIndex(FactorizationTree):
    scan_limit: int
    looked_at: int
    def __init__(self, labels: LabelTable, regions: bool = False, scan_limit: int = 8) -> None: ...
    def covered_by(
        self,
        labels: Sequence[int],
        parents: Sequence[int],
        descendant: Sequence[bool],
        flags: bytes | bytearray | None = None,
    ) -> array[int]: ...
    def covering(
        self,
        labels: Sequence[int],
        parents: Sequence[int],
        descendant: Sequence[bool],
        flags: bytes | bytearray | None = None,
    ) -> array[int]: ...
