"""Events of a stream without Spark: subscriptions that change, and idle times."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pathcast.pipeline import running
from pathcast.pipeline.run_events import (
    RunEvent,
    StreamIdle,
    SubscriptionsLoaded,
    SubscriptionsRejected,
)
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.subscription_watcher import SubscriptionWatcher
from pathcast.pipeline.subscriptions import SubscriptionSource
from pathcast.pipeline.versions import VersionStore


class Watched:
    """A file of subscriptions with its watcher; `events` are those since the last call."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "s.txt"
        self.file.write_text("//a\n")
        self._events: list[RunEvent] = []
        source = SubscriptionSource(self.file)
        versions = VersionStore(LocalStorage(folder / "out"), source.compiler(folder / "versions"))
        self.watcher = SubscriptionWatcher(source, versions, self._events.append)
        self.watcher.begin()

    def batch(self) -> list[type[RunEvent]]:
        """Return the kinds of events at the start of a batch."""
        self._events.clear()
        self.watcher.version()
        return [type(event) for event in self._events]


def test_bad_subscriptions_are_reported_once_per_change(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    assert watched.batch() == []
    watched.file.write_text("//a[\n")
    assert [watched.batch() for _ in range(3)] == [[SubscriptionsRejected], [], []]
    watched.file.write_text("//a[[\n")
    assert [watched.batch() for _ in range(3)] == [[SubscriptionsRejected], [], []]
    watched.file.write_text("//b\n")
    assert [watched.batch() for _ in range(2)] == [[SubscriptionsLoaded], []]


def test_missing_subscriptions_are_reported_once(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for _ in range(2):
        watched.file.rename(tmp_path / "away")
        assert [watched.batch() for _ in range(3)] == [[SubscriptionsRejected], [], []]
        (tmp_path / "away").rename(watched.file)
        assert [watched.batch() for _ in range(2)] == [[], []]  # the version is the same


class FakeQuery:
    """A query that stays active until its status was asked for `polls` times."""

    def __init__(self, polls: int) -> None:
        self._polls = polls

    @property
    def isActive(self) -> bool:  # noqa: N802 - the name of the real one
        self._polls -= 1
        return self._polls > 0

    status = {"isTriggerActive": False}  # noqa: RUF012

    def stop(self) -> None: ...

    def exception(self) -> None: ...


def test_idle_stream_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_POLL_SECONDS", 0.0)
    seconds = iter([1.0, 11.0, 12.0, 0.0, 5.0, 10.0, 30.0])

    class Callback:
        failed = None

        def idle_seconds(self) -> float:
            return next(seconds)

    events: list[RunEvent] = []
    await_end: Callable[..., Any] = running._await_end
    await_end(FakeQuery(8), Callback(), threading.Event(), events.append)
    assert events == [StreamIdle(11.0), StreamIdle(10.0)]
