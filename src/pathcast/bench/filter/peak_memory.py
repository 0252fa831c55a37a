"""How much memory a set of subscriptions needs: the most that was resident while it was loaded and matched documents.

In a process of its own, which reads texts and documents one by one and keeps none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pathcast.bench.filter.bench import Bench, joined, loaded, matched
from pathcast.bench.filter.subprocess_inputs import bodies_in, texts_in, written
from pathcast.bench.memory import peak
from pathcast.bench.report import Line

__all__ = ["memory", "used"]

_MEMORY = {100_000: 250.0, 1_000_000: 1_200.0}
_DOCUMENTS = 400
_MEGABYTE = 1_000_000


def memory(bench: Bench) -> Iterator[Line]:
    bodies = bench.inputs.documents(_DOCUMENTS // bench.sizes.divide)
    for size in bench.sizes.of(_MEMORY):
        what = f"most memory, linear, {size.count:,}"
        bench.tell(what)
        with TemporaryDirectory(prefix="pathcast-") as folder:
            found = peak(used, written(Path(folder), bench.inputs.linear(size.count), bodies))
        assert found.result == size.count, "all of them are to be there"
        note = f"{len(bodies)} documents; {found.before / _MEGABYTE:,.0f} MB of it before the first"
        yield Line(
            what,
            found.most / _MEGABYTE,
            "MB",
            target=size.target,
            at_least=False,
            note=joined(note, size.note),
        )


def used(folder: str) -> int:
    """Load the subscriptions and match the documents of a folder; how many subscriptions there are then."""
    matcher = loaded(texts_in(folder))
    matched(matcher, bodies_in(folder))
    return len(matcher)
