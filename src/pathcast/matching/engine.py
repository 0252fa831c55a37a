"""What an engine is, and which one runs.

There are two: `compiled` on the core that Cython made, and `plain`, all Python, which is the oracle of the other and what
is left where the core is not there. A core that was built for another libxml2 than the one lxml brings would
read its structs wrongly, so it is not used: the first two numbers of the version must agree.

`PATHCAST_REQUIRE_CORE=1` makes a missing core an error, so that nobody tests or measures the wrong engine.
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
    """Subscriptions by number in, matches out. Ids are the register's business."""

    name: str

    def add(
        self,
        xpath: str,
        namespaces: Mapping[str, str] | None,
        hop: int | None,
        allow_expensive: bool,
    ) -> None:
        """Take the register's next number; raises SubscriptionError and leaves everything as it was."""
        ...

    def remove(self, number: int) -> None:
        """The subscription is gone from the next document on."""
        ...

    def renumber(self, kept: list[int]) -> None:
        """The register has been compacted: the numbers that are left are 0, 1, 2 ... from now on."""
        ...

    def settle(self) -> None:
        """Do now what would be done bit by bit: merge what came lately, drop what is gone."""
        ...

    def match(self, body: bytes) -> Matches:
        """The subscriptions that a document matches; raises DocumentError."""
        ...

    def match_batch(self, bodies: Iterable[bytes]) -> Batch:
        """The same for many documents, all against the subscriptions of the moment when it began."""
        ...

    def match_hops(self, body: bytes) -> Hops:
        """The hops of the subscriptions that a document matches; raises DocumentError."""
        ...

    def snapshot(self) -> Snapshot:
        """All subscriptions; the register has just been compacted."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Take the subscriptions of a snapshot, where there are none yet; the register has their ids."""
        ...

    def draw(self, style: Literal["text", "dot"]) -> str:
        """The automaton."""
        ...

    def stat_fields(self) -> dict[str, int | Mapping[str, int]]:
        """The engine's part of `Stats`."""
        ...


def make_engine(
    name: EngineName, id_table: IdTable, limits: Limits, residuals: Residuals, lock: RLock
) -> Engine:
    """The engine that is asked for; "auto" is the compiled one where it can run."""
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
    """Why the core cannot run; None if it can."""
    try:
        from pathcast.matching.compiled.core.node_table import BUILT_FOR
    except ImportError as error:
        return f"it is not built ({error})"
    from lxml import etree

    if etree.LIBXML_VERSION[:2] != BUILT_FOR[:2]:
        built, found = (".".join(map(str, one[:2])) for one in (BUILT_FOR, etree.LIBXML_VERSION))
        return f"it was built for libxml2 {built}, and lxml brings {found}"
    return None
