"""Synthetic workloads: seeded generators of documents, subscriptions and feeds.

- `documents`: valid documents of a DTD.
- `subscriptions`: XPath subscriptions that documents of a DTD can match.
- `feeds`: weather and stock messages with the repetition of real traces.
- `values`: the value domains of texts, attributes and predicates.
- `arrivals`: arrival processes.
- `placement`: the nodes of publishers and subscribers.
- `presets`: the workloads of papers, by name.
- `bundled`: ten DTDs, in `schemas`.
- `statistics`: figures of generated documents and subscriptions.
"""
