"""The Arrow schemas of the tables of a run, as files have them.

Every table has the column `batch`. It is stored in the files, not in folder names, so that one file
can hold rows of several batches (`compaction`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

__all__ = ["TABLE_SCHEMAS"]

_ID_LIST: Final = pa.list_(pa.string())
_TIME: Final = pa.timestamp("us", tz="UTC")
_BATCH: Final = ("batch", pa.int64())

TABLE_SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "documents": pa.schema(
        [
            ("document", pa.string()),
            ("source", pa.string()),
            ("time", _TIME),
            ("bytes", pa.int64()),
            ("structure", pa.string()),
            _BATCH,
        ]
    ),
    "matches": pa.schema(
        [
            ("document", pa.string()),
            ("part", pa.int32()),
            ("subscriptions", _ID_LIST),
            ("version", pa.string()),
            _BATCH,
        ]
    ),
    "errors": pa.schema(
        [
            ("document", pa.string()),
            ("subscriptions", _ID_LIST),
            ("kind", pa.string()),
            ("place", pa.string()),
            ("message", pa.string()),
            ("version", pa.string()),
            _BATCH,
        ]
    ),
    "deliveries": pa.schema(
        [
            ("document", pa.string()),
            ("subscriber", pa.string()),
            ("subscriptions", _ID_LIST),
            ("count", pa.int32()),
            ("version", pa.string()),
            _BATCH,
        ]
    ),
    "hashes": pa.schema(
        [("hash", pa.string()), ("time", _TIME), ("document", pa.string()), _BATCH]
    ),
    "repeats": pa.schema([("document", pa.string()), ("of", pa.string()), ("time", _TIME), _BATCH]),
    "partials": pa.schema(
        [
            ("kind", pa.string()),
            ("hour", pa.int64()),
            ("version", pa.string()),
            ("key", pa.string()),
            ("documents", pa.int64()),
            ("bytes", pa.int64()),
            ("read", pa.int64()),
            ("matched", pa.int64()),
            ("matches", pa.int64()),
            ("refused", pa.int64()),
            ("first", _TIME),
            ("last", _TIME),
            _BATCH,
        ]
    ),
    "undelivered": pa.schema(
        [
            ("document", pa.string()),
            ("subscribers", _ID_LIST),
            ("kind", pa.string()),
            ("message", pa.string()),
            ("version", pa.string()),
            _BATCH,
        ]
    ),
}
"""Every table by its name; the columns are those of the projections in `matching` and `routes`."""
