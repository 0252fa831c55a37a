"""Parsing in several threads: libxml2's dictionary of names belongs to one thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, get_ident
from typing import Any

import pytest
from lxml import etree

from pathcast.documents import parse

THREADS = 4


def test_parsers_do_not_move_between_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread would adopt the dictionary of another thread's parser, and share it."""
    # Keeps the parsers alive, so that their ids are unique.
    used: dict[int, tuple[object, set[int]]] = {}

    def record_thread(text: bytes, parser: etree.XMLParser) -> Any:
        used.setdefault(id(parser), (parser, set()))[1].add(get_ident())
        return real(text, parser)

    real = etree.fromstring
    monkeypatch.setattr(etree, "fromstring", record_thread)
    all_started = Barrier(THREADS)

    def work() -> None:
        for _ in range(5):
            parse(b"<a/>")
        all_started.wait()  # so that no thread ends before another starts
        parse(b"<a/>")

    with ThreadPoolExecutor(THREADS) as threads:
        for running in [threads.submit(work) for _ in range(THREADS)]:
            running.result()
    assert [len(threads) for _, threads in used.values()] == [1] * THREADS


def test_concurrent_new_names(deep: bool) -> None:
    """Thousands of new names at the same time, in new threads."""

    def work(thread: str) -> None:
        for turn in range(20):
            names = [f"n{thread}-{turn}-{number}" for number in range(2_000)]
            document = parse(f"<r>{''.join(f'<{name}/>' for name in names)}</r>".encode())
            assert [document.label[at] for at in range(2, len(document.kind))] == names

    for round in range(20 if deep else 3):
        with ThreadPoolExecutor(THREADS) as threads:
            for running in [
                threads.submit(partial(work, f"{round}-{thread}")) for thread in range(THREADS)
            ]:
                running.result()
