"""Subscriptions from a DTD: seeded, streamed, distinct or not.

element graph -> walks (walk) -> trees and predicates (twigs, predicates), or disjoint profiles (profiles)
              -> a stream of new texts (stream) -> steered to a match ratio (ratio)
texts -> how many of them others cover (covering)
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
