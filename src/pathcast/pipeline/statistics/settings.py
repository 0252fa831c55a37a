"""The parameters of the statistics, validated once.

>>> StatisticsSettings(window=60, decay=0.5).by
'auto'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from pathcast.errors import PipelineError

__all__ = ["MAX_COMPARED", "StatisticsSettings", "WindowUnit"]

WindowUnit = Literal["auto", "time", "batch"]

MAX_COMPARED: Final = 1_000
"""The maximum number of subscriptions compared pairwise.

A document yields up to half the square of it in pairs.
"""


@dataclass(frozen=True, slots=True)
class StatisticsSettings:
    """How documents are put into windows, how fast these decay, and which overlaps to compute."""

    by: WindowUnit = "auto"
    """Windows by document time or by batch; auto: by time if any document has one."""
    window: float | None = None
    """Seconds or batches; None: a length that gives about fifty windows."""
    decay: float = 0.9
    """The factor of a document's weight per window of age; 1: no decay."""
    kept: int | None = None
    """How many of the newest windows count; older documents weigh 0. None: all."""
    subscriptions: tuple[str, ...] = ()
    """The subscriptions to compare; empty: the `top` ones by matches."""
    top: int = 100
    entries: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
    """Sizes of a structure cache to evaluate."""

    def __post_init__(self) -> None:
        is_valid = self.by in ("auto", "time", "batch")
        _require(is_valid, f"windows go by time, by batch or auto, not by {self.by!r}")
        window = 1.0 if self.window is None else self.window
        _require(math.isfinite(window) and window > 0, f"a window is longer than 0, not {window}")
        is_valid_length = self.by != "batch" or window == int(window)
        _require(is_valid_length, f"a window has a whole number of batches, not {window}")
        _require(0 < self.decay <= 1, f"decay is more than 0 and at most 1, not {self.decay}")
        _require(self.kept is None or self.kept >= 1, f"at least 1 window is kept, not {self.kept}")
        compared = max(self.top, len(self.subscriptions))
        _require(
            self.top >= 0 and compared <= MAX_COMPARED,
            f"overlap is counted for 0 to {MAX_COMPARED:,} subscriptions, not {compared:,}",
        )
        _require(all(entries >= 1 for entries in self.entries), "a cache has at least 1 entry")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise PipelineError("settings", message)
