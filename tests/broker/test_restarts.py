"""What a broker writes down, and when it may rely on that."""

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

KEEPING = Settings(keep_tables=True)


def alone(storage: MemoryStorage, settings: Settings = KEEPING) -> Broker:
    return Broker("b1", (), MatcherBackend(settings.strategy), settings, storage)


def feed(broker: Broker, storage: MemoryStorage, *inputs: object) -> list[object]:
    found: list[object] = []
    for one in inputs:
        for effect in broker.receive(one, 0.0):  # type: ignore[arg-type]
            storage.perform(effect)
            found.append(effect)
    return found


def test_facts_are_added_and_removed() -> None:
    storage = MemoryStorage()
    broker = alone(storage)
    register, announce = Register("s1", parse("/a"), "ann"), Announce("P", ANYTHING)
    feed(broker, storage, Start(), ClientRequest(register), ClientRequest(announce))
    assert [note.fact for note in storage.facts.values()] == [register, announce]
    feed(broker, storage, ClientRequest(Cancel("s1")), ClientRequest(Retract("P")))
    assert storage.facts == {}


def test_a_document_is_kept_before_it_is_accepted_and_forgotten_when_all_have_it() -> None:
    storage = MemoryStorage()
    flooding = Strategy(advertisements=False)
    broker = Broker("b1", ("b2",), MatcherBackend(flooding), Settings(flooding), storage)
    document = Publication("d1", "b1", "P", b"<a/>")
    effects = broker.receive(DocumentSubmitted(document), 0.0)
    kinds = [type(one) for one in effects]
    assert kinds.index(PersistDocument) < kinds.index(Accepted) < kinds.index(Send)
    for effect in effects:
        storage.perform(effect)
    assert (storage.documents, list(storage.seen_ids)) == ({}, ["d1"])  # nobody wants it
    again = broker.receive(DocumentSubmitted(document), 0.0)
    assert [type(one) for one in again if not isinstance(one, Send)] == [Accepted]
    assert broker.counters.duplicates == 1


def test_tables_that_were_lost_are_no_tables_until_all_is_known_again() -> None:
    storage = MemoryStorage()
    feed(alone(storage), storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")))
    storage.lose_tables()
    broker = alone(storage)
    feed(broker, storage, Start(), ClientRequest(Register("s2", parse("/b"), "bob")))
    assert storage.tables_complete is False
    # It dies before its clients have told it all: what is written down is not all.
    broker = alone(storage)
    assert not storage.facts
    document = Publication("d1", "b1", "P", b"<a/>")
    effects = feed(broker, storage, Start(), DocumentSubmitted(document))
    assert storage.documents
    assert not any(isinstance(one, Deliver) for one in effects)
    effects = feed(
        broker, storage, ClientRequest(Register("s1", parse("/a"), "ann")), ClientsKnown()
    )
    assert [one.subscriber for one in effects if isinstance(one, Deliver)] == ["ann"]
    assert bool(storage.tables_complete)
    assert not storage.documents
    assert alone(storage).router.recovery.knows("", "b1")
    assert len(storage.facts) == 1


def test_ids_are_remembered_up_to_a_number() -> None:
    storage = MemoryStorage(max_seen_ids=2)
    broker = alone(storage, Settings(max_seen_ids=2))
    for number in range(4):
        feed(broker, storage, DocumentSubmitted(Publication(f"d{number}", "b1", "P", b"<a/>")))
    assert list(storage.seen_ids) == ["d2", "d3"]


def test_a_client_that_wants_something_else_after_the_restart() -> None:
    """Its broker remembers what it wanted before, under the same id."""
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
    assert [one.document for one in run.metrics.deliveries] == ["d2"]


def test_documents_that_are_kept_back_are_not_sent_to_those_who_do_not_want_them() -> None:
    """b2 lives again with d1 in its log, and meets b4 before it knows what b4 wants."""
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


def test_a_kept_document_that_nobody_can_read() -> None:
    """A disk may have changed it; the broker does without it rather than not at all."""
    storage = MemoryStorage()
    feed(alone(storage), storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")))
    storage.perform(PersistDocument(Publication("d1", "b1", "P", b"<a>"), ""))
    storage.perform(PersistDocument(Publication("d2", "b1", "P", b"<a/>"), ""))
    broker = alone(storage)
    effects = feed(broker, storage, Start())
    assert [one.document.id for one in effects if isinstance(one, Deliver)] == ["d2"]
    assert (broker.counters.unreadable, storage.documents) == (1, {})
    # The same where it is not known yet who wants it.
    storage.lose_tables()
    storage.perform(PersistDocument(Publication("d3", "b1", "P", b"<a>"), ""))
    broker = alone(storage)
    feed(
        broker, storage, Start(), ClientRequest(Register("s1", parse("/a"), "ann")), ClientsKnown()
    )
    assert (broker.counters.unreadable, storage.documents) == (1, {})


def test_a_ring_that_has_lost_all_comes_to_rely_on_what_it_writes_down() -> None:
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
    assert [(one.document, one.subscriber) for one in run.metrics.deliveries] == [
        ("d1", "s"),
        ("d2", "s2"),
    ]
