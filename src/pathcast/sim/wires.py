"""Wires: the latency, bandwidth and faults of one direction of a link.

A frame takes the latency of the wire. With a bandwidth, frames leave one after the other, each
after the time that its bytes take. Faults are probabilities for each frame: to be lost, duplicated,
delayed, or reordered (a random extra delay of up to three latencies, so that later frames can
overtake it). A wire that is cut loses the frames in flight and those sent into it.

Without `reorder` and `delay` a wire keeps the order of frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.rng import SeededRandom

__all__ = ["Faults", "Wire"]

_MAX_REORDER_LATENCIES = 3


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities from 0 to 1; a delayed frame takes up to `max_delay` seconds longer."""

    lose: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    max_delay: float = 1.0

    def __bool__(self) -> bool:
        return bool(self.lose or self.duplicate or self.reorder or self.delay)


class Wire:
    """One direction of a link, with its counters."""

    def __init__(self, latency: float, bandwidth: float | None, random: SeededRandom) -> None:
        self.latency = latency
        self.faults = Faults()
        self.cut = False
        self.cuts = 0  # frames sent before the last cut do not arrive after it
        self.frames = 0
        self.bytes = 0
        self.lost = 0
        self._bandwidth = bandwidth
        self._random = random
        self._busy_until = 0.0
        self._last_arrival = 0.0

    def carry(self, size: int, now: float) -> list[float]:
        """Send a frame of `size` bytes; return the arrival times of its copies, none if lost."""
        self.frames += 1
        self.bytes += size
        if self.cut:
            self.lost += 1
            return []
        departure = now
        if self._bandwidth is not None:
            departure = self._busy_until = max(now, self._busy_until) + size / self._bandwidth
        if not self.faults:
            self._last_arrival = max(self._last_arrival, departure + self.latency)
            return [self._last_arrival]
        arrivals = []
        faults, random = self.faults, self._random.random
        for _ in range(2 if random() < faults.duplicate else 1):
            if random() < faults.lose:
                self.lost += 1
                continue
            arrival = departure + self.latency
            if random() < faults.reorder:
                arrival += _MAX_REORDER_LATENCIES * self.latency * random()
            if random() < faults.delay:
                arrival += faults.max_delay * random()
            arrivals.append(arrival)
        return arrivals
