"""Suggestions for a misspelt name, by similarity; case and prefixes are ignored.

>>> similar_names("Autor", ["author", "title", "editor"])
['author']
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["similar_names"]


def similar_names(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Return at most `limit` candidates similar to a name, the most similar first."""
    names = list(dict.fromkeys(candidates))
    folded: dict[str, list[str]] = {}
    for candidate in names:
        folded.setdefault(candidate.rpartition(":")[2].casefold(), []).append(candidate)
    folded_name = name.rpartition(":")[2].casefold()
    matches = [
        candidate
        for key in get_close_matches(folded_name, folded, limit, 0.6)
        for candidate in folded[key]
    ]
    return [candidate for candidate in matches if candidate != name][:limit]
