"""Storage of a broker: what it persists, and when a restarted broker may use it."""

from __future__ import annotations

from pathcast.broker import Broker, DocumentSubmitted, MemoryStorage, PersistDocument
from pathcast.broker.broker import Settings
from pathcast.broker.effects import Accepted
from pathcast.broker.inputs import ClientRequest, ClientsKnown
from pathcast.node import Send, Start
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Publication
from pathcast.routing.outputs import Deliver
from pathcast.routing.requests import Announce, Cancel, Register, Retract
from pathcast.routing.strategy import Strategy
from pathcast.sim.scenario import run_scenario
from pathcast.sim.simulation import Simulation
from pathcast.sim.topology import Link, Topology, line
from pathcast.xpath import parse

KEEP_TABLES = Settings(keep_tables=True)


def lone_broker(storage: MemoryStorage, settings: Settings = KEEP_TABLES) -> Broker:
    return Broker("b1", (), MatcherBackend(settings.strategy), settings, storage)


def feed(broker: Broker, storage: MemoryStorage, *inputs: object) -> list[object]:
    """Pass inputs to a broker, and store and return its effects."""
    effects: list[object] = []
    for input in inputs:
        for effect in broker.receive(input, 0.0):  # type: ignore[arg-type]
            storage.perform(effect)
            effects.append(effect)
    return effects


def test_facts_are_added_and_removed() -> None:
    storage = MemoryStorage()
    broker = lone_broker(storage)
    register, announce = Register("s1", parse("/a"), "ann"), Announce("P", ANYTHING)
    feed(broker, storage, Start(), ClientRequest(register), ClientRequest(announce))
    assert [entry.fact for entry in storage.facts.values()] == [register, announce]
    feed(broker, storage, ClientRequest(Cancel("s1")), ClientRequest(Retract("P")))
    assert storage.facts == {}


def test_a_document_is_stored_before_it_is_accepted_and_dropped_once_confirmed() -> None:
    storage = MemoryStorage()
    flooding = Strategy(advertisements=False)
    broker = Broker("b1", ("b2",), MatcherBackend(flooding), Settings(flooding), storage)
    document = Publication("d1", "b1", "P", b"<a/>")
    effects = broker.receive(DocumentSubmitted(document), 0.0)
    kinds = [type(effect) for effect in effects]
    assert kinds.index(PersistDocument) < kinds.index(Accepted) < kinds.index(Send)
    for effect in effects:
        storage.perform(effect)
    assert (storage.documents, list(storage.seen_ids)) == ({}, ["d1"])  # no subscriber matches
    again = broker.receive(DocumentSubmitted(document), 0.0)
    assert [type(effect) for effect in again if not isinstance(effect, Send)] == [Accepted]
    assert broker.counters.duplicates == 1


def test_lost_tables_are_not_used_before_they_are_complete() -> None:
    storage = MemoryStorage()
    feed(lone_broker(storage), storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")))
    storage.lose_tables()
    broker = lone_broker(storage)
    feed(broker, storage, Start(), ClientRequest(Register("s2", parse("/b"), "bob")))
    assert storage.tables_complete is False
    # It crashes before its clients have repeated all requests: the facts are incomplete.
    broker = lone_broker(storage)
    assert not storage.facts
    document = Publication("d1", "b1", "P", b"<a/>")
    effects = feed(broker, storage, Start(), DocumentSubmitted(document))
    assert storage.documents
    assert not any(isinstance(effect, Deliver) for effect in effects)
    effects = feed(
        broker, storage, ClientRequest(Register("s1", parse("/a"), "ann")), ClientsKnown()
    )
    assert [effect.subscriber for effect in effects if isinstance(effect, Deliver)] == ["ann"]
    assert bool(storage.tables_complete)
    assert not storage.documents
    assert lone_broker(storage).router.recovery.knows("", "b1")
    assert len(storage.facts) == 1


def test_the_number_of_stored_ids_is_bounded() -> None:
    storage = MemoryStorage(max_seen_ids=2)
    broker = lone_broker(storage, Settings(max_seen_ids=2))
    for number in range(4):
        feed(broker, storage, DocumentSubmitted(Publication(f"d{number}", "b1", "P", b"<a/>")))
    assert list(storage.seen_ids) == ["d2", "d3"]


def test_a_client_that_changed_its_subscription_during_the_outage() -> None:
    """The broker has stored another subscription under the same id."""
    settings = Settings(keep_tables=True)
    run = Simulation(line(2), settings, MatcherBackend(settings.strategy))
    run.announce("b1", "P", ANYTHING)
    run.subscribe("b2", "s1", "/a")
    assert run.run_until_idle()
    run.crash("b2")
    run.cancel("s1")
    run.subscribe("b2", "s1", "/b")
    run.restart("b2")
    assert run.run_until_idle()
    run.publish("b1", "P", "d1", b"<a/>")
    run.publish("b1", "P", "d2", b"<b/>")
    assert run.run_until_idle()
    assert [delivery.document for delivery in run.metrics.deliveries] == ["d2"]


def test_deferred_documents_are_not_sent_to_neighbours_without_interest() -> None:
    """b2 restarts with d1 in its log, and connects to b4 before it knows b4's interests."""
    outcome = run_scenario("""
link b1-b2
link b2-b3
link b2-b4
retry 100ms 400ms
publisher P at b1 advertises anything
subscribe s1 at b3 /a
subscribe s2 at b4 /b
until idle
cut b2-b3
publish d1 by P <a/>
after 10ms
crash b2
heal b2-b3
restart b2 without its tables
until idle
expect d1 crosses b1-b2 b2-b3
""")
    assert outcome.passed


def test_a_stored_document_that_is_malformed() -> None:
    """A damaged document on disk is dropped, and does not keep the broker from starting."""
    storage = MemoryStorage()
    feed(lone_broker(storage), storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")))
    storage.perform(PersistDocument(Publication("d1", "b1", "P", b"<a>"), ""))
    storage.perform(PersistDocument(Publication("d2", "b1", "P", b"<a/>"), ""))
    broker = lone_broker(storage)
    effects = feed(broker, storage, Start())
    assert [effect.document.id for effect in effects if isinstance(effect, Deliver)] == ["d2"]
    assert (broker.counters.unreadable, storage.documents) == (1, {})
    # The same if the decision is deferred.
    storage.lose_tables()
    storage.perform(PersistDocument(Publication("d3", "b1", "P", b"<a>"), ""))
    broker = lone_broker(storage)
    feed(
        broker, storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")), ClientsKnown()
    )
    assert (broker.counters.unreadable, storage.documents) == (1, {})


def test_a_ring_that_lost_all_tables_completes_its_storage_again() -> None:
    settings = Settings(keep_tables=True)
    run = Simulation(
        Topology.of("ring", [Link("b1", "b2"), Link("b2", "b3"), Link("b3", "b1")]),
        settings,
        MatcherBackend(settings.strategy),
    )
    run.announce("b1", "P", ANYTHING)
    run.subscribe("b3", "s", "/a")
    assert run.run_until_idle()
    for name in run.hosts:
        run.crash(name)
    for name in run.hosts:
        run.restart(name, tables=False)
    assert run.run_until_idle()
    assert all(host.storage.tables_complete for host in run.hosts.values())
    run.subscribe("b2", "s2", "/b")
    assert run.run_until_idle()
    before = {
        name: host.broker and host.broker.router.entry_count() for name, host in run.hosts.items()
    }
    for name in run.hosts:
        run.crash(name)
    for name in run.hosts:
        run.restart(name, tables=True)
    after = {
        name: host.broker and host.broker.router.entry_count() for name, host in run.hosts.items()
    }
    assert after == before
    assert run.run_until_idle()
    run.publish("b1", "P", "d1", b"<a/>")
    run.publish("b1", "P", "d2", b"<b/>")
    assert run.run_until_idle()
    assert [(delivery.document, delivery.subscriber) for delivery in run.metrics.deliveries] == [
        ("d1", "s"),
        ("d2", "s2"),
    ]
