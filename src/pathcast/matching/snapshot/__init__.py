"""All subscriptions of a matcher in one file: what `Matcher.save` writes and `Matcher.load` reads.

    Snapshot (model) <-> sections (contents, plans) <-> bytes of a file (container)
                       `read` and `write` (files) are the door

Subscriptions that are paths lie in the arrays as the core has them (see `core.labels`), so nothing is parsed again. Of
all others there are the text and the plan. Equal content gives equal bytes.

Whoever writes a checksum can write anything, so a right one is not the end of the matter: every number that
will be an index is checked, here or (labels and ends) by `Paths.fill`. A length is compared with the file's size before anybody
believes it. What is written is read back first: a file that could not be loaded is never made.

>>> import tempfile
>>> one = Snapshot(ids=["desk-7"], names=["news"], values=[], labels=b"\\x31\\0\\0\\0", ends=b"\\1\\0\\0\\0",
...     hops=b"\\2\\0\\0\\0", entries=b"\\xff" * 4, patterns=[])
>>> with tempfile.TemporaryDirectory() as folder:
...     write(one, folder + "/all.subscriptions")
...     found = read(folder + "/all.subscriptions")
>>> found.ids, list(found.labels), list(found.hops)
(['desk-7'], [49], [2])
"""

from __future__ import annotations

from pathcast.matching.snapshot.files import read, write
from pathcast.matching.snapshot.model import SavedPattern, Snapshot, snapshot_ints, to_saved_pattern

__all__ = ["SavedPattern", "Snapshot", "read", "snapshot_ints", "to_saved_pattern", "write"]
