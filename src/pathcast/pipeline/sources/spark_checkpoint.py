"""Spark's record of a stream: the offset at which each of its batches ends."""

from __future__ import annotations

import json
from typing import Final

from pathcast.pipeline.storage import Storage

__all__ = ["CHECKPOINT", "last_offset"]

CHECKPOINT: Final = "checkpoint"
"""The folder in OUT."""


def last_offset(storage: Storage, batch: int, key: str) -> int | None:
    """Return a number of the offset at which a batch ends; None without a record."""
    record = storage.read(f"{CHECKPOINT}/offsets/{batch}") or b""
    offset = b"".join(record.splitlines()[2:3])  # after the version and the metadata
    return int(json.loads(offset)[key]) if offset.startswith(b"{") else None
