"""Broker: routing tables, links to neighbours and a log of documents, as a node without I/O.

    FrameReceived      -> endpoint -> message  -> router -> messages -> endpoints -> Send
                                   -> document -> PersistDocument -> decision
    DocumentSubmitted  --------------^                                  |
    Accepted          <-----------------------------------------------  v
                                        endpoints -> Send; Deliver; once all confirmed: DropDocument

**A document is accepted once**, by its id. The broker persists it before it acknowledges it, and
keeps it until every neighbour that it was sent to has confirmed it. After a crash the broker
decides every stored document again, by the tables of the new session; a neighbour that has the
document drops the copy by its id. While the broker does not know the interests of a neighbour, or
of its own clients, it defers the decision for that receiver (see `pathcast.routing.recovery`).

**Which documents a subscriber gets.** All that match, if the subscription had reached the brokers
on the way when the document passed them, and is not cancelled. None that does not match. None that
reaches the subscriber's broker before it subscribes or after it cancels. docs/decisions/0013
defines when a subscription has arrived.

**Cost.** One matching run per document, and one pass over the endpoints per input.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pathcast.broker.effects import (
    Accepted,
    DropDocument,
    Effect,
    PersistDocument,
    PersistFact,
    PersistParent,
    TablesRecovered,
)
from pathcast.broker.inputs import ClientRequest, ClientsKnown, DocumentSubmitted, Input
from pathcast.broker.storage import MemoryStorage, oldest
from pathcast.errors import DocumentError
from pathcast.node import FrameReceived, Node, Send, SetTimer, Start, TimerFired
from pathcast.routing.backend import Backend
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Complete, Message, Publication, Publish, Recall, Unsubscribe
from pathcast.routing.outputs import Decision, Deliver, DropStale, Refuse, RouterOutput, SendMessage
from pathcast.routing.requests import Request, RequestBatch
from pathcast.routing.router import Router
from pathcast.routing.strategy import Strategy
from pathcast.transport import (
    Arrived,
    Confirmed,
    Endpoint,
    PassthroughEndpoint,
    PeerSessionChanged,
    RetryPolicy,
)

__all__ = ["Broker", "BrokerCounters", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that all brokers of an overlay share.

    `max_seen_ids` bounds the document ids that a broker keeps to drop duplicates. With
    `keep_tables` a broker persists its tables. `reliable=False` replaces the transport by one
    without acknowledgements, for overlays in which neither links nor brokers fail.
    """

    strategy: Strategy = field(default_factory=Strategy)
    refuse_outside: bool = False
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    max_seen_ids: int = 100_000
    keep_tables: bool = False
    reliable: bool = True


@dataclass(slots=True)
class BrokerCounters:
    """Documents that a broker dropped: it had them already, or its parser rejects them."""

    duplicates: int = 0
    unreadable: int = 0


class Broker(Node[Input, Effect]):
    """One session of a broker. `storage` holds the durable state of the sessions before."""

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        backend: Backend,
        settings: Settings,
        storage: MemoryStorage,
    ) -> None:
        names = tuple(neighbours)
        session = storage.begin_session()
        fresh = session == 1
        if not settings.keep_tables or not storage.tables_complete:
            storage.lose_tables()
        recovering = not fresh and not storage.tables_complete
        self.name = name
        self.counters = BrokerCounters()
        self.router = Router(
            name,
            names,
            settings.strategy,
            backend,
            refuse_outside=settings.refuse_outside,
            recovering=recovering,
        )
        self.router.trees.expected_parents = dict(storage.parents)
        self.endpoints: dict[str, Endpoint[Message] | PassthroughEndpoint[Message]] = {
            neighbour: Endpoint(session, fresh=fresh, retry=settings.retry)
            if settings.reliable
            else PassthroughEndpoint()
            for neighbour in names
        }
        self._fresh = fresh
        self._settings = settings
        self._stored = dict(storage.documents)
        self._seen_ids = dict(storage.seen_ids)
        self._unconfirmed: dict[str, set[str]] = {}  # receivers, by stored document
        self._deferred: dict[str, dict[str, None]] = {}  # documents without a decision, by receiver
        self._parents = dict(storage.parents)
        self._facts = list(storage.facts.values())
        self._recovering = recovering
        # Documents stored when the tables were complete again: decided without all tables.
        self._decided_early: set[str] | None = None
        self._timer: float | None = None

    @property
    def backlog(self) -> int:
        """The number of documents that some receiver has not confirmed."""
        return len(self._stored)

    def receive(self, input: Input, now: float) -> list[Effect]:
        """Handle one input; `pathcast.broker` states how to perform the effects."""
        effects: list[Effect] = []
        match input:
            case Start():
                self._on_start(effects)
            case FrameReceived(sender=neighbour, frame=frame):
                for event in self.endpoints[neighbour].receive(frame):
                    self._on_endpoint_event(neighbour, event, effects)
            case ClientRequest(request=request):
                self._apply(self.router.request(request), effects)
                self._persist_fact(LOCAL, request, effects)
            case ClientsKnown():
                self._apply(self.router.recovery.on_clients_known(), effects)
            case DocumentSubmitted(document=document):
                self._on_submit(document, effects)
            case TimerFired():
                self._timer = None
        self._decide_deferred_documents(effects)
        self._persist_parents(effects)
        if self._recovering:
            self._check_recovery(effects)
        self._flush(now, effects)
        return effects

    def _on_start(self, effects: list[Effect]) -> None:
        self._apply(self.router.start(), effects)
        for entry in self._facts:
            if entry.source == LOCAL:
                self.router.request(entry.fact)  # type: ignore[arg-type]  # of a client
            else:
                self.router.on_message(entry.source, entry.fact)  # type: ignore[arg-type]  # a message
        self._facts.clear()
        for id, stored in list(self._stored.items()):
            try:
                decision = self.router.decide(stored.document, stored.came_from)
            except DocumentError:  # stored by another version, or damaged on disk
                self.counters.unreadable += 1
                del self._stored[id]
                effects.append(DropDocument(id))
            else:
                self._route(stored.document, decision, effects)

    def _on_endpoint_event(
        self,
        neighbour: str,
        event: PeerSessionChanged | Arrived[Message] | Confirmed[Message],
        effects: list[Effect],
    ) -> None:
        match event:
            case PeerSessionChanged(fresh=fresh):
                outputs = self.router.recovery.on_peer_restart(neighbour, fresh and self._fresh)
                deferred = self._deferred.get(neighbour, {})
                for id, receivers in self._unconfirmed.items():
                    if neighbour in receivers and id not in deferred:
                        self.endpoints[neighbour].send(Publish(self._stored[id].document))
                self._apply(outputs, effects)
            case Arrived(message=Publish(document=document)):
                try:
                    self._accept(document, neighbour, effects)
                except DocumentError:
                    self.counters.unreadable += 1  # the limits of the sender's parser are wider
            case Arrived(message=message):
                outputs = self.router.on_message(neighbour, message)
                if not self._changes_no_fact(neighbour, message):
                    self._persist_fact(neighbour, message, effects)
                self._apply(outputs, effects)
            case Confirmed(message=Publish(document=document)):
                self._on_confirmation(document.id, neighbour, effects)
            case Confirmed():
                pass

    # --- documents ----------------------------------------------------------------------------

    def _on_submit(self, document: Publication, effects: list[Effect]) -> None:
        if document.id in self._seen_ids:
            self.counters.duplicates += 1
            effects.append(Accepted(document.id))
            return
        try:
            admitted, outputs = self.router.admit(document)
            if isinstance(admitted, Refuse):
                effects.append(admitted)
                return
            self._apply(outputs, effects)
            self._accept(admitted, LOCAL, effects)
        except DocumentError as error:
            effects.append(Refuse(document, str(error)))
        else:
            effects.append(Accepted(document.id))

    def _accept(self, document: Publication, came_from: str, effects: list[Effect]) -> None:
        """Persist and route a document; raise DocumentError, before any change, if malformed."""
        if document.id in self._seen_ids:
            self.counters.duplicates += 1
            return
        decision = self.router.decide(document, came_from)
        self._seen_ids[document.id] = None
        self._trim_seen_ids()
        entry = self._stored[document.id] = PersistDocument(document, came_from)
        effects.append(entry)
        self._route(document, decision, effects)

    def _route(self, document: Publication, decision: Decision, effects: list[Effect]) -> None:
        self._unconfirmed[document.id] = set(decision.undecided)
        for receiver in decision.undecided:
            self._deferred.setdefault(receiver, {})[document.id] = None
        self._dispatch(document, decision, effects)
        self._drop_at_last_confirmation(document.id, effects)

    def _dispatch(self, document: Publication, decision: Decision, effects: list[Effect]) -> None:
        for neighbour in decision.neighbours:
            endpoint = self.endpoints[neighbour]
            if endpoint.confirms:
                self._unconfirmed[document.id].add(neighbour)
            endpoint.send(Publish(document))
        effects += decision.deliveries

    def _decide_deferred_documents(self, effects: list[Effect]) -> None:
        """Decide the deferred documents of each receiver whose interests have become known."""
        if not self._deferred:
            return
        for receiver, ids in list(self._deferred.items()):
            for id in list(ids):
                document = self._stored[id].document
                if self.router.can_decide(document, receiver):
                    del ids[id]
                    self._unconfirmed[id].discard(receiver)
                    try:
                        decision = self.router.decide_for(document, receiver)
                    except DocumentError:
                        self.counters.unreadable += 1
                    else:
                        self._dispatch(document, decision, effects)
                    self._drop_at_last_confirmation(id, effects)
            if not ids:
                del self._deferred[receiver]

    def _on_confirmation(self, id: str, neighbour: str, effects: list[Effect]) -> None:
        """Record that a neighbour has a document, unless a new decision for it is deferred."""
        receivers = self._unconfirmed.get(id)
        if receivers is not None and id not in self._deferred.get(neighbour, ()):
            receivers.discard(neighbour)
        self._drop_at_last_confirmation(id, effects)

    def _drop_at_last_confirmation(self, id: str, effects: list[Effect]) -> None:
        if id in self._unconfirmed and not self._unconfirmed[id]:
            del self._unconfirmed[id], self._stored[id]
            effects.append(DropDocument(id))

    def _trim_seen_ids(self) -> None:
        for id in oldest(self._seen_ids, len(self._seen_ids) - self._settings.max_seen_ids):
            if id not in self._stored:
                del self._seen_ids[id]

    # --- tables -------------------------------------------------------------------------------

    def _apply(self, outputs: Iterable[RouterOutput], effects: list[Effect]) -> None:
        """Perform the outputs of the router.

        Deferred documents go first: a changed advertisement must not overtake the documents that
        its publisher sent before.
        """
        self._decide_deferred_documents(effects)
        for output in outputs:
            match output:
                case SendMessage(neighbour=neighbour, message=message):
                    self.endpoints[neighbour].send(message)
                case DropStale(neighbour=neighbour, message=message):
                    self._persist_fact(neighbour, message, effects)
                case Deliver() | Refuse():
                    effects.append(output)

    def _changes_no_fact(self, neighbour: str, message: Message) -> bool:
        match message:
            case Recall() | Complete():
                return True
            case Unsubscribe(interest=interest, except_origins=except_origins):
                return self.router.has_entry(neighbour, interest, except_origins)
        return False

    def _persist_fact(self, source: str, fact: Message | Request, effects: list[Effect]) -> None:
        if self._settings.keep_tables:
            facts = fact.requests if isinstance(fact, RequestBatch) else [fact]
            effects += [PersistFact(source, part) for part in facts]

    def _persist_parents(self, effects: list[Effect]) -> None:
        """Persist changed parents, except of origins that recovery has not found again yet."""
        trees = self.router.trees
        for origin in trees.changed_parents:
            parent = trees.parent.get(origin)
            if self._parents.get(origin) != parent and (
                parent or origin not in trees.expected_parents
            ):
                effects.append(PersistParent(origin, parent))
                if parent is None:
                    del self._parents[origin]
                else:
                    self._parents[origin] = parent
        trees.changed_parents.clear()

    def _check_recovery(self, effects: list[Effect]) -> None:
        """Return `TablesRecovered` once the tables are complete and used for every document.

        A document that the broker decided with incomplete tables must be decided again after
        another crash, so the stored tables are not valid before it is confirmed.
        """
        if not self.router.recovery.complete:
            self._decided_early = None
            return
        candidates = self._stored.keys() if self._decided_early is None else self._decided_early
        self._decided_early = {id for id in candidates if id in self._stored}
        if not self._decided_early:
            self._recovering = False
            effects.append(TablesRecovered())

    # --- links --------------------------------------------------------------------------------

    def _flush(self, now: float, effects: list[Effect]) -> None:
        """Send the frames that are due, and set the timer to the earliest retransmission."""
        deadlines = []
        for neighbour, endpoint in self.endpoints.items():
            effects += [Send(neighbour, frame) for frame in endpoint.frames(now)]
            if endpoint.deadline is not None:
                deadlines.append(endpoint.deadline)
        due = min(deadlines, default=None)
        if due is not None and due != self._timer:
            self._timer = due
            effects.append(SetTimer(due))
