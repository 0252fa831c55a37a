"""The network drives nodes that are not brokers: frames, timers, idleness, crashes, determinism."""

from __future__ import annotations

from typing import Any

import pytest

from pathcast.errors import RoutingError
from pathcast.node import Changed, FrameReceived, Send, SetTimer, Start, TimerFired
from pathcast.sim.network import Network
from pathcast.sim.topology import Link, Topology
from pathcast.sim.wires import Faults
from tests.sim.gossip import ROUND, GossipNetwork, Tell

SIZE = 5
LIMIT = 100.0


class Scripted:
    """A node that answers each input by a function, and records the inputs with their time."""

    def __init__(self, answer: Any) -> None:
        self.inputs: list[tuple[float, object]] = []
        self._answer = answer

    def receive(self, input: object, now: float) -> list[Any]:
        self.inputs.append((now, input))
        return list(self._answer(input, now))


def silent(_input: object, _now: float) -> list[object]:
    return []


# --- frames -----------------------------------------------------------------------------------


def test_a_node_sends_to_any_other_by_name() -> None:
    gossip = GossipNetwork(SIZE)
    gossip.network.submit("n0", Tell("r", announce_to="n3"))  # not its successor
    gossip.network.run(0.5)
    assert gossip.rumours() == {"n0": ["r"], "n1": [], "n2": [], "n3": ["r"], "n4": []}
    assert list(gossip.network.wires) == [("n0", "n3")]  # created by the first frame


@pytest.mark.parametrize(
    ("latency", "arrival"),
    [(0.25, 0.25), ({("n0", "n3"): 0.125}, 0.125), (lambda sender, receiver: 0.5, 0.5)],
    ids=["constant", "mapping", "function"],
)
def test_latency(latency: Any, arrival: float) -> None:
    arrivals: list[float] = []
    gossip: GossipNetwork = GossipNetwork(
        SIZE, latency=latency, on_receive=lambda *_: arrivals.append(gossip.network.now)
    )
    gossip.network.submit("n0", Tell("r", announce_to="n3"))
    gossip.network.run(0.75)
    assert arrivals == [arrival]


def test_a_mapping_of_latencies_limits_who_can_send_to_whom() -> None:
    gossip = GossipNetwork(SIZE, latency={("n0", "n1"): 0.1})
    with pytest.raises(RoutingError, match="no link n0-n3"):
        gossip.network.submit("n0", Tell("r", announce_to="n3"))


def test_latency_along_the_shortest_path_of_a_topology() -> None:
    links = [Link("a", "b", 0.01), Link("b", "c", 0.02), Link("a", "c", 0.5)]
    latency = Topology.of("triangle", links).path_latency()
    assert latency("a", "c") == pytest.approx(0.03)
    assert latency("c", "c") == 0.0


def test_callbacks_see_frames_and_effects() -> None:
    sent, received, effects = [], [], []

    def answer(input: object, _now: float) -> list[object]:
        return [Send("b", "hello"), "persist"] if isinstance(input, str) else []

    network: Network[Scripted] = Network(
        lambda _: Scripted(answer),
        frame_size=len,
        on_send=lambda *event: sent.append(event),
        on_receive=lambda *event: received.append(event),
        on_effect=lambda *event: effects.append(event),
    )
    for name in ("a", "b"):
        network.start(name)
    network.submit("a", "go")
    network.set_faults(Faults(lose=1.0), "a", "b")
    network.submit("a", "go")
    assert network.run_until_idle(LIMIT)
    assert sent == [("a", "b", "hello", 1), ("a", "b", "hello", 0)]
    assert received == [("a", "b", "hello")]
    assert effects == [("a", "persist")] * 2
    assert (network.wires["a", "b"].bytes, network.wires["a", "b"].lost) == (10, 1)


def test_inputs_queue_where_they_cost_time() -> None:
    network: Network[Scripted] = Network(
        lambda _: Scripted(silent), input_cost=lambda _node, input: 2.0 if input == "slow" else 0.5
    )
    node = network.start("a")
    network.submit("a", "slow")
    network.submit("a", "fast")
    assert network.run_until_idle(LIMIT)
    assert node.inputs == [(0.0, Start()), (2.0, "slow"), (2.5, "fast")]


# --- timers -----------------------------------------------------------------------------------


def test_the_earliest_pending_time_of_a_timer_counts() -> None:
    def answer(input: object, _now: float) -> list[object]:
        return [SetTimer(3.0), SetTimer(5.0), SetTimer(1.0)] if input == "set" else []

    network: Network[Scripted] = Network(lambda _: Scripted(answer))
    node = network.start("a")
    network.submit("a", "set")
    network.run(10.0)
    assert node.inputs[2:] == [(1.0, TimerFired())]


def test_foreground_and_background_timers_are_independent() -> None:
    def answer(input: object, now: float) -> list[object]:
        return [SetTimer(2.0), SetTimer(1.0, background=True)] if input == "set" else []

    network: Network[Scripted] = Network(lambda _: Scripted(answer))
    node = network.start("a")
    network.submit("a", "set")
    network.run(10.0)
    assert node.inputs[2:] == [(1.0, TimerFired(background=True)), (2.0, TimerFired())]


# --- idleness ---------------------------------------------------------------------------------


def test_background_timers_alone_leave_the_network_idle() -> None:
    gossip = GossipNetwork(SIZE)
    assert gossip.network.run_until_idle(LIMIT)
    settled = gossip.network.now
    assert settled < 2 * ROUND  # one round of each node after the start, and its frames
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.network.now == settled
    assert gossip.network.step()  # the next round is pending all the same


def test_the_network_is_not_idle_while_rounds_change_something() -> None:
    gossip = GossipNetwork(SIZE)
    assert gossip.network.run_until_idle(LIMIT)
    gossip.network.submit("n0", Tell("r"))
    start = gossip.network.now
    assert not gossip.network.clock.idle
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.every(lambda rumours: rumours == {"r"})
    rounds = (gossip.network.now - start) / ROUND
    assert SIZE - 1 < rounds < SIZE + 1  # one hop a round, and one round without a change


def test_a_change_outside_a_round_needs_a_round_too() -> None:
    gossip = GossipNetwork(SIZE)
    assert gossip.network.run_until_idle(LIMIT)
    gossip.network.submit("n0", Tell("r", announce_to="n2"))
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.every(lambda rumours: rumours == {"r"})


def test_a_network_that_changes_for_ever_is_never_idle() -> None:
    def answer(_input: object, now: float) -> list[object]:
        return [SetTimer(now + ROUND, background=True), Changed()]

    network: Network[Scripted] = Network(lambda _: Scripted(answer))
    network.start("a")
    assert not network.run_until_idle(LIMIT)
    assert network.now == LIMIT


def test_a_node_without_background_timers_settles_at_once() -> None:
    network: Network[Scripted] = Network(lambda _: Scripted(lambda *_: [Changed()]))
    network.start("a")
    assert network.run_until_idle(LIMIT)
    assert network.now == 0.0


def test_a_last_round_that_changes_something_does_not_keep_the_network_busy() -> None:
    def answer(input: object, now: float) -> list[object]:
        timer = [SetTimer(now + ROUND, background=True)] if isinstance(input, Start) else []
        return [*timer, Changed()]

    network: Network[Scripted] = Network(lambda _: Scripted(answer))
    network.start("a")
    assert network.run_until_idle(LIMIT)
    assert network.now == ROUND


def test_scheduled_actions_keep_the_network_busy() -> None:
    gossip = GossipNetwork(SIZE)
    gossip.network.schedule(7.5, lambda: gossip.network.submit("n1", Tell("late")))
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.every(lambda rumours: rumours == {"late"})


# --- faults -----------------------------------------------------------------------------------


def test_a_restarted_node_has_what_it_persisted_and_catches_up() -> None:
    gossip = GossipNetwork(SIZE)
    gossip.network.submit("n0", Tell("old"))
    assert gossip.network.run_until_idle(LIMIT)
    gossip.network.crash("n2")
    gossip.network.submit("n0", Tell("new"))
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.rumours() == {
        "n0": ["new", "old"],
        "n1": ["new", "old"],  # and the ring is broken behind it
        "n3": ["old"],
        "n4": ["old"],
    }
    assert any("n1 -> n2 new,old is lost: n2 is down" in line for line in gossip.trace)
    node = gossip.network.restart("n2")
    assert node.rumours == {"old"}
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.every(lambda rumours: rumours == {"old", "new"})
    assert [
        line.split(" ", 1)[1] for line in gossip.trace if "n2 " in line and ">" not in line
    ] == [
        "n2 crashes",
        "n2 restarts",
    ]


def test_a_crash_loses_timers_and_queued_inputs() -> None:
    def answer(input: object, _now: float) -> list[object]:
        return [SetTimer(5.0)] if isinstance(input, Start) else []

    network: Network[Scripted] = Network(
        lambda _: Scripted(answer), input_cost=lambda _node, _input: 1.0
    )
    first = network.start("a")
    network.submit("a", "queued")
    network.crash("a")
    network.submit("a", "while it is down")
    second = network.restart("a")
    network.run(3.0)
    network.crash("a")
    assert network.run_until_idle(LIMIT)
    assert first.inputs == [(0.0, Start())]
    assert second.inputs == [(0.0, Start())]


def test_a_cut_link_and_its_healing() -> None:
    gossip = GossipNetwork(SIZE)
    gossip.network.cut("n0", "n1")
    gossip.network.submit("n0", Tell("r"))
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.rumours()["n1"] == []
    gossip.network.heal("n0", "n1")
    assert gossip.network.run_until_idle(LIMIT)  # healing alone makes every node run a round
    assert gossip.every(lambda rumours: rumours == {"r"})


def test_states_that_do_not_fit() -> None:
    gossip = GossipNetwork(SIZE)
    with pytest.raises(RoutingError, match="n1 is up"):
        gossip.network.restart("n1")
    with pytest.raises(RoutingError, match="n1 is up"):
        gossip.network.start("n1")
    gossip.network.crash("n1")
    with pytest.raises(RoutingError, match="n1 is down already"):
        gossip.network.crash("n1")
    gossip.network.run(2.0)
    with pytest.raises(RoutingError, match="has passed"):
        gossip.network.schedule(1.0, lambda: None)


def test_a_frame_to_a_node_that_never_started_is_lost() -> None:
    gossip = GossipNetwork(SIZE)
    gossip.network.submit("n0", Tell("r", announce_to="n9"))
    assert gossip.network.run_until_idle(LIMIT)
    assert gossip.trace[1] == "0.001000 n0 -> n9 r is lost: n9 is down"


# --- determinism ------------------------------------------------------------------------------


def lossy_trace(seed: int) -> list[str]:
    gossip = GossipNetwork(SIZE, seed=seed)
    faults = Faults(lose=0.3, duplicate=0.3, reorder=0.3, delay=0.3)
    for left in gossip.names:
        for right in gossip.names:
            if left < right:
                gossip.network.set_faults(faults, left, right)
    for number, name in enumerate(gossip.names):
        gossip.network.submit(name, Tell(f"r{number}", announce_to="n0"))
    gossip.network.run(4.0)
    gossip.network.crash("n3")
    gossip.network.run(6.0)
    gossip.network.restart("n3")
    gossip.network.run(40.0)
    assert gossip.every(lambda rumours: len(rumours) == SIZE)
    return gossip.trace


def test_a_seed_determines_the_trace() -> None:
    assert lossy_trace(1) == lossy_trace(1)
    assert lossy_trace(1) != lossy_trace(2)


def test_frames_received_name_their_sender() -> None:
    network: Network[Scripted] = Network(
        lambda name: Scripted(lambda input, _: [Send("b", name)] if input == "go" else []),
        latency=0.5,
    )
    network.start("a")
    receiver = network.start("b")
    network.submit("a", "go")
    assert network.run_until_idle(LIMIT)
    assert receiver.inputs == [(0.0, Start()), (0.5, FrameReceived("a", "a"))]
