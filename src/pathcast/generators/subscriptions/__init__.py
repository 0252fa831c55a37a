"""Subscriptions from a DTD: seeded, streamed, distinct or not.

element graph -> walks (walk) -> trees and predicates (twigs, predicates), or disjoint profiles (profiles)
              -> a stream of new texts (stream) -> steered to a match ratio (ratio)
texts -> how many of them others cover (covering)
"""

from pathcast.generators.subscriptions.options import PredicateKinds, SubscriptionOptions
from pathcast.generators.subscriptions.stream import PATIENCE, Subscriptions, subscriptions

__all__ = ["PATIENCE", "PredicateKinds", "SubscriptionOptions", "Subscriptions", "subscriptions"]
