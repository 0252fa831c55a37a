"""`Matcher`: which of the subscriptions does this document match?

The door. Who a subscription is (`register`), what is left to libxml2 (`residual`) and what an answer looks
like (`matches`) is the same for both engines (`engine`); how a document is matched is theirs.

Threads may add and remove while others match. With the compiled engine a document is matched without the
interpreter's lock; it sees every subscription that was added before its match began, and none that was removed
before. Only the compiled engine is for several threads.

>>> matcher = Matcher()
>>> matcher.add("desk-7", "/news/item[@lang = 'en']//person[. = 'Ann']", hop=2)
>>> matcher.add("all", "//item", hop=5)
>>> document = b"<news><item lang='en'><p><person>Ann</person></p></item></news>"
>>> list(matcher.match(document)), list(matcher.match_hops(document))
(['desk-7', 'all'], [2, 5])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from threading import RLock
from typing import Any, Literal

from pathcast.documents import Limits
from pathcast.errors import FormatError, SubscriptionError
from pathcast.matching.engine import EngineName, make_engine
from pathcast.matching.explain import Explanation, explain
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Id, Matches, Stats, format_id
from pathcast.matching.residual import Residuals, Runner
from pathcast.matching.snapshot import read, write

__all__ = ["MAX_HOPS", "Matcher", "Subscription"]

MAX_HOPS = 4096
"""Hops are numbers from 0 to one less than this."""

Subscription = (
    tuple[Id, str]
    | tuple[Id, str, Mapping[str, str] | None]
    | tuple[Id, str, Mapping[str, str] | None, int | None]
)
"""An id and an XPath expression, and perhaps its namespaces, and its hop."""


class Matcher:
    """Subscriptions in, matches out. `runner` evaluates expensive subscriptions, if any are allowed."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        runner: Runner | None = None,
        engine: EngineName = "auto",
    ) -> None:
        self._limits = Limits() if limits is None else limits
        self._id_table = IdTable()
        self._residuals = Residuals(runner)
        self._lock = RLock()  # held by whoever changes something
        self._engine = make_engine(
            engine, self._id_table, self._limits, self._residuals, self._lock
        )

    def __len__(self) -> int:
        return len(self._id_table)

    def __contains__(self, id: object) -> bool:
        return id in self._id_table

    # subscriptions

    def add(
        self,
        id: Id,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        *,
        hop: int | None = None,
        allow_expensive: bool = False,
    ) -> None:
        """IdTable a subscription; raises SubscriptionError and leaves everything as it was.

        `hop` is the small number that `match_hops` gives for it: the neighbour that it came from, say.
        """
        if hop is not None and not (type(hop) is int and 0 <= hop < MAX_HOPS):
            raise SubscriptionError(
                "hop", f"a hop is a number from 0 to {MAX_HOPS - 1}, not {hop!r}"
            )
        if namespaces is not None and not isinstance(namespaces, Mapping):
            raise TypeError(f"namespaces map prefixes to addresses, not {namespaces!r:.80}")
        with self._lock:
            self._id_table.check(id)
            self._engine.add(xpath, namespaces, hop, allow_expensive)
            self._id_table.add(id)

    def add_many(
        self, subscriptions: Iterable[Subscription], *, allow_expensive: bool = False
    ) -> int:
        """IdTable many, in order: each an id and an XPath, and perhaps its namespaces, and its hop.

        Stops with SubscriptionError at the first bad one; those before it stay. Returns how many.
        """
        added = 0
        for row in subscriptions:
            id, xpath, namespaces, hop = _filled(row)
            try:
                self.add(id, xpath, namespaces, hop=hop, allow_expensive=allow_expensive)
            except SubscriptionError as error:
                error.add_note(f"in subscription {format_id(id)}, after {added} others were added")
                raise
            added += 1
        return added

    def remove(self, id: Id) -> None:
        """Cancel a subscription; raises KeyError if there is none with this id."""
        with self._lock:
            self._engine.remove(self._id_table.remove(id))
            if self._id_table.mostly_dead:
                self.settle()

    def settle(self) -> None:
        """Tidy up now instead of bit by bit: one automaton, and nothing in it of subscriptions that are gone."""
        with self._lock:
            self._compact()
            self._engine.settle()

    def _compact(self) -> None:
        """Number those that are there from 0 without gaps."""
        if len(self._id_table.ids) > len(self._id_table):
            self._engine.renumber(self._id_table.compact())

    # snapshots

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all subscriptions to a file, at once or not at all; `load` reads them far faster than texts."""
        with self._lock:
            self._compact()
            snapshot = self._engine.snapshot()
        write(snapshot, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits | None = None,
        runner: Runner | None = None,
        engine: EngineName = "auto",
    ) -> Matcher:
        """A matcher with the subscriptions of a saved file; raises FormatError if it is none, or damaged.

        A checksum tells damage, not intent: load files of those whose subscriptions you would take.
        """
        snapshot = read(path)
        matcher = cls(limits=limits, runner=runner, engine=engine)
        try:
            matcher._engine.restore(snapshot)
        except (ValueError, LookupError) as error:
            if isinstance(error, SubscriptionError) and error.kind == "expensive":
                raise  # nothing is wrong with the file: the matcher lacks a runner
            raise FormatError("content", f"{path} cannot be restored: {error}") from error
        matcher._id_table.fill(snapshot.ids)
        return matcher

    # documents

    def match(self, body: bytes) -> Matches:
        """The subscriptions that a document matches; raises DocumentError."""
        return self._engine.match(body)

    def match_hops(self, body: bytes) -> Hops:
        """Only the hops of the subscriptions that a document matches; raises DocumentError.

        Nobody counts the subscriptions, so it costs little more than parsing, however many there are.
        """
        return self._engine.match_hops(body)

    def match_batch(self, bodies: Iterable[bytes]) -> Batch:
        """Many documents, all against the subscriptions of this moment; one that is refused has its error in `errors`."""
        if isinstance(bodies, bytes | bytearray | memoryview | str):
            raise TypeError("match_batch takes several documents: put a single one into a list")
        return self._engine.match_batch(bodies)

    # what it looks like

    def explain(
        self,
        xpath: str,
        body: bytes,
        namespaces: Mapping[str, str] | None = None,
        *,
        allow_expensive: bool = False,
    ) -> Explanation:
        """Why a document matches an expression (not an id), or where and why it does not."""
        return explain(xpath, body, namespaces, self._limits, allow_expensive=allow_expensive)

    def draw(self, style: Literal["text", "dot"] = "text") -> str:
        """The automaton, for people (text) or for Graphviz (dot)."""
        return self._engine.draw(style)

    def stats(self) -> Stats:
        """What the matcher holds and did."""
        residuals = self._residuals
        rate = residuals.false / residuals.passed if residuals.passed else None
        figures: dict[str, Any] = self._engine.stat_fields()
        asked = figures["memo_hits"] + figures["memo_misses"]
        return Stats(
            engine=self._engine.name,
            subscriptions=len(self._id_table),
            skeletons_passed=residuals.passed,
            residuals_false=residuals.false,
            residual_errors=residuals.errors,
            false_pass_rate=rate,
            memo_hit_rate=figures["memo_hits"] / asked if asked else None,
            **figures,
        )


def _filled(row: Any) -> tuple[Id, str, Mapping[str, str] | None, int | None]:
    """A row of `add_many` with all of its parts."""
    if not isinstance(row, tuple | list) or not 2 <= len(row) <= 4:
        raise TypeError(
            "a subscription is (id, xpath), (id, xpath, namespaces) or (id, xpath, namespaces, hop), "
            f"not {row!r:.80}"
        )
    parts: list[Any] = [*row, None, None]
    return parts[0], parts[1], parts[2], parts[3]
