"""What a picture of an overlay says, as values: the tables and clients of each broker, the traffic of each link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pathcast.routing.inspect.text import format_origins, summarize
from pathcast.routing.router import Router
from pathcast.sim.metrics import RunSummary
from pathcast.sim.simulation import BrokerHost, Simulation
from pathcast.sim.wires import Wire

__all__ = ["BrokerFacts", "LinkFacts", "amount", "brokers", "heading", "links", "many"]

_ROWS = 5  # of each table, shown when the pointer is over a broker
_LONG = 60  # characters of a pattern


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """`srt` and `prt` are the sizes of its tables, None if it is down; `told` is for whoever wants to know more."""

    name: str
    srt: int | None
    prt: int | None
    publishers: int
    subscriptions: int
    told: str

    @property
    def up(self) -> bool:
        return self.srt is not None


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """Both directions together."""

    one: str
    other: str
    bytes: int
    documents: int
    cut: bool
    told: str

    @property
    def name(self) -> str:
        return f"{self.one}-{self.other}"


def brokers(run: Simulation) -> list[BrokerFacts]:
    return [_broker(name, run.hosts[name]) for name in run.topology.brokers]


def _broker(name: str, host: BrokerHost) -> BrokerFacts:
    router = host.broker.router if host.broker is not None else None
    publishers, subscriptions = len(host.clients.publishers), len(host.clients.subscriptions)
    clients = f"{many(publishers, 'publisher')}, {many(subscriptions, 'subscription')}"
    if router is None:
        return BrokerFacts(
            name, None, None, publishers, subscriptions, f"{name} is down\n{clients}"
        )
    srt, prt = router.trees.offer_count(), router.entry_count()
    lines = [f"{name}: {clients}"]
    lines += _table("SRT", srt, _advertised(router))
    lines += _table("PRT", prt, _wanted(router))
    return BrokerFacts(name, srt, prt, publishers, subscriptions, "\n".join(lines))


def _table(name: str, size: int, rows: Iterator[str]) -> list[str]:
    shown = [f"  {row}" for row in islice(rows, _ROWS)]
    more = [f"  and {size - len(shown):,} more"] if size > len(shown) else []
    return [f"{name}: {many(size, 'entry', 'entries')}", *shown, *more]


def _advertised(router: Router) -> Iterator[str]:
    for neighbour, origin, publisher, _, one in router.trees.all_offers():
        yield f"{publisher or '-'} of {origin} by {neighbour}: {summarize(one)}"


def _wanted(router: Router) -> Iterator[str]:
    for id, interest, _ in router.subscriptions():
        yield f"{_cut(interest.pattern.text)} for {id}"
    for neighbour in router.neighbours:
        for interest, except_origins in router.entries_of(neighbour):
            besides = f" but from {format_origins(except_origins)}" if except_origins else ""
            yield f"{_cut(interest.pattern.text)} for {neighbour}{besides}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def links(run: Simulation) -> list[LinkFacts]:
    found = []
    for link in run.topology.links:
        ways = [(link.left, link.right), (link.right, link.left)]
        wires = [run.wires[way] for way in ways]
        crossed = [run.metrics.crossings[way] for way in ways]
        cut = any(wire.cut for wire in wires)
        lines = [f"{link}: {link.latency * 1000:g} ms{', cut' if cut else ''}"]
        lines += [
            f"  {sender} to {receiver}: {_traffic(wire, documents)}"
            for (sender, receiver), wire, documents in zip(ways, wires, crossed, strict=True)
        ]
        carried = sum(wire.bytes for wire in wires)
        found.append(LinkFacts(link.left, link.right, carried, sum(crossed), cut, "\n".join(lines)))
    return found


def _traffic(wire: Wire, documents: int) -> str:
    lost = f", {wire.lost:,} lost" if wire.lost else ""
    return (
        f"{many(documents, 'document')}, {many(wire.frames, 'frame')}{lost}, {amount(wire.bytes)}"
    )


def heading(run: Simulation) -> tuple[str, list[str]]:
    """A title, and lines with totals."""
    summary = RunSummary.of(run)
    topology = run.topology
    size = f"{many(len(topology.brokers), 'broker')}, {many(len(topology.links), 'link')}"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.received.items())
    lines = [
        f"{many(sum(summary.received.values()), 'message')} received by brokers ({kinds or 'none'}), {amount(summary.bytes)} on the links",
        (
            f"{many(summary.accepted, 'document')} accepted, {summary.deliveries:,} deliveries, {summary.delay * 1000:.3g} ms on average,"
            f" {summary.wasted:,} in vain, at {summary.time:.6g} s"
        ),
    ]
    down = sum(host.broker is None for host in run.hosts.values())
    cut = sum(run.wires[link.left, link.right].cut for link in topology.links)
    if down or cut:
        lines.append(f"{many(down, 'broker')} down, {many(cut, 'link')} cut")
    return f"{topology.name}: {size}; {run.settings.strategy}", lines


def many(number: int, thing: str, things: str | None = None) -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def amount(size: int) -> str:
    """Bytes in few characters.

    >>> [amount(size) for size in (0, 999, 1000, 12_345, 999_949, 7_654_321)]
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
