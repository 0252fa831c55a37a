"""What makes two nodes reliable over a link that loses, doubles, delays and reorders: `Endpoint`, one at each end."""

from pathcast.transport.endpoint import Arrived, Confirmed, Endpoint, Frame, Met, Patience
from pathcast.transport.lossless import Direct

__all__ = ["Arrived", "Confirmed", "Direct", "Endpoint", "Frame", "Met", "Patience"]
