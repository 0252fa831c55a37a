from array import array
from collections.abc import Sequence

from pathcast.covering.core.labels import Labels

_Encoded = tuple[Sequence[int], Sequence[int], Sequence[bool]]

class Mapper:
    labels: Labels
    def __init__(self, labels: Labels) -> None: ...
    def covers(self, wide: Sequence[_Encoded], narrow: Sequence[_Encoded]) -> bool: ...

class Twigs:
    def __init__(self, mapper: Mapper) -> None: ...
    def __len__(self) -> int: ...
    def add(self, labels: Sequence[int], parents: Sequence[int], deeper: Sequence[bool]) -> int: ...
    def remove(self, number: int) -> None: ...
    def maps(self, wide: int, narrow: int) -> bool: ...
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
