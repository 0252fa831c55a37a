"""Generator of XPath subscriptions that documents of a DTD can match.

    element graph -> walks -> trees and predicates (sampler, predicates), or profiles (profiles)
                  -> a stream of new texts (stream) -> filtered to a match ratio (match_ratio)

- `options`: the options, checked.
- `walks`: random walks and trees over the element graph.
- `sampler`, `predicates`: one random subscription.
- `stream`: `subscriptions`, the entry point: a seeded stream, distinct or not.
- `profiles`: disjoint subscriptions.
- `match_ratio`: selection of subscriptions for a match ratio.
"""

from pathcast.generators.subscriptions.options import PredicateKinds, SubscriptionOptions
from pathcast.generators.subscriptions.stream import MAX_FUTILE_DRAWS, Subscriptions, subscriptions

__all__ = [
    "MAX_FUTILE_DRAWS",
    "PredicateKinds",
    "SubscriptionOptions",
    "Subscriptions",
    "subscriptions",
]
