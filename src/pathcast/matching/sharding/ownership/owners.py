"""The assignment of keys to owners, by hash or by weight.

`hash_owner` is jump consistent hashing (Lamping and Veach 2014). It is uniform, and a new owner
n + 1 takes one key in n + 1 while no other key moves. `assign_by_weight` is longest processing time
first (Graham 1969): the heaviest key goes to the least loaded owner, at most 4/3 of the optimum.
There, every new plan may move every key.

>>> key = StateKey.parse("start/news/item")
>>> [hash_owner(key, owners) for owners in (4, 8, 16, 32)]
[0, 0, 13, 22]
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from heapq import heapify, heapreplace

from pathcast.matching.sharding.state_key import StateKey

__all__ = ["assign_by_weight", "hash_owner", "identifier"]

_RING_BITS = 160  # as SHA-1 in Chord
_DIGEST_BITS = 512


def identifier(key: StateKey, bits: int = _RING_BITS) -> int:
    """Return the identifier of a key on a ring of 2**bits positions: the first bits of its hash."""
    if not 0 < bits <= _DIGEST_BITS:
        raise ValueError(f"a ring has 1 to {_DIGEST_BITS} bits, not {bits}")
    digest = blake2b(str(key).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest, "big") >> (_DIGEST_BITS - bits)


def hash_owner(key: StateKey, owners: int) -> int:
    """Return the owner of a key by its hash, from 0 to `owners` - 1."""
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    state = identifier(key, 64)
    bucket = candidate = 0
    while candidate < owners:
        bucket = candidate
        state = (state * 2862933555777941757 + 1) % 2**64
        candidate = ((bucket + 1) << 31) // ((state >> 33) + 1)  # integers: no rounding
    return bucket


def assign_by_weight(
    weights: Mapping[StateKey, float], counts: Mapping[StateKey, int], owners: int
) -> dict[StateKey, int]:
    """Assign keys to owners, longest processing time first; counts break ties of weights."""
    order = sorted(weights, key=lambda key: (-weights[key], -counts[key], str(key)))
    loads = [(0.0, 0, number) for number in range(owners)]
    heapify(loads)
    owner_of = {}
    for key in order:
        load, queries, number = loads[0]
        owner_of[key] = number
        heapreplace(loads, (load + weights[key], queries + counts[key], number))
    return owner_of
