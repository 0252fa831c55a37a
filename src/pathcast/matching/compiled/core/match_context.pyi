from array import array
from collections.abc import Sequence
from typing import final

from lxml import etree

from pathcast.matching.compiled.core.bit_parallel import BitParallelPaths
from pathcast.matching.compiled.core.nfa import CompiledNfa
from pathcast.matching.compiled.core.node_table import NodeTable
from pathcast.matching.compiled.core.traversal import Traversal

@final
class MatchContext:
    nodes: NodeTable
    limit: int
    documents: int
    matches: int
    joins: int
    evaluated: int
    evaluation_work: int
    def __init__(self, limit: int = -1) -> None: ...
    def open(self, root: etree._Element, count_attributes: bool) -> None: ...
    def close(self) -> None: ...
    def match(
        self,
        nfas: tuple[CompiledNfa, ...],
        alive: bytearray,
        version: int,
        hops: bool,
        recent: tuple[BitParallelPaths, ...] = ...,
    ) -> Sequence[tuple[int, int, int, int]]: ...
    def accept(self, index: int, entry: int, alive: bytearray) -> None: ...
    def matters(self, index: int, entry: int, alive: bytearray) -> bool: ...
    def numbers_of(self, index: int, entry: int, alive: bytearray) -> list[int]: ...
    def numbers(self, alive: bytearray) -> array[int]: ...
    def hops(self) -> list[int]: ...
    def clear(self) -> None: ...
    def traversals(self) -> list[Traversal]: ...
    @property
    def join_work(self) -> int: ...
