"""The contents of a picture: the tables and clients of each broker, the traffic of each link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pathcast.routing.inspect.text import format_origins, summarize
from pathcast.routing.router import Router
from pathcast.sim.metrics import RunSummary
from pathcast.sim.simulation import BrokerHost, Simulation
from pathcast.sim.wires import Wire

__all__ = [
    "BrokerFacts",
    "LinkFacts",
    "broker_facts",
    "format_bytes",
    "heading",
    "link_facts",
    "plural",
]

_TOOLTIP_ROWS = 5  # of each table
_MAX_PATTERN_LENGTH = 60  # characters


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """A broker; `srt` and `prt` are the sizes of its tables, None if it is down."""

    name: str
    srt: int | None
    prt: int | None
    publishers: int
    subscriptions: int
    tooltip: str

    @property
    def up(self) -> bool:
        return self.srt is not None


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """A link, with the traffic of both directions together."""

    left: str
    right: str
    bytes: int
    documents: int
    cut: bool
    tooltip: str

    @property
    def name(self) -> str:
        return f"{self.left}-{self.right}"


def broker_facts(run: Simulation) -> list[BrokerFacts]:
    return [_facts_of(name, run.hosts[name]) for name in run.topology.brokers]


def _facts_of(name: str, host: BrokerHost) -> BrokerFacts:
    router = host.broker.router if host.broker is not None else None
    publishers, subscriptions = len(host.clients.publishers), len(host.clients.subscriptions)
    clients = f"{plural(publishers, 'publisher')}, {plural(subscriptions, 'subscription')}"
    if router is None:
        return BrokerFacts(
            name, None, None, publishers, subscriptions, f"{name} is down\n{clients}"
        )
    srt, prt = router.trees.offer_count(), router.entry_count()
    lines = [f"{name}: {clients}"]
    lines += _table("SRT", srt, _srt_rows(router))
    lines += _table("PRT", prt, _prt_rows(router))
    return BrokerFacts(name, srt, prt, publishers, subscriptions, "\n".join(lines))


def _table(name: str, size: int, rows: Iterator[str]) -> list[str]:
    shown = [f"  {row}" for row in islice(rows, _TOOLTIP_ROWS)]
    more = [f"  and {size - len(shown):,} more"] if size > len(shown) else []
    return [f"{name}: {plural(size, 'entry', 'entries')}", *shown, *more]


def _srt_rows(router: Router) -> Iterator[str]:
    for neighbour, origin, publisher, _, advertisement in router.trees.all_offers():
        yield f"{publisher or '-'} of {origin} by {neighbour}: {summarize(advertisement)}"


def _prt_rows(router: Router) -> Iterator[str]:
    for id, interest, _ in router.subscriptions():
        yield f"{_shorten(interest.pattern.text)} for {id}"
    for neighbour in router.neighbours:
        for interest, except_origins in router.entries_of(neighbour):
            exception = f" but from {format_origins(except_origins)}" if except_origins else ""
            yield f"{_shorten(interest.pattern.text)} for {neighbour}{exception}"


def _shorten(text: str) -> str:
    limit = _MAX_PATTERN_LENGTH
    return text if len(text) <= limit else text[: limit - 3] + "..."


def link_facts(run: Simulation) -> list[LinkFacts]:
    facts = []
    for link in run.topology.links:
        directions = [(link.left, link.right), (link.right, link.left)]
        wires = [run.wires[direction] for direction in directions]
        documents = [run.metrics.crossings[direction] for direction in directions]
        cut = any(wire.cut for wire in wires)
        lines = [f"{link}: {link.latency * 1000:g} ms{', cut' if cut else ''}"]
        lines += [
            f"  {sender} to {receiver}: {_traffic(wire, count)}"
            for (sender, receiver), wire, count in zip(directions, wires, documents, strict=True)
        ]
        size = sum(wire.bytes for wire in wires)
        tooltip = "\n".join(lines)
        facts.append(LinkFacts(link.left, link.right, size, sum(documents), cut, tooltip))
    return facts


def _traffic(wire: Wire, documents: int) -> str:
    lost = f", {wire.lost:,} lost" if wire.lost else ""
    frames = plural(wire.frames, "frame")
    return f"{plural(documents, 'document')}, {frames}{lost}, {format_bytes(wire.bytes)}"


def heading(run: Simulation) -> tuple[str, list[str]]:
    """Return the title of the picture, and lines with totals."""
    summary = RunSummary.of(run)
    topology = run.topology
    size = f"{plural(len(topology.brokers), 'broker')}, {plural(len(topology.links), 'link')}"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.received.items())
    lines = [
        (
            f"{plural(sum(summary.received.values()), 'message')} received by brokers"
            f" ({kinds or 'none'}), {format_bytes(summary.bytes)} on the links"
        ),
        (
            f"{plural(summary.accepted, 'document')} accepted, {summary.deliveries:,} deliveries,"
            f" {summary.delay * 1000:.3g} ms on average,"
            f" {summary.wasted:,} wasted, at {summary.time:.6g} s"
        ),
    ]
    down, cut = len(run.brokers_down()), len(run.links_cut())
    if down or cut:
        lines.append(f"{plural(down, 'broker')} down, {plural(cut, 'link')} cut")
    return f"{topology.name}: {size}; {run.settings.strategy}", lines


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """Return a count with its noun, such as `1 link` or `2 links`."""
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


def format_bytes(size: int) -> str:
    """Return a number of bytes with a unit, in few characters.

    >>> [format_bytes(size) for size in (0, 999, 1000, 12_345, 999_949, 7_654_321)]
    ['0 B', '999 B', '1.0 kB', '12.3 kB', '999.9 kB', '7.7 MB']
    """
    if size < 1000:
        return f"{size} B"
    value = size / 1000
    for unit in ("kB", "MB", "GB"):
        if round(value, 1) < 1000:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
