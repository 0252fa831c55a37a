"""`Matcher`: returns the subscriptions that a document matches.

The matcher holds the parts that both engines share: ids (`id_table`), residuals (`residual`) and
results (`matches`). The engine (`engine`) matches documents.

Thread safety, compiled engine: threads may add and remove while others match. Matching releases the
GIL. A match sees every subscription added before it began, and none removed before. Only the
compiled engine supports several threads.

A matcher pickles as its snapshot, so a pool of processes or a Spark function can use it. It stays
as it was at that moment: changes to the original do not reach the copies.

>>> matcher = Matcher()
>>> matcher.add("desk-7", "/news/item[@lang = 'en']//person[. = 'Ann']", hop=2)
>>> matcher.add("all", "//item", hop=5)
>>> document = b"<news><item lang='en'><p><person>Ann</person></p></item></news>"
>>> list(matcher.match(document)), list(matcher.match_hops(document))
(['desk-7', 'all'], [2, 5])
"""

from __future__ import annotations

import os
import pickle  # noqa: TID251 - only to check whether a runner can be pickled
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from threading import RLock
from typing import Any, Literal

from pathcast.documents import Limits, to_octets
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Format, read_subscriptions
from pathcast.matching.engine import EngineName, make_engine
from pathcast.matching.explain import Explanation, explain
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Id, Matches, Stats, format_id
from pathcast.matching.residual import Residuals, Runner
from pathcast.matching.snapshot import Snapshot, SnapshotFile, read, write

__all__ = ["MAX_HOPS", "CanonicalText", "Matcher", "Subscription"]

MAX_HOPS = 4096
"""A hop is a number from 0 to `MAX_HOPS` - 1."""

Subscription = (
    tuple[Id, str]
    | tuple[Id, str, Mapping[str, str] | None]
    | tuple[Id, str, Mapping[str, str] | None, int | None]
)
"""An id and an XPath expression, optionally its namespaces, optionally its hop."""


@dataclass(frozen=True, slots=True)
class CanonicalText:
    """A subscription's expression in canonical form, and the namespaces of its prefixes.

    Adding it again gives an equal subscription.
    """

    xpath: str
    namespaces: Mapping[str, str] = field(hash=False)


class Matcher:
    """A set of subscriptions, and their matching. `runner` evaluates expensive subscriptions.

    Iteration yields the ids, in the order in which they were added or replaced.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        runner: Runner | None = None,
        engine: EngineName = "auto",
    ) -> None:
        self._limits = Limits() if limits is None else limits
        self._runner = runner
        self._engine_name: EngineName = engine
        self._id_table = IdTable()
        self._residuals = Residuals(runner)
        self._lock = RLock()  # writers hold it
        self._engine = make_engine(
            engine, self._id_table, self._limits, self._residuals, self._lock
        )

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        namespaces: Mapping[str, str] | None = None,
        allow_expensive: bool = False,
        file_format: Format | None = None,
        limits: Limits | None = None,
        runner: Runner | None = None,
        engine: EngineName = "auto",
    ) -> Matcher:
        """Return a matcher with the subscriptions of a `.txt`, `.tsv`, `.jsonl` or parquet file.

        `namespaces` are prefixes for all of them. Raise FormatError or SubscriptionError at the
        first bad row, with its line.
        """
        matcher = cls(limits=limits, runner=runner, engine=engine)
        for row in read_subscriptions(path, file_format=file_format, namespaces=namespaces):
            try:
                matcher.add(row.id, row.xpath, row.namespaces, allow_expensive=allow_expensive)
            except SubscriptionError as error:
                error.add_note(f"in {os.fspath(path)}, line {row.line}")
                raise
        return matcher

    # subscriptions

    def __len__(self) -> int:
        return len(self._id_table)

    def __contains__(self, id: object) -> bool:
        return id in self._id_table

    def __iter__(self) -> Iterator[Id]:
        with self._lock:
            return iter(list(self._id_table))

    def get(self, id: Id) -> CanonicalText:
        """Return the expression of a subscription; raise KeyError if none has this id."""
        with self._lock:
            number = self._id_table.number(id)
            if number is None:
                raise KeyError(id)
            text, namespaces = self._engine.describe(number)
        return CanonicalText(text, dict(namespaces))

    def add(
        self,
        id: Id,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        *,
        hop: int | None = None,
        allow_expensive: bool = False,
    ) -> None:
        """Add a subscription; raise SubscriptionError and change nothing if it is invalid.

        `hop` is the number that `match_hops` returns for it, such as the neighbour it came from.
        """
        _check_arguments(namespaces, hop)
        with self._lock:
            self._id_table.check(id)
            self._engine.add(xpath, namespaces, hop, allow_expensive)
            self._id_table.add(id)

    def add_many(
        self, subscriptions: Iterable[Subscription], *, allow_expensive: bool = False
    ) -> int:
        """Add subscriptions in order, and return their number.

        Raise SubscriptionError at the first invalid one; those before it stay.
        """
        added = 0
        for row in subscriptions:
            id, xpath, namespaces, hop = _unpack_row(row)
            try:
                self.add(id, xpath, namespaces, hop=hop, allow_expensive=allow_expensive)
            except SubscriptionError as error:
                error.add_note(f"in subscription {format_id(id)}, after {added} others were added")
                raise
            added += 1
        return added

    def replace(
        self,
        id: Id,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        *,
        hop: int | None = None,
        allow_expensive: bool = False,
    ) -> None:
        """Replace a subscription by one with the same id, in one step.

        Every document matches against the old one or the new one. Raise KeyError if no subscription
        has this id, and SubscriptionError if the new one is invalid: the old one then stays.
        """
        _check_arguments(namespaces, hop)
        with self._lock:
            number = self._id_table.number(id)
            if number is None:
                raise KeyError(id)
            self._engine.replace(number, xpath, namespaces, hop, allow_expensive)
            self._id_table.renew(id)
            self._settle_if_mostly_dead()

    def remove(self, id: Id) -> None:
        """Remove a subscription; raise KeyError if none has this id."""
        with self._lock:
            self._engine.remove(self._id_table.remove(id))
            self._settle_if_mostly_dead()

    def _settle_if_mostly_dead(self) -> None:
        if self._id_table.mostly_dead:
            self.settle()

    def settle(self) -> None:
        """Merge all tiers now: one automaton, without the removed subscriptions."""
        with self._lock:
            self._compact()
            self._engine.settle()

    def _compact(self) -> None:
        """Renumber the subscriptions from 0 without gaps."""
        if len(self._id_table.ids) > len(self._id_table):
            self._engine.renumber(self._id_table.compact())

    # snapshots

    def save(self, file: SnapshotFile) -> None:
        """Write all subscriptions to a file, atomically, or to a binary stream.

        `load` parses no texts.
        """
        write(self._snapshot(), file)

    def _snapshot(self) -> Snapshot:
        with self._lock:
            self._compact()
            return self._engine.snapshot()

    @classmethod
    def load(
        cls,
        file: SnapshotFile,
        *,
        limits: Limits | None = None,
        runner: Runner | None = None,
        engine: EngineName = "auto",
    ) -> Matcher:
        """Return a matcher with the subscriptions of a saved file, or of a seekable stream.

        Raise FormatError if the file is damaged or not a snapshot. A checksum proves integrity, not
        origin: load files only from sources whose subscriptions you would accept.
        """
        snapshot = read(file)
        matcher = cls(limits=limits, runner=runner, engine=engine)
        try:
            matcher._engine.restore(snapshot)
        except (ValueError, LookupError) as error:
            if isinstance(error, SubscriptionError) and error.kind == "expensive":
                raise  # the file is valid, the matcher lacks a runner
            raise FormatError("content", f"{file} cannot be restored: {error}") from error
        matcher._id_table.fill(snapshot.ids)
        return matcher

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.dumps(self._runner)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise TypeError(
                f"this matcher cannot be pickled, because its runner cannot: {error}; "
                "use Matcher.save, and in the other process Matcher.load with a runner of its own"
            ) from error
        content = BytesIO()
        self.save(content)
        return _unpickle, (content.getvalue(), self._limits, self._runner, self._engine_name)

    # documents

    def match(self, body: bytes | str) -> Matches:
        """Return the subscriptions that a document matches; raise DocumentError.

        The encoding that a str declares is ignored: it is decoded already.
        """
        return self._engine.match(body if type(body) is bytes else to_octets(body))

    def match_hops(self, body: bytes | str) -> Hops:
        """Return only the hops of the subscriptions that a document matches; raise DocumentError.

        It reads hop masks and not subscriptions, so its cost is little more than parsing, for any
        number of subscriptions.
        """
        return self._engine.match_hops(to_octets(body))

    def match_batch(self, bodies: Iterable[bytes | str]) -> Batch:
        """Match several documents against the subscriptions at the time of the call.

        A rejected document has its error in `Batch.errors`.
        """
        if isinstance(bodies, bytes | bytearray | memoryview | str):
            raise TypeError("match_batch takes several documents: put a single one into a list")
        return self._engine.match_batch(bodies)

    # introspection

    def explain(
        self,
        xpath: str,
        body: bytes | str,
        namespaces: Mapping[str, str] | None = None,
        *,
        allow_expensive: bool = False,
    ) -> Explanation:
        """Explain why a document matches an expression (not an id), or where it fails."""
        return explain(xpath, body, namespaces, self._limits, allow_expensive=allow_expensive)

    def draw(self, style: Literal["text", "dot"] = "text") -> str:
        """Return the NFA as an indented tree ("text") or for Graphviz ("dot")."""
        return self._engine.draw(style)

    def stats(self) -> Stats:
        """Return the contents of the matcher and counters of its work."""
        residuals = self._residuals
        rate = residuals.false / residuals.passed if residuals.passed else None
        fields: dict[str, Any] = self._engine.stat_fields()
        lookups = fields["memo_hits"] + fields["memo_misses"]
        return Stats(
            engine=self._engine.name,
            subscriptions=len(self._id_table),
            skeletons_passed=residuals.passed,
            residuals_false=residuals.false,
            residual_errors=residuals.errors,
            false_pass_rate=rate,
            memo_hit_rate=fields["memo_hits"] / lookups if lookups else None,
            **fields,
        )


def _unpickle(content: bytes, limits: Limits, runner: Runner | None, engine: EngineName) -> Matcher:
    return Matcher.load(BytesIO(content), limits=limits, runner=runner, engine=engine)


def _check_arguments(namespaces: Mapping[str, str] | None, hop: int | None) -> None:
    """Raise SubscriptionError or TypeError if the arguments of an addition are invalid."""
    if hop is not None and not (type(hop) is int and 0 <= hop < MAX_HOPS):
        raise SubscriptionError("hop", f"a hop is a number from 0 to {MAX_HOPS - 1}, not {hop!r}")
    if namespaces is not None and not isinstance(namespaces, Mapping):
        raise TypeError(f"namespaces map prefixes to addresses, not {namespaces!r:.80}")


def _unpack_row(row: Any) -> tuple[Id, str, Mapping[str, str] | None, int | None]:
    """Return a row of `add_many` with None for its missing fields."""
    if not isinstance(row, (tuple, list)) or not 2 <= len(row) <= 4:
        raise TypeError(
            "a subscription is (id, xpath), (id, xpath, namespaces) "
            f"or (id, xpath, namespaces, hop), not {row!r:.80}"
        )
    if len(row) == 2:
        return row[0], row[1], None, None
    fields: list[Any] = [*row, None]
    return fields[0], fields[1], fields[2], fields[3]
