"""Two endpoints over a link that loses, duplicates and reorders, with restarts of both sides.

Between two sessions every message arrives once and in order, and the peer has every confirmed
message. An endpoint reports a new session of its peer before any message of that session.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.transport import (
    Arrived,
    Confirmed,
    Endpoint,
    Frame,
    PassthroughEndpoint,
    PeerSessionChanged,
    RetryPolicy,
)

RETRY = RetryPolicy(initial_delay=1.0, max_delay=4.0, window=3, burst=2)
Message = tuple[str, int, int]  # sender, its session, and a number that counts up

MOVES = st.one_of(
    st.just(("rest", 0)),
    st.tuples(st.just("send"), st.integers(0, 1)),
    st.tuples(st.just("arrive"), st.integers(0, 1_000)),
    st.tuples(st.just("double"), st.integers(0, 1_000)),
    st.tuples(st.just("lose"), st.integers(0, 1_000)),
    st.tuples(st.just("wait"), st.integers(1, 6)),
    st.tuples(st.just("restart"), st.integers(0, 1)),
)


class Pair:
    """Two endpoints, the frames in flight in any order, and the messages each received."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sessions = [1, 1]
        self.ends: list[Endpoint[Message]] = [self._end(0), self._end(1)]
        self.sent = [0, 0]
        self.in_flight: list[tuple[int, Frame[Message]]] = []  # by receiver
        self.received: list[dict[tuple[int, int], list[int]]] = [{}, {}]
        self.confirmed: list[list[Message]] = [[], []]
        self.peer_sessions: list[dict[int, list[int]]] = [
            {},
            {},
        ]  # sessions of the peer, by own session
        for side in (0, 1):
            self._push(side)

    def _end(self, side: int) -> Endpoint[Message]:
        session = self.sessions[side]
        return Endpoint(session, fresh=session == 1, retry=RETRY)

    def _push(self, side: int) -> None:
        self.in_flight += [(1 - side, frame) for frame in self.ends[side].frames(self.now)]

    def act(self, move: str, number: int) -> None:
        match move:
            case "send":
                self.sent[number] += 1
                self.ends[number].send((str(number), self.sessions[number], self.sent[number]))
                self._push(number)
            case "arrive" | "double" if self.in_flight:
                at = number % len(self.in_flight)
                side, frame = self.in_flight[at] if move == "double" else self.in_flight.pop(at)
                self._take(side, frame)
            case "lose" if self.in_flight:
                self.in_flight.pop(number % len(self.in_flight))
            case "wait":
                self.now += number
                for side in (0, 1):
                    deadline = self.ends[side].deadline
                    if deadline is not None and deadline <= self.now:
                        self._push(side)
            case "restart":
                self.sessions[number] += 1
                self.sent[number] = 0
                self.ends[number] = self._end(number)
                self._push(number)

    def _take(self, side: int, frame: Frame[Message]) -> None:
        before = self.ends[side].peer
        for event in self.ends[side].receive(frame):
            match event:
                case PeerSessionChanged(fresh=fresh):
                    assert frame.session > before
                    assert fresh == (frame.session == 1)
                    self.peer_sessions[side].setdefault(self.sessions[side], []).append(
                        frame.session
                    )
                case Arrived(message=(sender, session, number)):
                    assert sender == str(1 - side)
                    assert session == self.ends[side].peer  # none of an earlier session
                    own = self.sessions[side]
                    self.received[side].setdefault((own, session), []).append(number)
                case Confirmed(message=message):
                    assert message[1] == self.sessions[side]
                    self.confirmed[side].append(message)
        self._push(side)

    def run_until_idle(self) -> None:
        """Deliver all frames and retransmit, without losses, until nothing is left to send."""
        for _ in range(1_000):
            while self.in_flight:
                self._take(*self.in_flight.pop(0))
            deadlines = [end.deadline for end in self.ends if end.deadline is not None]
            if not deadlines:
                return
            self.now = max(self.now, min(deadlines))
            for side in (0, 1):
                self._push(side)
        raise AssertionError("the endpoints never become idle")

    def check(self) -> None:
        for side in (0, 1):
            for numbers in self.received[side].values():
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))  # no gaps
            for _, session, number in self.confirmed[side]:
                assert any(
                    number in numbers
                    for (_, sender_session), numbers in self.received[1 - side].items()
                    if sender_session == session
                )


@given(st.lists(MOVES, min_size=20, max_size=80))
def test_once_and_in_order_between_two_sessions(moves: list[tuple[str, int]]) -> None:
    pair = Pair()
    for move in moves:
        pair.act(*move)
    pair.check()
    pair.run_until_idle()
    pair.check()
    for side in (0, 1):
        assert pair.ends[side].peer == pair.sessions[1 - side]
        assert pair.ends[side].backlog == 0
        assert not pair.ends[side]._out_of_order  # duplicates are not kept
        assert all(
            sessions == sorted(set(sessions)) for sessions in pair.peer_sessions[side].values()
        )
        # Every message since the two sessions met has arrived. Earlier ones were dropped.
        numbers = pair.received[1 - side].get((pair.sessions[1 - side], pair.sessions[side]), [])
        if numbers:
            assert numbers[-1] == pair.sent[side]


def test_a_link_that_is_cut_and_heals_loses_nothing_and_keeps_the_sessions() -> None:
    pair = Pair()
    pair.run_until_idle()
    pair.act("send", 0)
    pair.in_flight.clear()  # cut
    for _ in range(5):
        pair.act("send", 0)
        pair.act("wait", 6)
        pair.in_flight.clear()
    pair.run_until_idle()
    assert pair.received[1] == {(1, 1): [1, 2, 3, 4, 5, 6]}
    assert (pair.peer_sessions[0], pair.peer_sessions[1]) == ({1: [1]}, {1: [1]})
    assert pair.ends[0].retransmissions


def test_a_restart_of_the_peer_is_reported_and_drops_unconfirmed_messages() -> None:
    pair = Pair()
    pair.run_until_idle()
    pair.act("send", 0)
    pair.act("restart", 1)
    pair.run_until_idle()
    assert pair.peer_sessions[0] == {1: [1, 2]}
    assert (1, 1) not in pair.received[1]
    pair.act("send", 0)
    pair.run_until_idle()
    assert pair.received[1] == {(2, 1): [2]}


def test_exponential_backoff_and_its_reset_by_an_acknowledgement() -> None:
    sender: Endpoint[str] = Endpoint(1, fresh=True, retry=RETRY)
    receiver: Endpoint[str] = Endpoint(1, fresh=True, retry=RETRY)
    receiver.receive(sender.frames(0.0)[0])
    sender.receive(receiver.frames(0.0)[0])
    sender.send("a")
    (frame,) = sender.frames(0.0)
    deadlines = []
    for _ in range(4):
        assert sender.deadline is not None
        deadlines.append(sender.deadline)
        assert sender.frames(sender.deadline) == [frame]
    assert deadlines == [1.0, 3.0, 7.0, 11.0]
    receiver.receive(frame)
    assert sender.receive(receiver.frames(12.0)[0]) == [Confirmed("a")]
    assert sender.deadline is None
    sender.send("b")
    sender.frames(12.0)
    assert sender.deadline == 13.0


def test_the_window_limits_messages_in_flight() -> None:
    pair = Pair()
    pair.run_until_idle()
    for _ in range(5):
        pair.act("send", 0)
    assert [frame.sequence for side, frame in pair.in_flight if side == 1 and frame.sequence] == [
        1,
        2,
        3,
    ]
    assert pair.ends[0].backlog == 5
    pair.run_until_idle()
    assert pair.received[1][1, 1] == [1, 2, 3, 4, 5]


def test_lossless_endpoints_deliver_in_order() -> None:
    end: PassthroughEndpoint[str] = PassthroughEndpoint()
    end.send("a")
    end.send("b")
    frames = end.frames(0.0)
    assert [event.message for frame in frames for event in end.receive(frame)] == ["a", "b"]
    assert end.frames(0.0) == []
