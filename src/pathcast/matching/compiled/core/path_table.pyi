from typing import final

from pathcast.matching.compiled.core.state_set_table import StateSetTable

@final
class PathTable:
    def __init__(self, sets: StateSetTable) -> None: ...
    def __len__(self) -> int: ...
