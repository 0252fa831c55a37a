from typing import Any, final

@final
class TwigIndex:
    keys: list[Any]
    guard_tests: list[int]
    plan_count: int
    node_count: int
    semijoin_count: int
    guard_count: int
    leaf_count: int
    def numbers(self) -> list[int]: ...
    @property
    def memory(self) -> int: ...
