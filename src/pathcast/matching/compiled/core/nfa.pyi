from collections.abc import Iterable
from typing import final

from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.matching.compiled.core.predicates import ValueIndex
from pathcast.matching.compiled.core.twigs import TwigIndex

@final
class CompiledNfa:
    size: int
    simple: bool
    values: ValueIndex
    twigs: TwigIndex
    largest_number: int
    largest_hop: int
    vocabulary: Vocabulary
    def __init__(
        self, paths: LinearPaths, numbers: Iterable[int], entries: Iterable[object]
    ) -> None: ...
    def path(self, state: int) -> tuple[tuple[int, object], ...]: ...
    def outline(self) -> list[tuple[int, int, int]]: ...
    @property
    def memory(self) -> int: ...
