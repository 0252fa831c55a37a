"""Reliable message streams between two nodes, over links that lose, duplicate and reorder frames.

endpoint   `Endpoint`: one end of a link; sequence numbers, acknowledgements, retransmission
lossless   `LosslessEndpoint`: the same interface for links and nodes that never fail
"""

from pathcast.transport.endpoint import (
    Arrived,
    Confirmed,
    Endpoint,
    Frame,
    PeerSessionChanged,
    RetryPolicy,
)
from pathcast.transport.lossless import LosslessEndpoint

__all__ = [
    "Arrived",
    "Confirmed",
    "Endpoint",
    "Frame",
    "LosslessEndpoint",
    "PeerSessionChanged",
    "RetryPolicy",
]
