"""What makes two nodes reliable over a link that loses, doubles, delays and reorders: `Endpoint`, one at each end."""

from pathcast.link.direct import Direct
from pathcast.link.endpoint import Arrived, Confirmed, Endpoint, Frame, Met, Patience

__all__ = ["Arrived", "Confirmed", "Direct", "Endpoint", "Frame", "Met", "Patience"]
