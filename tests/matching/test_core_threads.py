"""One thread writes, others match: an answer has all that were there throughout, and none that was not.

No clocks and no sleeps: fixed numbers of operations, barriers, and an interpreter that is told to switch threads as
often as it can. libxml2 keeps names in one dictionary for each thread, so an address means another name in
another thread, and after a thread has died anything: the compiled engine must never confuse them.
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
def restless() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_all(*works: Callable[[], None]) -> None:
    """Run each in a thread of its own; the first thing that was raised is raised here."""
    with ThreadPoolExecutor(len(works)) as threads:
        for running in [threads.submit(work) for work in works]:
            running.result()


@dataclass
class Life:
    """What the writer says of itself: sets that only ever grow, each changed before or after the fact."""

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
        """Match once, and compare with what was certain before and possible after."""
        there, gone = self.added[: len(self.added)], set(self.removed[: len(self.removed)])
        if hops:
            found = {int(hop) for hop in self.matcher.match_hops(BODY)}
        else:
            found = {int(id) for id in self.matcher.match(BODY)}
        throughout = set(there) - set(self.removing.copy())
        assert throughout <= found, f"missing: {sorted(throughout - found)[:5]}"
        assert not found & gone, f"gone before it began: {sorted(found & gone)[:5]}"
        assert found <= set(self.adding.copy()), "never there"


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
    life = Life(Matcher(engine="core"))
    for id in range(100):
        life.add(id, texts[id % len(texts)].format(id))
    life.check(hops=False)  # so that there is a main automaton, and what comes now is fresh
    together = Barrier(READERS + 1)

    def write() -> None:
        together.wait()
        for id in range(100, 100 + count):
            life.add(id, texts[id % len(texts)].format(id))
            if id % 3 == 0:
                life.remove(id - 30)
            if settling and id % settling == 0:
                life.matcher.settle()

    def read() -> None:
        together.wait()
        for number in range(count):
            life.check(hops=number % 3 == 2)

    run_all(write, *[read] * READERS)
    life.check(hops=False)
    expected = set(life.added) - set(life.removed)
    assert set(life.matcher.match(BODY)) == expected
    assert len(life.matcher) == len(expected)
    life.matcher.settle()
    assert set(life.matcher.match(BODY)) == expected


@pytest.mark.parametrize("slow", [1, 2])
def test_a_reader_that_was_overtaken_leaves_nothing_to_others(slow: int) -> None:
    """What it finds with bits that have moved is not taken for what is there now, nor for what others like it find."""
    matcher = Matcher(engine="core")
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    for id in range(8):
        matcher.add(id, "//a", hop=id)
    assert [*matcher.match_hops(b"<a/>")] == [*range(8)]
    overtaken, there = [], set(range(8))
    for gone in range(slow):
        generation = engine._current_view()
        overtaken.append((generation, sorted(there)))
        for more in range(8 * len(generation.alive)):
            matcher.add(f"{gone} {more}", "//b", hop=9)
        assert generation.alive is not engine._alive
        matcher.remove(gone)
        there.remove(gone)
    for generation, before in overtaken:
        _, found, _ = engine._run(generation, b"<a/>", hops=True)
        assert found == before
        assert [*matcher.match_hops(b"<a/>")] == sorted(there)


def test_numbers_are_compacted_under_readers() -> None:
    """Thousands come and go, so that those that stay get new numbers while others match."""
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
    """Names that only this thread has, in an order of its own."""
    mine = [f"t{thread}-{number}" for number in range(40)]
    return ("<r>" + "".join(f"<{name} {name}=''/>" for name in mine) + "</r>").encode()


def of_names(threads: int) -> Matcher:
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


def test_a_run_goes_from_thread_to_thread() -> None:
    """In turns, so that each takes the run that another one just left behind, with its names."""
    threads, rounds = 4, 40
    matcher = of_names(threads)
    together = Barrier(threads)

    def work(thread: int) -> None:
        try:
            for turn in range(rounds * threads):
                together.wait()
                if turn % threads == thread:
                    assert list(matcher.match(names(thread))) == expected_of(thread)
        except BaseException:
            together.abort()  # nobody waits for one who failed
            raise

    run_all(*[partial(work, thread) for thread in range(threads)])


def test_different_names_at_the_same_time() -> None:
    threads = 6
    matcher = of_names(threads)
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


def test_threads_that_die_leave_nothing_behind() -> None:
    """A dictionary dies with its thread, and the next one may lie at the same place with other names."""
    threads = 60
    matcher = of_names(threads)

    def work(thread: int) -> None:
        for _ in range(2):
            assert list(matcher.match(names(thread))) == expected_of(thread)

    for thread in range(0, threads, 2):
        run_all(partial(work, thread))
        run_all(partial(work, thread), partial(work, thread + 1))
    work(0)


def test_figures_may_be_asked_for_meanwhile() -> None:
    """`stats` and `draw` run beside matches and changes, and count every document in the end."""
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
