"""Where a query lives when the automaton is spread over owners: workers of a pipeline, peers of a ring.

After Miliaraki et al., sections 3 to 5: a state's key is made of the labels that lead to it, and its hash says who is
responsible.

    pattern  -> keys (key, homes) -> owners (owners) -> Placement (planning)
    document -> keys in use that it activates (directory), or may activate (tags)

    Snapshot -> homes (saved) -> ranges of them and routes to these (ranges) -> a Snapshot for each (parts)

Invariants, for every length of keys:
- a document that passes an alternative (or, with a residual, its skeleton) activates one of the query's keys,
  so whoever gets the documents that activate these keys misses no match and no error;
- `activated` is exact: the keys that are the path of some node; START always;
- `possible`, which knows tags only, holds all keys that any document with these label paths activates.

A query with several alternatives may live with several owners, each of which may find the same match: the
results are a set of (document, query) pairs. The owner of START gets every document.

Cost: a run over the keys is one over the shared automaton, a dictionary look-up for each node or label.

>>> from pathcast.xpath import parse
>>> from pathcast.documents import parse as document
>>> queries = ["/news/item[@lang]//person", "//sport//title | //cup", "not(//draft)"]
>>> for query in queries:
...     print(*sorted(map(str, keys(parse(query), length=2))))
start/news/item
start//cup start//sport//title
start
>>> plan = place(map(parse, queries), owners=4, length=2)
>>> plan.queries
((0, 2), (), (1,), (1,))
>>> sorted(plan.owners_for(document(b"<news><item><cup/></item></news>")))
[0, 3]
"""

from __future__ import annotations

from pathcast.matching.sharding.directory import Directory
from pathcast.matching.sharding.homes import fragment, keys
from pathcast.matching.sharding.key import START, Key
from pathcast.matching.sharding.owners import identifier, owner
from pathcast.matching.sharding.parts import part, router
from pathcast.matching.sharding.planning import Placement, place
from pathcast.matching.sharding.ranges import Ranges, spread
from pathcast.matching.sharding.saved import Homes, homes_of

__all__ = [
    "START",
    "Directory",
    "Homes",
    "Key",
    "Placement",
    "Ranges",
    "fragment",
    "homes_of",
    "identifier",
    "keys",
    "owner",
    "part",
    "place",
    "router",
    "spread",
]
