"""Wires: what happens to a frame on its way from one broker to the next.

A frame takes the latency of the wire, and the time that its bytes need where a bandwidth is given, one after the other. Faults are chances for each frame: to be lost,
doubled, delayed, or to be overtaken by the next (`reorder`: it takes up to three latencies more). A wire that is cut loses everything that
is on it or sent into it.

Without faults a wire keeps the order; with `reorder` or `delay` it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.rng import SeededRandom

__all__ = ["Faults", "Wire"]


@dataclass(frozen=True, slots=True)
class Faults:
    """Chances between 0 and 1; `longer` are the seconds that a delayed frame takes at most besides."""

    lose: float = 0.0
    double: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    longer: float = 1.0

    def __bool__(self) -> bool:
        return bool(self.lose or self.double or self.reorder or self.delay)


class Wire:
    """One direction of a link."""

    def __init__(self, latency: float, bandwidth: float | None, rng: SeededRandom) -> None:
        self.latency = latency
        self.faults = Faults()
        self.cut = False
        self.cuts = 0  # what was sent before the last cut does not arrive after it
        self.frames = 0
        self.bytes = 0
        self.lost = 0
        self._bandwidth = bandwidth
        self._rng = rng
        self._free = 0.0
        self._last = 0.0

    def carry(self, size: int, now: float) -> list[float]:
        """When a frame that is sent now arrives: once, twice or never."""
        self.frames += 1
        self.bytes += size
        if self.cut:
            self.lost += 1
            return []
        sent = now
        if self._bandwidth is not None:
            sent = self._free = max(now, self._free) + size / self._bandwidth
        if not self.faults:
            self._last = max(self._last, sent + self.latency)
            return [self._last]
        found = []
        faults, uniform = self.faults, self._rng.random
        for _ in range(2 if uniform() < faults.double else 1):
            if uniform() < faults.lose:
                self.lost += 1
                continue
            arrives = sent + self.latency
            if uniform() < faults.reorder:
                arrives += 3 * self.latency * uniform()
            if uniform() < faults.delay:
                arrives += faults.longer * uniform()
            found.append(arrives)
        return found
