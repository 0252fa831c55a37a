"""The index of hashes, against a loop over all documents; and what it reads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.hash_index import HashIndex
from pathcast.pipeline.storage import LocalStorage

HashedDocument = tuple[str, float]  # content, time
WINDOW = 10.0


class CountingStorage(LocalStorage):
    """Counts the files that are read."""

    reads = 0

    def read(self, name: str) -> bytes | None:
        self.reads += 1
        return super().read(name)


def finish_batch(
    store: BatchLog, index: HashIndex, batch: int, documents: list[HashedDocument]
) -> None:
    times = [time for _, time in documents]
    outcome = BatchOutcome(
        "v",
        files={"hashes": (f"{batch:010}-part",)},
        hashes=index.times(min(times, default=None), max(times, default=None)),
    )
    store.write_done_outcome(batch, outcome)
    index.add(outcome)


def find_repeats(new: list[HashedDocument], earlier: list[HashedDocument]) -> list[bool]:
    """Return for each new document whether another with its content is at most WINDOW older."""
    return [
        any(
            content == other and 0 <= time - older <= WINDOW
            for other, older in [*earlier, *new[:position]]
        )
        for position, (content, time) in enumerate(new)
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.sampled_from("ab"), st.integers(-25, 5)), max_size=4),
            st.booleans(),
        ),
        max_size=15,
    )
)
def test_repeats_against_a_loop(batches: list[tuple[list[tuple[str, int]], bool]]) -> None:
    """Times advance by 4 per batch; some batches are preceded by a restart."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        store = BatchLog(LocalStorage(Path(folder)))
        index = HashIndex(store, WINDOW)
        history: dict[int, list[HashedDocument]] = {}
        seen = None
        for batch, (rows, restarts) in enumerate(batches):
            if restarts:
                index = HashIndex(store, WINDOW)
            new = [(content, 4.0 * batch + offset) for content, offset in rows]
            times = [time for _, time in new]
            bound = index.bound()
            assert bound == (None if seen is None else seen - 2 * WINDOW)
            everything = [row for rows in history.values() for row in rows]
            selected = [
                row
                for name in (index.files(min(times), max(times)) if new else [])
                for row in history[int(name.removeprefix("hashes/").partition("-")[0])]
            ]
            expected, actual = (
                find_repeats(new, [row for row in rows if bound is None or row[1] >= bound])
                for rows in (everything, selected)
            )
            assert actual == expected
            if bound is not None:  # within a window of the newest, nothing is missed
                unbounded = find_repeats(new, everything)
                assert all(
                    repeat == complete
                    for repeat, complete, time in zip(actual, unbounded, times, strict=True)
                    if time >= bound + WINDOW
                )
            finish_batch(store, index, batch, new)
            history[batch] = new
            seen = max([*times, *([] if seen is None else [seen])], default=None)


def test_history_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    store = BatchLog(LocalStorage(tmp_path))
    index = HashIndex(store, WINDOW)
    for batch in range(1_000):
        finish_batch(store, index, batch, [("a", float(batch))])
    storage = CountingStorage(tmp_path)
    index = HashIndex(BatchLog(storage), WINDOW)
    assert len(index.files(999.0, 1_000.0)) == 11
    assert storage.reads == 22  # two windows, and the record that ends the search
    storage.reads = 0
    assert len(index.files(990.0, 1_000.0)) == 20
    assert index.times(995.0, 1_000.0).seen == 1_000.0
    assert storage.reads == 0
