"""A NATS server with JetStream for tests: a real one, which can be killed and started again on the same store."""

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
        self.broker = ServerAddress("nats", "127.0.0.1", self.port)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it if it is not running, and wait until it listens."""
        if self._process is not None and self._process.poll() is None:
            return
        program = Path(sys.executable).with_name("nats-server")
        place = ["-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self._folder)]
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen([program, "-js", *place], stderr=log)
        wait_for(self._listens)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_WATCHDOG)

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def ask(self, question: Callable[[NatsConnection], Awaitable[T]]) -> T:
        with RetryingClient(self.broker, retry_seconds=0) as line:
            return line.call(question)

    def make(self, stream: str, **settings: Any) -> None:
        """A stream for the subjects `stream.>`, unless others are given."""

        async def made(link: NatsConnection) -> None:
            await link.jetstream.add_stream(
                name=stream, **{"subjects": [f"{stream}.>"], **settings}
            )

        self.ask(made)

    def put(self, stream: str, bodies: Sequence[bytes], subject: str = "a") -> None:
        """Messages, one after the other, to `stream.subject`."""

        async def sent(link: NatsConnection) -> None:
            for body in bodies:
                await link.jetstream.publish(f"{stream}.{subject}", body)

        self.ask(sent)

    def all(self, stream: str) -> list[RawStreamMsg]:
        """What is in a stream, got one by one."""

        async def got(link: NatsConnection) -> list[RawStreamMsg]:
            state = (await link.jetstream.stream_info(stream)).state
            found = []
            for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
                try:
                    found.append(await link.jetstream.get_msg(stream, sequence))
                except NotFoundError:
                    continue
            return found

        return self.ask(got)


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def wait_for(holds: Callable[[], bool], watchdog: float = _WATCHDOG) -> None:
    """Return when it holds; an error if that takes too long."""
    end = time.monotonic() + watchdog
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {watchdog} s")
        time.sleep(0.02)
