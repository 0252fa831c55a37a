"""Names that somebody may have meant: the same letters in another case first, then by likeness.

>>> similar_names("Autor", ["author", "title", "editor"])
['author']
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["similar_names"]


def similar_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that look like this one, best first."""
    names = list(dict.fromkeys(known))
    folded: dict[str, list[str]] = {}
    for one in names:
        folded.setdefault(one.rpartition(":")[2].casefold(), []).append(one)
    wanted = name.rpartition(":")[2].casefold()
    found = [one for key in get_close_matches(wanted, folded, most, 0.6) for one in folded[key]]
    return [one for one in found if one != name][:most]
