from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import Labels

class Features:
    labels: Labels
    looked_at: int
    def __init__(self, labels: Labels) -> None: ...
    def __len__(self) -> int: ...
    @property
    def feature_count(self) -> int: ...
    def add(self, labels: Sequence[int], parents: Sequence[int], deeper: Sequence[bool]) -> int: ...
    def remove(self, number: int) -> None: ...
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
    def possible(
        self, labels: Sequence[int], parents: Sequence[int], deeper: Sequence[bool]
    ) -> array[int]: ...
