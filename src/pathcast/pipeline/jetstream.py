"""NATS JetStream for the source and the outbox: addresses, and a client that retries.

An address is `nats://host:port/STREAM` for a source (`?subject=a.b.>` filters its messages) and
`nats://host:port/PREFIX` for an outbox. Credentials precede the host, as user and password or as a
token; they are never shown. `tls://` works as well.

>>> address = StreamAddress.parse("nats://ann:pw@broker/NEWS?subject=news.*.fr")
>>> address.stream, address.subject
('NEWS', 'news.*.fr')
>>> print(address)
nats://broker:4222/NEWS?subject=news.*.fr

The client library is asyncio, Spark is not. A `RetryingClient` runs one operation after the other
on an event loop of its own, which is idle in between. It connects on the first call. After a
transient error (no server, lost connection, timeout) it reconnects and retries with exponential
backoff, until `retry_seconds` have passed, and logs each wait to stderr. An operation may therefore
run more than once. It receives the current `NatsConnection` and can tell by its identity whether
server-side state of an earlier attempt still exists. Permanent errors (no such stream, wrong
password) raise `PipelineError` at once.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

import nats.errors
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import BadRequestError

from pathcast.errors import PipelineError

__all__ = [
    "RETRY_SECONDS",
    "NatsConnection",
    "OutboxAddress",
    "RetryingClient",
    "ServerAddress",
    "StreamAddress",
    "print_to_stderr",
]

RETRY_SECONDS: Final = 60.0
"""How long a server may be unreachable."""

T = TypeVar("T")
_DEFAULT_PORT: Final = 4222
_TOKEN: Final = re.compile(
    r"[^\s.*>/\\\x00-\x1f\x7f]{1,255}"
)  # a stream name; also one token of a subject
_MAX_SUBJECT_LENGTH: Final = 1_024  # the server limits a protocol line to 4096 characters
_MIN_BACKOFF: Final = 0.1
_MAX_BACKOFF: Final = 5.0
_CONNECT_TIMEOUT: Final = 5
_TRANSIENT_ERRORS: Final = (nats.errors.Error, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address and credentials of a NATS server; a user without a password is a token."""

    scheme: str
    host: str
    port: int
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """A stream to read, optionally restricted to a subject filter."""

    server: ServerAddress
    stream: str
    subject: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse nats://host:port/STREAM?subject=FILTER, or raise PipelineError."""
        parts, server, name = _parse_address(text, "STREAM")
        if not _TOKEN.fullmatch(name):
            raise _bad_address(text, f"{name!r} cannot be the name of a stream", "STREAM")
        query = parse_qs(parts.query, keep_blank_values=True)
        [subject] = query.pop("subject", [None])[-1:]
        if query:
            raise _bad_address(text, f"nothing is known of {', '.join(query)!r}", "STREAM")
        if subject is not None and not _is_subject(subject):
            raise _bad_address(text, f"{subject!r} is no subject", "STREAM")
        return cls(server, name, subject)

    def __str__(self) -> str:
        query = "" if self.subject is None else f"?subject={quote(self.subject, safe='.*>')}"
        return f"{self.server}/{quote(self.stream)}{query}"


@dataclass(frozen=True, slots=True)
class OutboxAddress:
    """The subjects below a prefix, one per subscriber."""

    server: ServerAddress
    prefix: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse nats://host:port/PREFIX, or raise PipelineError."""
        parts, server, name = _parse_address(text, "PREFIX")
        if parts.query or name.startswith("$") or not _is_subject(name) or set("*>") & set(name):
            raise _bad_address(text, f"{name!r} cannot be the beginning of a subject", "PREFIX")
        return cls(server, name)

    def __str__(self) -> str:
        return f"{self.server}/{quote(self.prefix)}"


def _parse_address(text: str, placeholder: str) -> tuple[SplitResult, ServerAddress, str]:
    """Return the parts of an address, its server, and the name in its path."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _bad_address(text, str(error), placeholder) from None
    if parts.scheme not in ("nats", "tls") or not parts.hostname or parts.fragment:
        raise _bad_address(text, "this is no address of NATS", placeholder)
    user, password = (
        None if credential is None else unquote(credential)
        for credential in (parts.username, parts.password)
    )
    server = ServerAddress(
        parts.scheme,
        parts.hostname,
        _DEFAULT_PORT if port is None else port,
        user or None,
        password,
    )
    return parts, server, unquote(parts.path.removeprefix("/"))


def _bad_address(text: str, reason: str, placeholder: str) -> PipelineError:
    redacted = re.sub(r"//[^/]*@", "//", text)
    return PipelineError(
        "nats",
        f"{redacted}: {reason}",
        hint=f"an address looks like nats://localhost:4222/{placeholder}",
    )


def _is_subject(subject: str) -> bool:
    """Return whether a text is a subject, wildcards allowed."""
    tokens = subject.split(".")
    return len(subject) <= _MAX_SUBJECT_LENGTH and all(
        part == "*" or (part == ">" and number == len(tokens)) or _TOKEN.fullmatch(part)
        for number, part in enumerate(tokens, 1)
    )


@dataclass(frozen=True, slots=True, eq=False)
class NatsConnection:
    """One connection. Consumers and subscriptions of an earlier connection do not survive in it."""

    client: Client
    jetstream: JetStreamContext
    closed: asyncio.Event


def print_to_stderr(message: str) -> None:
    """Print a progress message for the user."""
    print(message, file=sys.stderr, flush=True)  # noqa: T201 - workers have no other output


class RetryingClient:
    """A client of one NATS server that reconnects and retries; for use by one thread."""

    def __init__(
        self,
        server: ServerAddress,
        retry_seconds: float = RETRY_SECONDS,
        log: Callable[[str], None] = print_to_stderr,
    ) -> None:
        self._server = server
        self._retry_seconds = retry_seconds
        self._log = log
        self._runner = asyncio.Runner()
        self._connection: NatsConnection | None = None
        self._last_error: Exception | None = None  # the last asynchronous error; exceptions omit it

    def call(self, operation: Callable[[NatsConnection], Awaitable[T]]) -> T:
        """Run an operation until it succeeds; PipelineError after `retry_seconds`."""
        failing_since: float | None = None
        backoff = _MIN_BACKOFF
        while True:
            try:
                return self._runner.run(self._attempt(operation))
            except BadRequestError as error:
                raise PipelineError("nats", f"{self._server}: {error.description}") from None
            except _TRANSIENT_ERRORS as error:
                problem = self._describe(error)
                self._drop()
            now = time.monotonic()
            failing_since = now if failing_since is None else failing_since
            seconds_left = self._retry_seconds - (now - failing_since)
            if seconds_left <= 0:
                raise PipelineError(
                    "nats",
                    f"{self._server} does not answer: {problem}",
                    hint="is it running there, with JetStream on (nats-server -js)?",
                )
            self._log(f"waiting for {self._server}, for {seconds_left:.0f} s at most: {problem}")
            time.sleep(min(backoff, seconds_left))
            backoff = min(2 * backoff, _MAX_BACKOFF)

    def close(self) -> None:
        self._drop()
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _attempt(self, operation: Callable[[NatsConnection], Awaitable[T]]) -> T:
        if self._connection is None:
            self._connection = await self._connect()
        connection = self._connection
        running = asyncio.ensure_future(operation(connection))
        # The client library may wait forever on a closed connection, so watch for closing as well.
        closing = asyncio.ensure_future(connection.closed.wait())
        try:
            await asyncio.wait({running, closing}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            raise nats.errors.ConnectionClosedError
        finally:
            for task in (running, closing):
                task.cancel()
            await asyncio.gather(running, closing, return_exceptions=True)

    async def _connect(self) -> NatsConnection:
        closed = asyncio.Event()
        self._last_error = None

        async def on_error(error: Exception) -> None:
            self._last_error = error

        async def on_closed() -> None:
            closed.set()

        token = self._server.user if self._server.password is None else None
        client = Client()
        try:
            await client.connect(
                str(self._server),
                user=None if token else self._server.user,
                password=self._server.password,
                token=token,
                name="pathcast",
                error_cb=on_error,
                closed_cb=on_closed,
                connect_timeout=_CONNECT_TIMEOUT,
                allow_reconnect=False,  # done here: state on the server must be set up again
                max_reconnect_attempts=1,  # 0 means unlimited
                reconnect_time_wait=0,
            )
        except _TRANSIENT_ERRORS as error:
            await client.close()
            if "authorization" in f"{error} {self._last_error}".lower():
                raise PipelineError(
                    "nats",
                    f"{self._server} refuses the user: {error}",
                    hint="write nats://user:password@host:port/..., or nats://token@host:port/...",
                ) from None
            raise
        return NatsConnection(client, client.jetstream(), closed)

    def _describe(self, error: Exception) -> str:
        errors = [
            candidate
            for candidate in (self._last_error, error)
            if candidate is not None and str(candidate)
        ]
        return str(errors[0]) if errors else type(error).__name__

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*_TRANSIENT_ERRORS):
                self._runner.run(asyncio.wait_for(connection.client.close(), _CONNECT_TIMEOUT))
