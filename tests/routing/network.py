"""A network of routers with ordered, lossless links; the test chooses the link that moves next."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable

from pathcast.routing.backend import Backend
from pathcast.routing.messages import Message, Publication, Publish
from pathcast.routing.outputs import Deliver, RouterOutput, SendMessage
from pathcast.routing.requests import Announce, Cancel, Register, Retract
from pathcast.routing.router import Router
from pathcast.routing.strategy import Strategy
from pathcast.xpath import parse

__all__ = ["Network"]


class Network:
    def __init__(
        self, edges: Iterable[tuple[str, str]], strategy: Strategy, backend: Callable[[], Backend]
    ) -> None:
        self.edges = list(edges)
        adjacent: dict[str, list[str]] = {}
        for first, second in self.edges:
            adjacent.setdefault(first, []).append(second)
            adjacent.setdefault(second, []).append(first)
        self.routers = {
            name: Router(name, adjacent[name], strategy, backend()) for name in sorted(adjacent)
        }
        self.queues: dict[tuple[str, str], deque[Message]] = {
            (sender, receiver): deque() for sender in adjacent for receiver in adjacent[sender]
        }
        self.messages: Counter[str] = Counter()
        self.delivered: Counter[tuple[str, str]] = Counter()
        self.crossed: Counter[tuple[str, str, str]] = Counter()
        self._seen: set[tuple[str, str]] = set()
        for router in self.routers.values():
            self._perform(router.name, router.start())
        self.drain()

    def register(self, broker: str, id: str, xpath: str) -> None:
        self._perform(broker, self.routers[broker].request(Register(id, parse(xpath), id)))

    def cancel(self, broker: str, id: str) -> None:
        self._perform(broker, self.routers[broker].request(Cancel(id)))

    def announce(self, broker: str, publisher: str, advertisement: object) -> None:
        request = Announce(publisher, advertisement)  # type: ignore[arg-type]
        self._perform(broker, self.routers[broker].request(request))

    def retract(self, broker: str, publisher: str) -> None:
        self._perform(broker, self.routers[broker].request(Retract(publisher)))

    def publish(self, broker: str, publisher: str, id: str, body: bytes) -> None:
        self._route(broker, "", Publication(id, broker, publisher, body))

    def busy(self) -> list[tuple[str, str]]:
        return [link for link, queue in self.queues.items() if queue]

    def step(self, link: tuple[str, str]) -> None:
        message = self.queues[link].popleft()
        sender, receiver = link
        if isinstance(message, Publish):
            self._route(receiver, sender, message.document)
        else:
            self._perform(receiver, self.routers[receiver].on_message(sender, message))

    def drain(self) -> None:
        while busy := self.busy():
            for link in busy:
                self.step(link)

    def _route(self, broker: str, sender: str, document: Publication) -> None:
        if (broker, document.id) in self._seen:
            return
        self._seen.add((broker, document.id))
        decision = self.routers[broker].decide(document, sender)
        assert not decision.undecided
        self._perform(
            broker, [SendMessage(name, Publish(document)) for name in decision.neighbours]
        )
        self._perform(broker, decision.deliveries)

    def _perform(self, broker: str, outputs: Iterable[RouterOutput]) -> None:
        for output in outputs:
            match output:
                case SendMessage(neighbour=neighbour, message=message):
                    self.queues[broker, neighbour].append(message)
                    self.messages[type(message).__name__] += 1
                    if isinstance(message, Publish):
                        self.crossed[broker, neighbour, message.document.id] += 1
                case Deliver(document=document, subscriber=subscriber):
                    self.delivered[document.id, subscriber] += 1
                case _:
                    raise AssertionError(output)
