"""Reliable message streams between two nodes, over links that lose, duplicate and reorder frames.

retransmitting_endpoint  `Endpoint`: sequence numbers, acknowledgements, retransmission
passthrough_endpoint     `PassthroughEndpoint`: the same interface for links that never fail
"""

from pathcast.transport.passthrough_endpoint import PassthroughEndpoint
from pathcast.transport.retransmitting_endpoint import (
    Arrived,
    Confirmed,
    Endpoint,
    Frame,
    PeerSessionChanged,
    RetryPolicy,
)

__all__ = [
    "Arrived",
    "Confirmed",
    "Endpoint",
    "Frame",
    "PassthroughEndpoint",
    "PeerSessionChanged",
    "RetryPolicy",
]
