from typing import final

from pathcast.matching.compiled.core.node_table import NodeTable
from pathcast.matching.compiled.core.traversal import Traversal

@final
class TwigJoin:
    work: int
    def __init__(self, traversal: Traversal, nodes: NodeTable) -> None: ...
