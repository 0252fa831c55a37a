"""Keys -> owners, by hash or by weight.

`owner` is jump consistent hashing (Lamping and Veach): uniform, and of n + 1 owners the last takes one key in n + 1 while
nothing else moves. `balanced` instead takes the heaviest key first, each to the owner with the least load
(Graham: at most 4/3 of the best). Then every new plan may move every key.

>>> key = Key.parse("start/news/item")
>>> [owner(key, owners) for owners in (4, 8, 16, 32)]
[0, 0, 13, 22]
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from heapq import heapify, heapreplace

from pathcast.matching.sharding.key import Key

__all__ = ["balanced", "identifier", "owner"]

_RING = 160  # bits, as SHA-1 gives Chord
_DIGEST = 512  # bits of a digest, of which identifiers are the first


def identifier(key: Key, bits: int = _RING) -> int:
    """The key's place on a ring of 2**bits places; a smaller ring has the first bits of a larger one's."""
    if not 0 < bits <= _DIGEST:
        raise ValueError(f"a ring has 1 to {_DIGEST} bits, not {bits}")
    digest = blake2b(str(key).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest, "big") >> (_DIGEST - bits)


def owner(key: Key, owners: int) -> int:
    """Which of so many owners, counted from 0, a key belongs to by its hash."""
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    state = identifier(key, 64)
    chosen = following = 0
    while following < owners:
        chosen = following
        state = (state * 2862933555777941757 + 1) % 2**64
        following = ((chosen + 1) << 31) // ((state >> 33) + 1)  # whole numbers: no rounding
    return chosen


def balanced(
    weights: Mapping[Key, float], counts: Mapping[Key, int], owners: int
) -> dict[Key, int]:
    """Longest processing time first: the heaviest key goes to the owner with the least load."""
    order = sorted(weights, key=lambda key: (-weights[key], -counts[key], str(key)))
    idle = [(0.0, 0, number) for number in range(owners)]
    heapify(idle)
    owner_of = {}
    for key in order:
        load, queries, number = idle[0]
        owner_of[key] = number
        heapreplace(idle, (load + weights[key], queries + counts[key], number))
    return owner_of
