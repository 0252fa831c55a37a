"""A real NATS server with JetStream for tests, which can be killed and restarted on its store."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from pathcast.pipeline.jetstream import NatsConnection, RetryingClient, ServerAddress

T = TypeVar("T")
_WATCHDOG = 120.0


class NatsServer:
    """A server whose store is a folder; its port stays the same."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.address = ServerAddress("nats", "127.0.0.1", self.port)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server unless it runs, and wait until it listens."""
        if self._process is not None and self._process.poll() is None:
            return
        program = Path(sys.executable).with_name("nats-server")
        options = ["-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self._folder)]
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen([program, "-js", *options], stderr=log)
        wait_for(self._listens)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, signal_number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(signal_number)
            self._process.wait(_WATCHDOG)

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def call(self, operation: Callable[[NatsConnection], Awaitable[T]]) -> T:
        with RetryingClient(self.address, retry_seconds=0) as client:
            return client.call(operation)

    def create_stream(self, stream: str, **settings: Any) -> None:
        """Create a stream for the subjects `stream.>`, unless others are given."""

        async def add_stream(connection: NatsConnection) -> None:
            await connection.jetstream.add_stream(
                name=stream, **{"subjects": [f"{stream}.>"], **settings}
            )

        self.call(add_stream)

    def publish(self, stream: str, bodies: Sequence[bytes], subject: str = "a") -> None:
        """Publish messages in order to `stream.subject`."""

        async def publish_all(connection: NatsConnection) -> None:
            for body in bodies:
                await connection.jetstream.publish(f"{stream}.{subject}", body)

        self.call(publish_all)

    def messages(self, stream: str) -> list[RawStreamMsg]:
        """Return the messages of a stream, read one by one."""

        async def read_all(connection: NatsConnection) -> list[RawStreamMsg]:
            state = (await connection.jetstream.stream_info(stream)).state
            messages = []
            for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
                try:
                    messages.append(await connection.jetstream.get_msg(stream, sequence))
                except NotFoundError:
                    continue
            return messages

        return self.call(read_all)


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def wait_for(holds: Callable[[], bool], watchdog: float = _WATCHDOG) -> None:
    """Wait until a condition holds; TimeoutError if that takes too long."""
    end = time.monotonic() + watchdog
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {watchdog} s")
        time.sleep(0.02)
