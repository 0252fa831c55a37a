"""The interface of a matching engine, and the choice between the two.

`compiled` runs on the Cython core. `plain` is pure Python: it is the oracle of the other, and the
fallback where the core is missing. The core reads libxml2's structs, so it runs only with the
libxml2 that it was built for: major and minor version must equal those of lxml's.

`PATHCAST_REQUIRE_CORE=1` turns a missing core into an error, so that tests and benchmarks do not
silently use the plain engine.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from threading import RLock
from typing import Literal, Protocol

from pathcast.documents import Limits
from pathcast.matching.id_table import IdTable
from pathcast.matching.matches import Batch, Hops, Matches
from pathcast.matching.residual import Residuals
from pathcast.matching.snapshot import Snapshot

__all__ = ["Engine", "EngineName", "make_engine"]

EngineName = Literal["auto", "core", "plain"]


class Engine(Protocol):
    """Matches documents against subscriptions by number; `IdTable` holds their ids."""

    name: str

    def add(
        self,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        """Add a subscription under the id table's next number.

        Raise SubscriptionError and change nothing if it is invalid.
        """
        ...

    def remove(self, number: int) -> None:
        """Remove a subscription; the next document does not match it."""
        ...

    def replace(
        self,
        number: int,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        """Add a subscription as `add` does, and remove another, in one step.

        No document matches against both of them, or against neither.
        """
        ...

    def describe(self, number: int) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return the canonical text of a subscription, and the namespaces of its prefixes."""
        ...

    def renumber(self, kept: list[int]) -> None:
        """Follow a compaction of the id table: `kept[i]` becomes number i."""
        ...

    def settle(self) -> None:
        """Merge all tiers into one automaton without the removed subscriptions."""
        ...

    def match(self, body: bytes) -> Matches:
        """Return the subscriptions that a document matches; raise DocumentError."""
        ...

    def match_batch(self, bodies: Iterable[bytes | str]) -> Batch:
        """Match several documents against the subscriptions at the time of the call."""
        ...

    def match_hops(self, body: bytes) -> Hops:
        """Return the hops of the subscriptions that a document matches; raise DocumentError."""
        ...

    def snapshot(self) -> Snapshot:
        """Return a snapshot of all subscriptions; the id table has just been compacted."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Load a snapshot into an empty engine; the caller fills the id table."""
        ...

    def draw(self, style: Literal["text", "dot"]) -> str:
        """Return the NFA as text or DOT."""
        ...

    def stat_fields(self) -> dict[str, int | Mapping[str, int]]:
        """Return the fields of `Stats` that the engine knows."""
        ...


def make_engine(
    name: EngineName, id_table: IdTable, limits: Limits, residuals: Residuals, lock: RLock
) -> Engine:
    """Return the named engine; "auto" is the compiled one where it can run."""
    if name not in ("auto", "core", "plain"):
        raise ValueError(f"engine is 'auto', 'core' or 'plain', not {name!r}")
    if name != "plain":
        problem = _core_problem()
        if problem is None:
            from pathcast.matching.compiled.engine import CompiledEngine

            return CompiledEngine(id_table, limits, residuals, lock)
        if name == "core" or os.environ.get("PATHCAST_REQUIRE_CORE"):
            raise RuntimeError(f"the compiled core cannot be used: {problem}")
        warnings.warn(
            f"matching in plain Python, which is far slower: {problem}",
            RuntimeWarning,
            stacklevel=3,
        )
    from pathcast.matching.plain.engine import PlainEngine

    return PlainEngine(id_table, limits, residuals, lock)


def _core_problem() -> str | None:
    """Return why the core cannot run, None if it can."""
    try:
        from pathcast.matching.compiled.core.node_table import BUILT_FOR
    except ImportError as error:
        return f"it is not built ({error})"
    from lxml import etree

    if etree.LIBXML_VERSION[:2] != BUILT_FOR[:2]:
        built, loaded = (
            ".".join(map(str, version[:2])) for version in (BUILT_FOR, etree.LIBXML_VERSION)
        )
        return f"it was built for libxml2 {built}, and lxml brings {loaded}"
    return None
