from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import LabelTable

class FeatureIndex:
    labels: LabelTable
    looked_at: int
    def __init__(self, labels: LabelTable) -> None: ...
    def __len__(self) -> int: ...
    @property
    def feature_count(self) -> int: ...
    def add(
        self, labels: Sequence[int], parents: Sequence[int], descendant: Sequence[bool]
    ) -> int: ...
    def remove(self, id: int) -> None: ...
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
    def may_cover(
        self, labels: Sequence[int], parents: Sequence[int], descendant: Sequence[bool]
    ) -> array[int]: ...
