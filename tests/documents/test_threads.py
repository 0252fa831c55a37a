"""Documents in several threads: what libxml2 knows of names belongs to one thread each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, get_ident
from typing import Any

import pytest
from lxml import etree

from pathcast.documents import parse

THREADS = 4


def test_no_parser_goes_to_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread would take the dictionary of a parser that it is given as its own, and share it with the giver."""
    used: dict[
        int, tuple[object, set[int]]
    ] = {}  # the parsers are kept, so that no two have one id

    def noted(text: bytes, parser: etree.XMLParser) -> Any:
        used.setdefault(id(parser), (parser, set()))[1].add(get_ident())
        return real(text, parser)

    real = etree.fromstring
    monkeypatch.setattr(etree, "fromstring", noted)
    together = Barrier(THREADS)

    def work() -> None:
        for _ in range(
            5
        ):  # one after the other or at the same time: all have begun before one ends
            parse(b"<a/>")
        together.wait()
        parse(b"<a/>")

    with ThreadPoolExecutor(THREADS) as threads:
        for running in [threads.submit(work) for _ in range(THREADS)]:
            running.result()
    assert [len(threads) for _, threads in used.values()] == [1] * THREADS


def test_names_that_nobody_has_seen(deep: bool) -> None:
    """Thousands of new names at the same time, in threads that have never parsed before."""

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
