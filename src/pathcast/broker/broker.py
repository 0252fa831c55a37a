"""Broker: routing tables, links to neighbours, and a log of documents, driven by inputs and the time.

    FrameIn -> endpoint -> message -> router -> messages -> endpoints -> Send
                        -> document -> Keep -> decision -> endpoints -> Send; Deliver; when all have it, Forget
    Submit  ---------------^ Accepted

**A document is accepted once**, by its id; it is kept before it is acknowledged, and until every neighbour it was sent to has confirmed it. After a crash what is
kept is decided again by the tables of the new life: a neighbour that had it already drops it by its id. A document is kept back for those of whom it is not known
what they want (see `recovery`), and decided for them when it is known.

**Which documents a subscriber gets.** All that match, if its subscription had reached the brokers on the way when the document passed, and stays; none that does not match; none that
reaches its broker before it subscribes or after it cancels. docs/decisions/0013 tells when a subscription has arrived.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pathcast.broker.effects import (
    Accepted,
    Effect,
    Forget,
    Keep,
    Note,
    Remember,
    Send,
    Wake,
    Whole,
)
from pathcast.broker.inputs import Alarm, Ask, ClientsKnown, FrameIn, Input, Start, Submit
from pathcast.broker.saved import Saved, oldest
from pathcast.errors import DocumentError
from pathcast.routing.backend import Backend
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Complete, Message, Publication, Publish, Recall, Unsubscribe
from pathcast.routing.outputs import Decision, Deliver, DropStale, Refuse, RouterOutput, SendMessage
from pathcast.routing.requests import Request, RequestBatch
from pathcast.routing.router import Router
from pathcast.routing.strategy import Strategy
from pathcast.transport import Arrived, Confirmed, Direct, Endpoint, Met, Patience

__all__ = ["Broker", "Counts", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """`memory`: so many ids of documents are remembered. `keep_tables`: they are written down, and outlive the broker."""

    strategy: Strategy = field(default_factory=Strategy)
    refuse_outside: bool = False
    patience: Patience = field(default_factory=Patience)
    memory: int = 100_000
    keep_tables: bool = False
    reliable: bool = True  # False: neither links nor brokers ever fail, and nobody need care


@dataclass(slots=True)
class Counts:
    """What has come to a broker more often than it should, or should not have come."""

    doubled: int = 0
    unreadable: int = 0


class Broker:
    """One life of a broker. `saved` is what earlier lives have left."""

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        backend: Backend,
        settings: Settings,
        saved: Saved,
    ) -> None:
        names = tuple(neighbours)
        session = saved.begin()
        fresh = session == 1
        if not settings.keep_tables or not saved.whole:
            saved.lose_tables()
        lost = not fresh and not saved.whole
        self.name = name
        self.counts = Counts()
        self.router = Router(
            name,
            names,
            settings.strategy,
            backend,
            refuse_outside=settings.refuse_outside,
            recovering=lost,
        )
        self.router.trees.expected_parents = dict(saved.parents)
        self.endpoints: dict[str, Endpoint[Message] | Direct[Message]] = {
            one: Endpoint(session, fresh=fresh, patience=settings.patience)
            if settings.reliable
            else Direct()
            for one in names
        }
        self._fresh = fresh
        self._settings = settings
        self._kept = dict(saved.documents)
        self._seen = dict(saved.seen)
        self._owed: dict[str, set[str]] = {}  # of each kept document, who has yet to confirm it
        self._undecided: dict[str, dict[str, None]] = {}  # of each who is unknown, the documents
        self._parents = dict(saved.parents)
        self._facts = list(saved.facts.values())
        self._lost = lost
        self._doubtful: set[str] | None = None  # kept when all was known again, if it is
        self._wake: float | None = None

    @property
    def backlog(self) -> int:
        """Documents that not everybody has who should."""
        return len(self._kept)

    def receive(self, input: Input, now: float) -> list[Effect]:
        effects: list[Effect] = []
        match input:
            case Start():
                self._start(effects)
            case FrameIn(neighbour=neighbour, frame=frame):
                for event in self.endpoints[neighbour].receive(frame):
                    self._happened(neighbour, event, effects)
            case Ask(request=request):
                self._tell(self.router.request(request), effects)
                self._note(LOCAL, request, effects)
            case ClientsKnown():
                self._tell(self.router.recovery.on_clients_known(), effects)
            case Submit(document=document):
                self._submitted(document, effects)
            case Alarm():
                self._wake = None
        self._decide_late(effects)
        self._remember(effects)
        self._finish(now, effects)
        return effects

    def _start(self, effects: list[Effect]) -> None:
        self._tell(self.router.start(), effects)
        for note in self._facts:
            if note.source == LOCAL:
                self.router.request(note.fact)  # type: ignore[arg-type]  # clients make requests
            else:
                self.router.on_message(note.source, note.fact)  # type: ignore[arg-type]  # neighbours send messages
        self._facts.clear()
        for id, keep in list(self._kept.items()):
            try:
                decision = self.router.decide(keep.document, keep.came_from)
            except DocumentError:  # it was kept by another version, or the disk has changed it
                self.counts.unreadable += 1
                del self._kept[id]
                effects.append(Forget(id))
            else:
                self._route(keep.document, decision, effects)

    def _happened(
        self,
        neighbour: str,
        event: Met | Arrived[Message] | Confirmed[Message],
        effects: list[Effect],
    ) -> None:
        match event:
            case Met(fresh=fresh):
                told = self.router.recovery.on_peer_restart(neighbour, fresh and self._fresh)
                waiting = self._undecided.get(neighbour, {})
                for id, owed in self._owed.items():
                    if neighbour in owed and id not in waiting:
                        self.endpoints[neighbour].send(Publish(self._kept[id].document))
                self._tell(told, effects)
            case Arrived(message=Publish(document=document)):
                try:
                    self._taken(document, neighbour, effects)
                except DocumentError:
                    self.counts.unreadable += 1  # the sender takes more than we do
            case Arrived(message=message):
                told = self.router.on_message(neighbour, message)
                if not self._hearsay(neighbour, message):
                    self._note(neighbour, message, effects)
                self._tell(told, effects)
            case Confirmed(message=Publish(document=document)):
                self._settle(document.id, neighbour, effects)
            case Confirmed():
                pass

    # documents

    def _submitted(self, document: Publication, effects: list[Effect]) -> None:
        if document.id in self._seen:
            self.counts.doubled += 1
            effects.append(Accepted(document.id))
            return
        try:
            admitted, told = self.router.admit(document)
            if isinstance(admitted, Refuse):
                effects.append(admitted)
                return
            self._tell(told, effects)
            self._taken(admitted, LOCAL, effects)
        except DocumentError as error:
            effects.append(Refuse(document, str(error)))
        else:
            effects.append(Accepted(document.id))

    def _taken(self, document: Publication, came_from: str, effects: list[Effect]) -> None:
        if document.id in self._seen:
            self.counts.doubled += 1
            return
        decision = self.router.decide(document, came_from)  # may refuse it: then it is not kept
        self._seen[document.id] = None
        self._trim()
        keep = self._kept[document.id] = Keep(document, came_from)
        effects.append(keep)
        self._route(document, decision, effects)

    def _route(self, document: Publication, decision: Decision, effects: list[Effect]) -> None:
        self._owed[document.id] = set(decision.undecided)
        for one in decision.undecided:
            self._undecided.setdefault(one, {})[document.id] = None
        self._carry_out(document, decision, effects)
        self._settle(document.id, None, effects)

    def _carry_out(self, document: Publication, decision: Decision, effects: list[Effect]) -> None:
        for neighbour in decision.neighbours:
            endpoint = self.endpoints[neighbour]
            if endpoint.confirms:
                self._owed[document.id].add(neighbour)
            endpoint.send(Publish(document))
        effects += decision.deliveries

    def _decide_late(self, effects: list[Effect]) -> None:
        """Documents that were kept back for somebody who has become known."""
        if not self._undecided:
            return
        for whom, ids in list(self._undecided.items()):
            for id in list(ids):
                document = self._kept[id].document
                if self.router.can_decide(document, whom):
                    del ids[id]
                    self._owed[id].discard(whom)
                    try:
                        decision = self.router.decide_for(document, whom)
                    except DocumentError:
                        self.counts.unreadable += 1
                    else:
                        self._carry_out(document, decision, effects)
                    self._settle(id, None, effects)
            if not ids:
                del self._undecided[whom]

    def _settle(self, id: str, neighbour: str | None, effects: list[Effect]) -> None:
        """One more has it; if that was the last, forget it."""
        owed = self._owed.get(id)
        if owed is None:
            return
        if neighbour is not None and id not in self._undecided.get(neighbour, ()):
            owed.discard(neighbour)
        if not owed:
            del self._owed[id], self._kept[id]
            effects.append(Forget(id))

    def _trim(self) -> None:
        for id in oldest(self._seen, len(self._seen) - self._settings.memory):
            if id not in self._kept:
                del self._seen[id]

    # the rest

    def _tell(self, told: Iterable[RouterOutput], effects: list[Effect]) -> None:
        """Documents first: word of what their publishers send from now on must not overtake them."""
        self._decide_late(effects)
        for effect in told:
            match effect:
                case SendMessage(neighbour=neighbour, message=message):
                    self.endpoints[neighbour].send(message)
                case DropStale(neighbour=neighbour, message=message):
                    self._note(neighbour, message, effects)
                case Deliver() | Refuse():
                    effects.append(effect)

    def _hearsay(self, neighbour: str, message: Message) -> bool:
        """Whether a message changes nothing that is written down."""
        match message:
            case Recall() | Complete():
                return True
            case Unsubscribe(interest=interest, except_origins=except_origins):
                return self.router.has_entry(neighbour, interest, except_origins)
        return False

    def _note(self, source: str, fact: Message | Request, effects: list[Effect]) -> None:
        if self._settings.keep_tables:
            facts = fact.requests if isinstance(fact, RequestBatch) else [fact]
            effects += [Note(source, one) for one in facts]

    def _remember(self, effects: list[Effect]) -> None:
        """Parents that have changed; those of origins that are not known again yet stay."""
        trees = self.router.trees
        for origin in trees.changed_parents:
            parent = trees.parent.get(origin)
            if self._parents.get(origin) != parent and (
                parent or origin not in trees.expected_parents
            ):
                effects.append(Remember(origin, parent))
                if parent is None:
                    del self._parents[origin]
                else:
                    self._parents[origin] = parent
        trees.changed_parents.clear()
        if self._lost:
            self._recovered(effects)

    def _recovered(self, effects: list[Effect]) -> None:
        """If all is known again, the tables may be relied on as soon as no document is left that was decided without them."""
        if not self.router.recovery.complete:
            self._doubtful = None
            return
        doubtful = self._kept.keys() if self._doubtful is None else self._doubtful
        self._doubtful = {id for id in doubtful if id in self._kept}
        if not self._doubtful:
            self._lost = False
            effects.append(Whole())

    def _finish(self, now: float, effects: list[Effect]) -> None:
        """Frames for whoever has something to hear, and the next alarm."""
        alarms = []
        for neighbour, endpoint in self.endpoints.items():
            effects += [Send(neighbour, frame) for frame in endpoint.frames(now)]
            if endpoint.alarm is not None:
                alarms.append(endpoint.alarm)
        due = min(alarms, default=None)
        if due is not None and due != self._wake:
            self._wake = due
            effects.append(Wake(due))
