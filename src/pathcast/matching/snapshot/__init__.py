"""Snapshots: all subscriptions of a matcher in one file (`Matcher.save` and `Matcher.load`).

    Snapshot (model) <-> sections (sections, json_lists, plan_codes) <-> bytes (container)

- `model`: the `Snapshot` as a value.
- `files`: `read` and `write`, the entry points.
- `container`: the file format: magic, version, lengths, sections, checksum.
- `sections`: a snapshot as arrays and JSON lists, and the checks across sections.
- `json_lists`: ids, names, value tests and patterns as JSON.
- `plan_codes`: the plans of patterns as a flat array of integers.
- `content_errors`: the rejection of invalid content.

Linear paths are stored in the layout of the core's own arrays (see `compiled.core.labels`), so that
loading parses nothing. Other subscriptions have their text and their plan. Equal content gives
equal bytes.

A checksum proves integrity, not origin. The reader therefore checks every number that will be an
index, here or (labels and ends) in `Paths.fill`, and compares a length with the file's size before
it allocates. The writer reads its output back first: a file that could not be loaded is never
written.

>>> import tempfile
>>> snapshot = Snapshot(
...     ids=["desk-7"], names=["news"], values=[], labels=b"\\x31\\0\\0\\0",
...     ends=b"\\1\\0\\0\\0", hops=b"\\2\\0\\0\\0", entries=b"\\xff" * 4, patterns=[])
>>> with tempfile.TemporaryDirectory() as folder:
...     write(snapshot, folder + "/all.subscriptions")
...     loaded = read(folder + "/all.subscriptions")
>>> loaded.ids, list(loaded.labels), list(loaded.hops)
(['desk-7'], [49], [2])
"""

from __future__ import annotations

from pathcast.matching.snapshot.files import SnapshotFile, read, write
from pathcast.matching.snapshot.model import SavedPattern, Snapshot, snapshot_ints, to_saved_pattern

__all__ = [
    "SavedPattern",
    "Snapshot",
    "SnapshotFile",
    "read",
    "snapshot_ints",
    "to_saved_pattern",
    "write",
]
