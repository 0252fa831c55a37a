"""Inputs for another process: a file of subscriptions, one per line, and a file per document.

The other process thus carries neither the generator's memory, which knows all texts, nor ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["read_bodies", "read_texts", "write_inputs"]

_SUBSCRIPTIONS = "subscriptions.txt"


def write_inputs(folder: Path, texts: Iterable[str], bodies: Iterable[bytes]) -> str:
    """Write the inputs; return the folder's name."""
    with (folder / _SUBSCRIPTIONS).open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in texts)
    for number, body in enumerate(bodies):
        (folder / f"{number:06}.xml").write_bytes(body)
    return str(folder)


def read_texts(folder: str) -> Iterator[str]:
    """Yield the subscriptions one by one."""
    with (Path(folder) / _SUBSCRIPTIONS).open(encoding="utf-8") as file:
        for line in file:
            yield line.removesuffix("\n")


def read_bodies(folder: str) -> Iterator[bytes]:
    """Yield the documents one by one, in order."""
    return (path.read_bytes() for path in sorted(Path(folder).glob("*.xml")))
