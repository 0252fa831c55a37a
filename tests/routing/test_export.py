"""An exported table decides as its broker does, on random tables and through files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.broker.broker import Settings
from pathcast.errors import RoutingError
from pathcast.files import Subscription, read_subscriptions
from pathcast.routing.advertisement import parse_advertisement
from pathcast.routing.export import HopEntry, hop_table
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import (
    Advertise,
    Complete,
    FactKind,
    Publication,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pathcast.routing.requests import Announce, Cancel, Register
from pathcast.routing.router import Router
from pathcast.routing.strategy import STRATEGIES, Strategy
from pathcast.sim import Simulation
from pathcast.sim.tables import write_tables
from pathcast.sim.topology import random_graph
from pathcast.xpath import parse
from tests import generate
from tests.generate import NAMESPACES
from tests.oracle import oracle
from tests.pipeline.sets import without_expensive
from tests.routing.test_inspect import BODIES, OFFERS, PATTERNS, backend_for, random_network

LOCAL_HOP = "our own"
NEIGHBOURS = ("x", "y", "z")
POOL = [
    subscription.xpath
    for subscription in without_expensive(
        Subscription(number, generate.expression(Random(number), knobs), NAMESPACES)
        for number, knobs in enumerate([generate.WHOLE, generate.NATIVE] * 40)
    )
]
DOCUMENTS = [generate.document(Random(number)) for number in range(60)]


class ExportedTable:
    """A matcher over the rows of an exported table."""

    def __init__(self, rows: list[Subscription]) -> None:
        self._matcher = Matcher()
        self._names = sorted({str(row.subscriber) for row in rows})
        for row in rows:
            hop = self._names.index(str(row.subscriber))
            self._matcher.add(row.id, row.xpath, row.namespaces, hop=hop)

    @classmethod
    def of(cls, router: Router, origin: str) -> ExportedTable:
        return cls([entry.subscription() for entry in hop_table(router, origin, local=LOCAL_HOP)])

    def hops(self, body: bytes) -> set[str]:
        return {self._names[hop] for hop in self._matcher.match_hops(body)}


def decide(router: Router, origin: str, body: bytes) -> set[str]:
    decision = router.decide(Publication("d", origin, "p", body))
    assert not decision.undecided
    return {*decision.neighbours, *([LOCAL_HOP] if decision.deliveries else [])}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_table_decides_as_its_broker(name: str, deep: bool) -> None:
    """Random networks with messages in transit, for every origin."""
    forwarded = excepted = not_children = 0
    for seed in range(100 if deep else 25):
        network = random_network(Random(f"{name} {seed}"), name)
        for router in network.routers.values():
            for origin in network.routers:
                table = ExportedTable.of(router, origin)
                for body in BODIES:
                    hops = table.hops(body)
                    assert hops == decide(router, origin, body)
                    forwarded += len(hops - {LOCAL_HOP})
                for neighbour in router.neighbours:
                    not_children += not router.trees.is_child(neighbour, origin)
                    excepted += any(
                        origin in except_origins
                        for _, except_origins in router.entries_of(neighbour)
                    )
    assert forwarded
    assert not_children
    assert excepted


def origin_sets(names: str) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(names), max_size=3)


_pool_index = st.integers(0, len(POOL) - 1)
_entries = st.tuples(st.sampled_from(NEIGHBOURS), _pool_index, origin_sets("bopq"), st.booleans())
_offers = st.tuples(
    st.sampled_from(NEIGHBOURS),
    st.sampled_from("bopq"),
    st.lists(st.sampled_from("bcopq"), min_size=1, max_size=3, unique=True),
    st.booleans(),
)


@given(
    st.lists(_entries, max_size=30),
    st.lists(_offers, max_size=6),
    st.lists(_pool_index, max_size=5),
    st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=4),
)
def test_any_table_decides_as_its_broker(
    entries: list[tuple[str, int, frozenset[str], bool]],
    offers: list[tuple[str, str, list[str], bool]],
    local: list[int],
    bodies: list[bytes],
) -> None:
    """Arbitrary entries and offers, in the whole language; lxml decides for local subscribers."""
    plain = Strategy(advertisements=False, covering=False)
    backend = MatcherBackend(plain)
    router = Router("b", NEIGHBOURS, plain, backend)
    router.start()
    for neighbour, origin, path, kept in offers:
        router.on_message(neighbour, Advertise(origin, "p", tuple(path), parse_advertisement("/a")))
        if not kept:
            router.on_message(neighbour, Unadvertise(origin, "p"))
    for neighbour, number, except_origins, kept in entries:
        interest = backend.interest(parse(POOL[number], NAMESPACES))
        router.on_message(neighbour, Subscribe(interest, except_origins))
        if not kept:
            router.on_message(neighbour, Unsubscribe(interest, except_origins))
    for id, number in enumerate(local):
        router.request(Register(id, parse(POOL[number], NAMESPACES), f"s{id % 2}"))
    for origin in "bopq":
        table = ExportedTable.of(router, origin)
        for body in bodies:
            hops = table.hops(body)
            assert hops == decide(router, origin, body)
            assert (LOCAL_HOP in hops) == any(
                oracle(POOL[index], NAMESPACES, body) for index in local
            )


def test_a_table_depends_on_the_state_and_not_on_its_history() -> None:
    """A table is sorted and without duplicates; an entry keeps its id while others change."""
    backend = MatcherBackend(Strategy())
    wide, narrow = (backend.interest(parse(text)) for text in ("//a", "/a/b"))
    first, second = (Router("b", ("y", "x"), Strategy(), backend) for _ in range(2))
    for message in (Subscribe(wide), Subscribe(wide, frozenset("q")), Subscribe(narrow)):
        first.on_message("x", message)
    first.on_message("y", Subscribe(narrow, frozenset("b")))
    second.on_message("y", Subscribe(wide))
    second.on_message("x", Subscribe(narrow))
    second.on_message("x", Subscribe(wide))
    table = hop_table(second)
    second.on_message("y", Unsubscribe(wide))
    assert hop_table(first) == hop_table(second) == [HopEntry("x", "//a"), HopEntry("x", "/a/b")]
    assert [entry.id for entry in table[:2]] == [entry.id for entry in hop_table(first)]
    assert len({entry.id for entry in table}) == len(table) == 3
    prefixed = HopEntry("x", "//p:a", (("p", "urn:p"),))
    assert prefixed.id != HopEntry("x", "//p:a", (("p", "urn:q"),)).id
    assert prefixed.subscription().namespaces == {"p": "urn:p"}


def test_local_subscribers_are_one_optional_hop() -> None:
    router = Router("b", ("x",), Strategy(), MatcherBackend(Strategy()))
    router.request(Register(1, parse("//a"), "ann"))
    router.request(Register(2, parse("//a"), "bob"))
    assert hop_table(router) == []
    assert hop_table(router, local="here") == [HopEntry("here", "//a")]
    router.request(Cancel(1))
    router.request(Cancel(2))
    assert hop_table(router, local="here") == []
    for name in ("x", ""):
        with pytest.raises(RoutingError, match="is a neighbour of b, or no name"):
            hop_table(router, local=name)


def test_an_unknown_table_is_an_error() -> None:
    router = Router("b", ("x", "y"), Strategy(), MatcherBackend(Strategy()), recovering=True)
    router.request(Announce("p", parse_advertisement("/a")))
    with pytest.raises(RoutingError, match="does not know yet what x, y want from b"):
        hop_table(router)
    router.on_message("x", Complete(FactKind.INTERESTS, "b"))
    router.on_message("y", Complete(FactKind.INTERESTS, None))
    assert hop_table(router) == []
    with pytest.raises(RoutingError, match="its own clients"):
        hop_table(router, local="here")
    router.recovery.on_clients_known()
    assert hop_table(router, local="here") == []


def simulate(seed: int) -> Simulation:
    rng = Random(seed)
    settings = Settings(Strategy())
    run = Simulation(random_graph(6, 3, seed), settings, backend_for(settings.strategy), seed=seed)
    for publisher in "pq":
        run.announce(rng.choice(run.topology.brokers), publisher, rng.choice(OFFERS))
    for number in range(15):
        run.subscribe(rng.choice(run.topology.brokers), f"s{number}", rng.choice(PATTERNS))
    run.run_until_idle()
    return run


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_an_overlay_round_trip_through_files(tmp_path: Path, seed: int) -> None:
    run = simulate(seed)
    origins = [name for name, host in run.hosts.items() if host.clients.publishers]
    for origin in (None, *origins):
        files = write_tables(run, tmp_path / "tables", origin=origin, local=LOCAL_HOP)
        assert files.keys() == run.hosts.keys()
        assert sorted(tmp_path.glob("tables/*")) == sorted(files.values())
        for name, file in files.items():
            broker = run.hosts[name].broker
            assert broker is not None
            table = ExportedTable(list(read_subscriptions(file)))
            for body in BODIES:
                assert table.hops(body) == decide(broker.router, origin or name, body)


def test_tables_of_crashed_and_recovering_brokers(tmp_path: Path) -> None:
    run = simulate(1)
    down = next(name for name, host in run.hosts.items() if host.clients.publishers)
    run.crash(down)
    assert write_tables(run, tmp_path / "some").keys() == run.hosts.keys() - {down}
    with pytest.raises(RoutingError, match="no broker nowhere"):
        write_tables(run, tmp_path / "none", origin="nowhere")
    run.restart(down)
    with pytest.raises(RoutingError, match=f"{down} does not know yet"):
        write_tables(run, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    run.run_until_idle()
    assert write_tables(run, tmp_path / "all").keys() == run.hosts.keys()
