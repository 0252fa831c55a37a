"""The subscriptions of a stream: compiled again whenever their files changed.

If changed files cannot be compiled (a bad row, a file being written), the old version stays in use.
The watcher reports that once, and compiles again when the files have changed once more.
"""

from __future__ import annotations

from collections.abc import Callable

from pathcast.errors import PathcastError
from pathcast.pipeline.run_events import RunEvent, SubscriptionsLoaded, SubscriptionsRejected
from pathcast.pipeline.subscriptions import FilesState, SubscriptionSource
from pathcast.pipeline.versions import VersionStore

__all__ = ["SubscriptionWatcher"]


class SubscriptionWatcher:
    """Knows the current version; calls `on_event` when it changes, or cannot."""

    def __init__(
        self,
        source: SubscriptionSource,
        versions: VersionStore,
        on_event: Callable[[RunEvent], None],
    ) -> None:
        self._source = source
        self._versions = versions
        self._on_event = on_event
        self._last_state: FilesState | None = None
        self._last_error = ""
        self._current = ""

    def begin(self) -> None:
        """Compile the current subscriptions, or raise PipelineError."""
        self._last_state = self._source.read_state()
        self._load()

    def version(self) -> str:
        """Return the name of the version for a batch that starts now."""
        state: FilesState | None = None
        try:
            state = self._source.read_state()
            if state == self._last_state:
                return self._current
            self._load()
            self._last_error = ""
        except PathcastError as error:
            if str(error) != self._last_error or state is not None:
                self._on_event(SubscriptionsRejected(error))
            self._last_error = str(error)
        # Files that changed meanwhile are read again before the next batch.
        self._last_state = state if state is not None and self._is_current(state) else None
        return self._current

    def _is_current(self, state: FilesState) -> bool:
        try:
            return self._source.read_state() == state
        except PathcastError:
            return False

    def _load(self) -> None:
        version, skipped = self._source.compile(self._versions.add)
        if version.name != self._current:
            self._current = version.name
            self._on_event(SubscriptionsLoaded(version.name, version.subscriptions, tuple(skipped)))
