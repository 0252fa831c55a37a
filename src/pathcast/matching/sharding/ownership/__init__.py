"""Key ownership for a future distributed automaton. The pipeline does not use this package.

It prepares the NFA over a DHT of Miliaraki 2008. There, a state's key is the concatenation of the
labels that lead to it, and the peer responsible for the state is the successor of the key's hash on
the Chord ring (section 3). `IndexQuery` inserts a query by its keys (section 4.2, Procedure 1).
`PublishDocument` and `RecExpandState` forward a document to the peers of the states that it
activates (section 5.2, Procedures 2 to 4). Here, an owner holds whole queries rather than single
states.

    pattern  -> keys (query_keys) -> owners (owners) -> OwnershipPlan (planning)
    document -> keys that it activates (directory), or may activate (tag_matching)

- `query_keys`: the keys of a query, and the states that a peer stores with a key.
- `owners`: consistent hashing of keys to owners, and assignment by weight.
- `directory`: the keys in use, and those that a document activates.
- `tag_matching`: the keys that a document with given element names may activate.
- `planning`: the assignment of queries to owners.

Invariants, for every key length:

- A document that matches an alternative (or, with a residual, its skeleton) activates one of the
  query's keys. The owners of the activated keys therefore miss no match and no error.
- `KeyDirectory.activated_keys` is exact: the keys that are the path of some node, and always START.
- `KeyDirectory.possible_keys` contains every key that a document with these label paths activates.

A query with several alternatives may have several owners, and each may report the same match:
results are a set of (document, query) pairs. The owner of START gets every document.

Cost: a run over the keys is a run of the shared NFA, one dictionary look-up per node or label.

>>> from pathcast.xpath import parse
>>> from pathcast.documents import parse as document
>>> queries = ["/news/item[@lang]//person", "//sport//title | //cup", "not(//draft)"]
>>> for query in queries:
...     print(*sorted(map(str, pattern_keys(parse(query), length=2))))
start/news/item
start//cup start//sport//title
start
>>> plan = plan_ownership(map(parse, queries), owners=4, length=2)
>>> plan.queries
((0, 2), (), (1,), (1,))
>>> sorted(plan.owners_for(document(b"<news><item><cup/></item></news>")))
[0, 3]
"""

from __future__ import annotations

from pathcast.matching.sharding.ownership.directory import KeyDirectory
from pathcast.matching.sharding.ownership.owners import assign_by_weight, hash_owner, identifier
from pathcast.matching.sharding.ownership.planning import OwnershipPlan, plan_ownership
from pathcast.matching.sharding.ownership.query_keys import pattern_keys, stored_states

__all__ = [
    "KeyDirectory",
    "OwnershipPlan",
    "assign_by_weight",
    "hash_owner",
    "identifier",
    "pattern_keys",
    "plan_ownership",
    "stored_states",
]
