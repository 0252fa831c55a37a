from collections.abc import Iterable

from pathcast.matching.compiled.core.labels import Paths, Vocabulary
from pathcast.matching.compiled.core.predicates import Values
from pathcast.matching.compiled.core.twigs import Twigs

class Automaton:
    size: int
    simple: bool
    values: Values
    twigs: Twigs
    largest_number: int
    largest_hop: int
    vocabulary: Vocabulary
    def __init__(self, paths: Paths, numbers: Iterable[int], entries: list[object]) -> None: ...
    def path(self, state: int) -> tuple[tuple[int, object], ...]: ...
    def outline(self) -> list[tuple[int, int, int]]: ...
    @property
    def memory(self) -> int: ...
