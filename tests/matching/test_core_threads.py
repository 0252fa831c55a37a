"""One thread writes, others match: a match sees every subscription that existed throughout.

It sees none that did not exist at any time of the match. No clocks and no sleeps: fixed numbers of
operations, barriers, and the shortest switch interval of the interpreter.

libxml2 interns names in one dictionary per thread. So an address is another name in another thread,
or any name after a thread has ended: the name caches must never mix them up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Barrier

import pytest

from pathcast import Matcher
from pathcast.matching.compiled import tiers
from pathcast.matching.compiled.engine import CompiledEngine

READERS = 3
BODY = b"<r><a x='5'>5<b/><c/></a></r>"
TEXTS = (
    "//a",
    "/r/a",
    "//a[b][c]",
    "//a[@x = 5]",
    "//a[not(z{})]",
    "//*/a[b]/c",
    "/r//a[. = {} or b]",
    "//a[substring(@x, 1, 1) + {} > 0]",
)


@pytest.fixture(autouse=True)
def short_switch_interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_all(*works: Callable[[], None]) -> None:
    """Run each function in a thread of its own; raise the first exception."""
    with ThreadPoolExecutor(len(works)) as threads:
        for running in [threads.submit(work) for work in works]:
            running.result()


@dataclass
class WriterLog:
    """The writer's changes: sets that only grow, updated before or after each change."""

    matcher: Matcher
    adding: set[int] = field(default_factory=set)  # before
    added: list[int] = field(default_factory=list)  # after
    removing: set[int] = field(default_factory=set)  # before
    removed: list[int] = field(default_factory=list)  # after

    def add(self, id: int, text: str) -> None:
        self.adding.add(id)
        self.matcher.add(id, text, hop=id % 4096)
        self.added.append(id)

    def remove(self, id: int) -> None:
        self.removing.add(id)
        self.matcher.remove(id)
        self.removed.append(id)

    def check(self, hops: bool) -> None:
        """Match once; compare with the subscriptions that must and that may be seen."""
        added, removed = self.added[: len(self.added)], set(self.removed[: len(self.removed)])
        if hops:
            seen = {int(hop) for hop in self.matcher.match_hops(BODY)}
        else:
            seen = {int(id) for id in self.matcher.match(BODY)}
        throughout = set(added) - set(self.removing.copy())
        assert throughout <= seen, f"missing: {sorted(throughout - seen)[:5]}"
        assert not seen & removed, f"removed before: {sorted(seen & removed)[:5]}"
        assert seen <= set(self.adding.copy()), "never added"


@pytest.mark.parametrize("settling", [0, 50, 7])
@pytest.mark.parametrize("kind", ["paths", "all"])
def test_one_writer_and_many_readers(
    kind: str, settling: int, deep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enough subscriptions for several tiers; some removed at once, some late, some never."""
    count = 3900 if deep else 400  # ids are hops, too, of which there are 4096
    texts = TEXTS[:2] if kind == "paths" else TEXTS
    monkeypatch.setattr(tiers, "MIN_MAIN_SIZE", 50)
    monkeypatch.setattr(tiers, "MAX_RECENT", 150)
    log = WriterLog(Matcher(engine="core"))
    for id in range(100):
        log.add(id, texts[id % len(texts)].format(id))
    log.check(hops=False)  # builds the main automaton; later paths are recent
    together = Barrier(READERS + 1)

    def write() -> None:
        together.wait()
        for id in range(100, 100 + count):
            log.add(id, texts[id % len(texts)].format(id))
            if id % 3 == 0:
                log.remove(id - 30)
            if settling and id % settling == 0:
                log.matcher.settle()

    def read() -> None:
        together.wait()
        for number in range(count):
            log.check(hops=number % 3 == 2)

    run_all(write, *[read] * READERS)
    log.check(hops=False)
    expected = set(log.added) - set(log.removed)
    assert set(log.matcher.match(BODY)) == expected
    assert len(log.matcher) == len(expected)
    log.matcher.settle()
    assert set(log.matcher.match(BODY)) == expected


@pytest.mark.parametrize("old_view_count", [1, 2])
def test_hop_masks_of_an_old_view_are_not_shared(old_view_count: int) -> None:
    """Views before a growth of the `alive` bits use versions of their own for hop masks."""
    matcher = Matcher(engine="core")
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    for id in range(8):
        matcher.add(id, "//a", hop=id)
    assert [*matcher.match_hops(b"<a/>")] == [*range(8)]
    old_views, live = [], set(range(8))
    for removed in range(old_view_count):
        view = engine._current_view()
        old_views.append((view, sorted(live)))
        for number in range(8 * len(view.alive)):
            matcher.add(f"{removed} {number}", "//b", hop=9)
        assert view.alive is not engine._alive
        matcher.remove(removed)
        live.remove(removed)
    for view, expected in old_views:
        _, hops, _ = engine._run(view, b"<a/>", hops=True)
        assert hops == expected
        assert [*matcher.match_hops(b"<a/>")] == sorted(live)


def test_numbers_are_compacted_under_readers() -> None:
    """Thousands of short-lived subscriptions: the others are renumbered during matches."""
    matcher = Matcher(engine="core")
    stays = [f"stays {number}" for number in range(20)]
    for id in stays:
        matcher.add(id, "//a[b]" if id.endswith("1") else "//a")
    together = Barrier(READERS + 1)

    def write() -> None:
        together.wait()
        for id in range(10_000):
            matcher.add(id, "//none")
            matcher.remove(id)

    def read() -> None:
        together.wait()
        for _ in range(300):
            assert list(matcher.match(BODY)) == stays

    run_all(write, *[read] * READERS)
    assert list(matcher.match(BODY)) == stays


def names(thread: int) -> bytes:
    """Return a document with names that only this thread uses."""
    own_names = [f"t{thread}-{number}" for number in range(40)]
    return ("<r>" + "".join(f"<{name} {name}=''/>" for name in own_names) + "</r>").encode()


def matcher_of_names(threads: int) -> Matcher:
    matcher = Matcher(engine="core")
    for thread in range(threads):
        for number in range(0, 40, 2):
            name = f"t{thread}-{number}"
            matcher.add(f"{name} element", f"//{name}")
            matcher.add(f"{name} attribute", f"/r/*/@{name}")
    return matcher


def expected_of(thread: int) -> list[str]:
    return [
        f"t{thread}-{number} {kind}"
        for number in range(0, 40, 2)
        for kind in ("element", "attribute")
    ]


def test_a_context_passes_from_thread_to_thread() -> None:
    """Threads take turns, so each reuses the context that another one just returned."""
    threads, rounds = 4, 40
    matcher = matcher_of_names(threads)
    together = Barrier(threads)

    def work(thread: int) -> None:
        try:
            for turn in range(rounds * threads):
                together.wait()
                if turn % threads == thread:
                    assert list(matcher.match(names(thread))) == expected_of(thread)
        except BaseException:
            together.abort()  # releases the other threads
            raise

    run_all(*[partial(work, thread) for thread in range(threads)])


def test_threads_with_different_names_in_parallel() -> None:
    threads = 6
    matcher = matcher_of_names(threads)
    together = Barrier(threads)

    def work(thread: int) -> None:
        together.wait()
        for turn in range(60):
            other = (thread + turn) % threads
            assert list(matcher.match(names(other))) == expected_of(other)
            batch = matcher.match_batch([names(thread), b"<", names(other)])
            assert list(batch[0]) == expected_of(thread)
            assert list(batch[2]) == expected_of(other)

    run_all(*[partial(work, thread) for thread in range(threads)])


def test_name_dictionaries_of_ended_threads() -> None:
    """A dictionary is freed with its thread; the next may have other names at its addresses."""
    threads = 60
    matcher = matcher_of_names(threads)

    def work(thread: int) -> None:
        for _ in range(2):
            assert list(matcher.match(names(thread))) == expected_of(thread)

    for thread in range(0, threads, 2):
        run_all(partial(work, thread))
        run_all(partial(work, thread), partial(work, thread + 1))
    work(0)


def test_stats_and_draw_during_matches() -> None:
    """`stats` and `draw` run beside matches and changes; no document is lost in the counts."""
    matcher = Matcher(engine="core")
    together = Barrier(READERS + 1)

    def write() -> None:
        together.wait()
        for id in range(200):
            matcher.add(id, TEXTS[id % len(TEXTS)].format(id))
            if id % 20 == 0:
                assert matcher.stats().subscriptions == id + 1
                assert matcher.draw().startswith("start")

    def read() -> None:
        together.wait()
        for _ in range(200):
            matcher.match(BODY)

    run_all(write, *[read] * READERS)
    assert matcher.stats().documents == 200 * READERS
