from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import LabelTable

_EncodedTwig = tuple[Sequence[int], Sequence[int], Sequence[bool]]

class HomomorphismTest:
    labels: LabelTable
    def __init__(self, labels: LabelTable) -> None: ...
    def covers(self, wide: Sequence[_EncodedTwig], narrow: Sequence[_EncodedTwig]) -> bool: ...

class TwigScan:
    def __init__(self, homomorphism: HomomorphismTest) -> None: ...
    def __len__(self) -> int: ...
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
