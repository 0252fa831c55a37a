"""Inspection agrees with the router: random tables, all strategies, graphs with cycles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from pathcast.broker.broker import Settings
from pathcast.covering import covers
from pathcast.covering.merging import PathDistribution
from pathcast.errors import DocumentError
from pathcast.routing.advertisement import parse_advertisement
from pathcast.routing.inspect import (
    EntryReason,
    ForwardingKind,
    HopVerdict,
    format_table,
    prt,
    srt,
    why_document,
    why_entry,
)
from pathcast.routing.interests import LOCAL
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Interest, Origins, Publication, Subscribe, Unsubscribe
from pathcast.routing.requests import Cancel, Register
from pathcast.routing.router import Router
from pathcast.routing.strategy import STRATEGIES, Strategy, strategy
from pathcast.schema import parse_dtd
from pathcast.sim import Simulation
from pathcast.sim.topology import random_graph
from pathcast.xpath import parse
from tests.routing.network import Network

DTD = """<!ELEMENT a (b | c)*> <!ELEMENT b (c | d)*> <!ELEMENT c (d?, e?)>
<!ELEMENT d (#PCDATA)> <!ELEMENT e (#PCDATA)>"""
OFFERS = [parse_advertisement(text) for text in ("/a/b/c/d", "/a/c/e", "/a/b/d", "/a/b/c/e")]
PATTERNS = (
    *("/a/b/c/d", "/a/b/c", "/a/b/d", "/a/c/d", "/a/c/e", "/a/b/c/e", "/a/*/d", "/a/*/c"),
    *("//c", "//d", "//b/c", "/a//d", "/a//*", "/a/*", "/a/b", "/a[b/c]", "//c[d]", "//c[d='1']"),
)
BODIES = (
    b"<a><b><c><d/></c></b></a>",
    b"<a><c><e/></c></a>",
    b"<a><b><d/></b></a>",
    b"<a><b><c><d>1</d><e/></c></b><c/></a>",
    b"<a/>",
)


def backend_for(chosen: Strategy) -> MatcherBackend:
    return MatcherBackend(chosen, PathDistribution.uniform(parse_dtd(DTD)))


def random_network(rng: Random, name: str) -> Network:
    """Return a network after random requests; messages may be in transit."""
    chosen = strategy(name)
    backend = backend_for(chosen)
    size = rng.randint(3, 7)
    extra = rng.randint(0, min(3, (size - 1) * (size - 2) // 2))
    graph = random_graph(size, extra, rng.randrange(1 << 30))
    network = Network([(link.left, link.right) for link in graph.links], chosen, lambda: backend)
    homes: dict[str, str] = {}
    publishers: dict[str, str] = {}
    for number in range(rng.randint(5, 40)):
        broker = rng.choice(graph.brokers)
        match rng.randrange(8):
            case 0 | 1:
                publisher = rng.choice("pqrst")
                if publishers.setdefault(publisher, broker) == broker:
                    network.announce(broker, publisher, rng.choice(OFFERS))
            case 2 if publishers and rng.random() < 0.5:
                publisher = rng.choice(sorted(publishers))
                network.retract(publishers.pop(publisher), publisher)
            case 3 if homes:
                id = rng.choice(sorted(homes))
                network.cancel(homes.pop(id), id)
            case _:
                network.register(broker, f"s{number}", rng.choice(PATTERNS))
                homes[f"s{number}"] = broker
        if rng.random() < 0.3:
            network.drain()
        else:
            for _ in range(rng.randint(0, 4)):
                if busy := network.busy():
                    network.step(rng.choice(busy))
    return network


def networks(name: str, deep: bool) -> Iterator[Network]:
    for seed in range(200 if deep else 25):
        yield random_network(Random(f"{name} {seed}"), name)


def sent_entries(router: Router, neighbour: str) -> dict[Interest, set[Origins]]:
    return {
        interest: set(exceptions) for interest, exceptions in router.view(neighbour).sent.items()
    }


# --- documents ------------------------------------------------------------------------------------


def check_document(router: Router, document: Publication, came_from: str) -> Counter[HopVerdict]:
    traces = why_document(router, document, came_from)
    decision = router.decide(document, came_from)
    assert (
        tuple(sorted(trace.to for trace in traces if trace.taken and trace.to))
        == decision.neighbours
    )
    undecided = [trace.to for trace in traces if trace.verdict is HopVerdict.UNDECIDED]
    assert sorted(undecided) == sorted(decision.undecided)
    here = [
        id for trace in traces if trace.to == LOCAL and trace.taken for id in trace.subscriptions
    ]
    assert sorted(map(str, here)) == sorted(
        str(id) for delivery in decision.deliveries for id in delivery.subscriptions
    )
    assert {trace.to for trace in traces} == {LOCAL, *router.neighbours}
    format_table(traces)
    return Counter(trace.verdict for trace in traces)


@pytest.mark.parametrize("name", STRATEGIES)
def test_document_traces_agree_with_decisions(name: str, deep: bool) -> None:
    seen: Counter[HopVerdict] = Counter()
    rng = Random(name)
    for network in networks(name, deep):
        for router in network.routers.values():
            for _ in range(8):
                origin = rng.choice(sorted(network.routers))
                document = Publication("d", origin, "p", rng.choice(BODIES))
                seen += check_document(router, document, rng.choice((LOCAL, *router.neighbours)))
    rare = {HopVerdict.UNDECIDED, HopVerdict.FLOODED}
    if strategy(name).advertisements:
        rare.add(HopVerdict.EXCLUDED)  # needs many origins on a cycle
    assert set(seen) | rare == set(HopVerdict)


def test_document_traces_during_recovery_agree_with_decisions(deep: bool) -> None:
    """After each step of the recovery from three crashes, traces and decisions agree."""
    seen: Counter[HopVerdict] = Counter()
    unconfirmed = offers = 0
    for seed in range(40 if deep else 8):
        rng = Random(seed)
        settings = Settings(Strategy())
        run = Simulation(
            random_graph(5, 2, seed), settings, backend_for(settings.strategy), seed=seed
        )
        brokers = run.topology.brokers
        for publisher in "pq":
            run.announce(rng.choice(brokers), publisher, rng.choice(OFFERS))
        for number in range(8):
            run.subscribe(rng.choice(brokers), f"s{number}", rng.choice(PATTERNS))
        run.run_until_idle()
        for broker in rng.sample(brokers, 3):
            run.crash(broker)
        for broker in brokers:
            if run.hosts[broker].broker is None:
                run.restart(broker)
        for _ in range(60):
            run.step()
            for host in run.hosts.values():
                assert host.broker is not None
                router = host.broker.router
                document = Publication("d", rng.choice(brokers), "p", rng.choice(BODIES))
                seen += check_document(router, document, rng.choice((LOCAL, *router.neighbours)))
                unconfirmed += sum(row.unconfirmed for row in prt(router))
                offers += sum("unconfirmed" in row.state for row in srt(router))
        run.run_until_idle()
        for host in run.hosts.values():
            assert host.broker is not None
            assert not any(row.unconfirmed for row in prt(host.broker.router))
            assert not any("unconfirmed" in row.state for row in srt(host.broker.router))
    assert seen[HopVerdict.UNDECIDED]
    assert seen[HopVerdict.TAKEN]
    assert unconfirmed
    assert offers


def test_malformed_documents_raise() -> None:
    network = Network([("x", "y")], Strategy(), lambda: backend_for(Strategy()))
    network.register("x", "ann", "/a")
    with pytest.raises(DocumentError):
        why_document(network.routers["x"], Publication("d", "y", "p", b"<a>"), "y")


def test_prefixes_are_bound_per_subscription() -> None:
    router = Router("x", ["y"], Strategy(), backend_for(Strategy()))
    for id, space in (("one", "urn:1"), ("two", "urn:2")):
        router.request(Register(id, parse("/p:a", {"p": space}), id))
    document = Publication("d", "y", "p", b"<a xmlns='urn:2'/>")
    here, _ = why_document(router, document, "y")
    assert here.subscriptions == ("two",)


# --- entries --------------------------------------------------------------------------------------


def remove(router: Router, backend: MatcherBackend, reason: EntryReason) -> None:
    if reason.source == LOCAL:
        for id in reason.ids:
            router.request(Cancel(id))
    else:
        interest = backend.interest(reason.pattern)
        router.on_message(reason.source, Unsubscribe(interest, reason.except_origins))


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_entry_exists_as_long_as_one_of_its_reasons(name: str, deep: bool) -> None:
    checked = several = 0
    for seed, network in enumerate(networks(name, deep)):
        rng = Random(seed)
        for router in network.routers.values():
            backend = router.backend
            assert isinstance(backend, MatcherBackend)
            for neighbour in router.neighbours:
                entries = [
                    (interest, except_origins)
                    for interest, exceptions in sent_entries(router, neighbour).items()
                    for except_origins in exceptions
                ]
                if not entries:
                    continue
                interest, except_origins = rng.choice(entries)
                candidates = why_entry(router, neighbour, interest.pattern)
                assert {candidate.except_origins for candidate in candidates} == sent_entries(
                    router, neighbour
                )[interest]
                entry = next(
                    candidate
                    for candidate in candidates
                    if candidate.except_origins == except_origins
                )
                assert entry.reasons
                assert all(covers(interest.pattern, reason.pattern) for reason in entry.reasons)
                kept = rng.choice(entry.reasons)
                for reason in entry.reasons:
                    if reason != kept:
                        remove(router, backend, reason)
                # One reason is enough: an entry that represents it remains.
                assert backend.interest(kept.pattern) in router.view(neighbour).representatives()
                remove(router, backend, kept)
                assert except_origins not in sent_entries(router, neighbour).get(interest, set())
                checked += 1
                several += len(entry.reasons) > 1
    assert checked > 20
    assert several > 5


def test_an_entry_that_was_never_sent_has_no_reasons() -> None:
    network = Network([("x", "y")], Strategy(), lambda: backend_for(Strategy()))
    assert why_entry(network.routers["x"], "y", parse("/a")) == ()


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STRATEGIES)
def test_forwardings_of_entries(name: str, deep: bool) -> None:
    seen: Counter[ForwardingKind] = Counter()
    for network in networks(name, deep):
        for router in network.routers.values():
            backend = router.backend
            assert isinstance(backend, MatcherBackend)
            rows = list(prt(router))
            assert sum(max(len(row.ids), 1) for row in rows) == router.entry_count()
            format_table(rows)
            entries = {name: sent_entries(router, name) for name in router.neighbours}
            irrelevant = []
            for row in rows:
                interest = backend.interest(parse(row.pattern))
                assert [forwarding.neighbour for forwarding in row.forwardings] == [
                    name for name in router.neighbours if name != row.last_hop
                ]
                for forwarding in row.forwardings:
                    seen[forwarding.how] += 1
                    if forwarding.how is ForwardingKind.NOT:
                        irrelevant.append(
                            (interest, row.last_hop, row.except_origins, forwarding.neighbour)
                        )
                        continue
                    assert forwarding.by is not None
                    assert backend.interest(parse(forwarding.by)) in entries[forwarding.neighbour]
                    assert covers(forwarding.by, row.pattern)
                    same = bool(covers(row.pattern, forwarding.by))
                    if forwarding.how is not ForwardingKind.HIDDEN:
                        assert same is (forwarding.how is ForwardingKind.ITSELF)
            for entry in irrelevant:
                check_irrelevant(router, *entry)
    chosen = strategy(name)
    expected = {ForwardingKind.ITSELF, ForwardingKind.NOT}
    expected |= {ForwardingKind.HIDDEN} if chosen.covering else set()
    expected |= {ForwardingKind.MERGED} if chosen.limit is not None else set()
    assert set(seen) == expected


def check_irrelevant(
    router: Router, interest: Interest, source: str, except_origins: Origins, neighbour: str
) -> None:
    """Assert that removing an irrelevant entry changes nothing for the neighbour."""
    before = sent_entries(router, neighbour)
    if source == LOCAL:
        local = [
            (id, subscriber)
            for id, other, subscriber in router.subscriptions()
            if other is interest
        ]
        for id, _ in local:
            router.request(Cancel(id))
        assert sent_entries(router, neighbour) == before
        for id, subscriber in local:
            router.request(Register(id, interest.pattern, subscriber))
    else:
        router.on_message(source, Unsubscribe(interest, except_origins))
        assert sent_entries(router, neighbour) == before
        router.on_message(source, Subscribe(interest, except_origins))


def test_the_srt_has_all_offers(deep: bool) -> None:
    states = set()
    for network in networks("with-Adv-with-Cov", deep):
        for router in network.routers.values():
            rows = list(srt(router))
            assert len(rows) == router.trees.offer_count() + len(router.trees.local_advertisements)
            in_force = {
                (row.origin, row.publisher, row.last_hop) for row in rows if row.state == "in force"
            }
            assert in_force == {
                (origin, publisher, hop or LOCAL)
                for origin, publisher, hop, *_ in router.trees.rows()
            }
            states |= {row.state for row in rows}
    assert states == {"in force", "spare", "gets it from here"}


def test_as_text() -> None:
    """A line of three brokers, a publisher at x, subscribers at y and z."""
    chosen = Strategy()
    backend = backend_for(chosen)
    network = Network([("x", "y"), ("y", "z")], chosen, lambda: backend)
    network.announce("x", "news", OFFERS[0])
    network.register("y", "ann", "/a/b")
    network.register("z", "bob", "/a/b/c")
    network.register("z", "eve", "//e")
    network.drain()
    router = network.routers["y"]
    assert format_table(srt(router)) == (
        "origin  publisher  advertisement  last hop  path  state\n"
        "------  ---------  -------------  --------  ----  --------\n"
        "x       news       /a/b/c/d       x         x     in force\n"
    )
    assert format_table(prt(router)) == (
        "pattern  last hop  without  subscriptions  passed on\n"
        f"-------  --------  -------  -------------  {'-' * 50}\n"
        "/a/b     here      -        ann            "
        "x: as itself; z: not, no documents come from there\n"
        "/a/b/c   z         -        -              x: hidden by /a/b\n"
    )
    (entry,) = why_entry(router, "x", parse("/a/b"))
    assert str(entry) == (
        "x was sent /a/b because of\n"
        "pattern  wanted by  without  subscriptions\n"
        "-------  ---------  -------  -------------\n"
        "/a/b     here       -        ann\n"
        "/a/b/c   z          -        -\n"
    )
    document = Publication("d", "x", "news", BODIES[0])
    assert format_table(why_document(router, document, "x")) == (
        "to    verdict                        entries  subscriptions\n"
        "----  -----------------------------  -------  -------------\n"
        "here  taken: an entry matches        /a/b     ann\n"
        "x     not taken: it came from there  -        -\n"
        "z     taken: an entry matches        /a/b/c   -\n"
    )
    (forwarding,) = list(prt(network.routers["z"]))[1].forwardings
    assert str(forwarding) == "y: not, no advertisement from there overlaps"
    assert format_table([]) == "nothing\n"
    assert entry.as_dict()["reasons"] == [reason.as_dict() for reason in entry.reasons]
    assert next(iter(srt(router))).as_dict()["last_hop"] == "x"
    assert next(iter(prt(router))).as_dict()["subscriptions"] == ["ann"]
