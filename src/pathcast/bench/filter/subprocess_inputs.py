"""Inputs on their way into another process: a folder with the subscriptions, one a line, and a file for each document.

The other process thus has neither the generator's memory, which knows all texts that it gave out, nor ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["bodies_in", "texts_in", "written"]

_TEXTS = "subscriptions.txt"


def written(folder: Path, texts: Iterable[str], bodies: Iterable[bytes]) -> str:
    """Write them; the folder's name."""
    with (folder / _TEXTS).open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in texts)
    for number, body in enumerate(bodies):
        (folder / f"{number:06}.xml").write_bytes(body)
    return str(folder)


def texts_in(folder: str) -> Iterator[str]:
    """One by one."""
    with (Path(folder) / _TEXTS).open(encoding="utf-8") as file:
        for line in file:
            yield line.removesuffix("\n")


def bodies_in(folder: str) -> Iterator[bytes]:
    """One by one, in their order."""
    return (path.read_bytes() for path in sorted(Path(folder).glob("*.xml")))
