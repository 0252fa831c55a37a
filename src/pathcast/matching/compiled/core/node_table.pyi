from typing import final

from lxml import etree

BUILT_FOR: tuple[int, ...]

def count_byte(text: bytes | bytearray | memoryview, byte: int) -> int: ...

@final
class NodeTable:
    elements: int
    counted: int
    depth: int
    attributes: int
    most_attributes: int
    def open(self, root: etree._Element, count_attributes: bool) -> None: ...
    def close(self) -> None: ...
    def exceeds(
        self, depth: int, elements: int, attributes: int, attributes_total: int
    ) -> bool: ...
    def longest_sibling_run(self) -> int: ...
