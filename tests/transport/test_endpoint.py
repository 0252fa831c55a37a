"""What two endpoints make of a link that loses, doubles and reorders, while their owners die and live again.

Between two lives everything arrives once and in order, and nothing that was confirmed is missing; whoever meets a new life is told so, before anything
that life says.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.transport import (
    Arrived,
    Confirmed,
    Endpoint,
    Frame,
    LosslessEndpoint,
    PeerSessionChanged,
    RetryPolicy,
)

RETRY = RetryPolicy(initial_delay=1.0, max_delay=4.0, window=3, burst=2)
Message = tuple[str, int, int]  # who says it, in which life, and the how manieth there

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
    """Two ends, what is on its way between them in no order, and what each has heard of each life of the other."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lives = [1, 1]
        self.ends: list[Endpoint[Message]] = [self._end(0), self._end(1)]
        self.sent = [0, 0]
        self.flying: list[tuple[int, Frame[Message]]] = []  # whom it is for
        self.heard: list[dict[tuple[int, int], list[int]]] = [{}, {}]
        self.confirmed: list[list[Message]] = [[], []]
        self.met: list[dict[int, list[int]]] = [{}, {}]  # by one's own life
        for who in (0, 1):
            self._push(who)

    def _end(self, who: int) -> Endpoint[Message]:
        life = self.lives[who]
        return Endpoint(life, fresh=life == 1, retry=RETRY)

    def _push(self, who: int) -> None:
        self.flying += [(1 - who, frame) for frame in self.ends[who].frames(self.now)]

    def act(self, move: str, number: int) -> None:
        match move:
            case "send":
                self.sent[number] += 1
                self.ends[number].send((str(number), self.lives[number], self.sent[number]))
                self._push(number)
            case "arrive" | "double" if self.flying:
                at = number % len(self.flying)
                who, frame = self.flying[at] if move == "double" else self.flying.pop(at)
                self._take(who, frame)
            case "lose" if self.flying:
                self.flying.pop(number % len(self.flying))
            case "wait":
                self.now += number
                for who in (0, 1):
                    alarm = self.ends[who].deadline
                    if alarm is not None and alarm <= self.now:
                        self._push(who)
            case "restart":
                self.lives[number] += 1
                self.sent[number] = 0
                self.ends[number] = self._end(number)
                self._push(number)

    def _take(self, who: int, frame: Frame[Message]) -> None:
        before = self.ends[who].peer
        for event in self.ends[who].receive(frame):
            match event:
                case PeerSessionChanged(fresh=fresh):
                    assert frame.session > before
                    assert fresh == (frame.session == 1)
                    self.met[who].setdefault(self.lives[who], []).append(frame.session)
                case Arrived(message=(said_by, life, number)):
                    assert said_by == str(1 - who)
                    assert life == self.ends[who].peer  # nobody hears the dead after the living
                    self.heard[who].setdefault((self.lives[who], life), []).append(number)
                case Confirmed(message=message):
                    assert message[1] == self.lives[who]
                    self.confirmed[who].append(message)
        self._push(who)

    def calm(self) -> None:
        """From now on nothing is lost."""
        for _ in range(1_000):
            while self.flying:
                self._take(*self.flying.pop(0))
            alarms = [end.deadline for end in self.ends if end.deadline is not None]
            if not alarms:
                return
            self.now = max(self.now, min(alarms))
            for who in (0, 1):
                self._push(who)
        raise AssertionError("it is never quiet")

    def check(self) -> None:
        for who in (0, 1):
            for said in self.heard[who].values():
                assert said == list(range(said[0], said[0] + len(said)))  # in order, once, no gaps
            for one in self.confirmed[who]:
                said_to = [
                    said for (_, life), said in self.heard[1 - who].items() if life == one[1]
                ]
                assert any(one[2] in said for said in said_to)


@given(st.lists(MOVES, min_size=20, max_size=80))
def test_once_and_in_order_between_two_lives(moves: list[tuple[str, int]]) -> None:
    pair = Pair()
    for move in moves:
        pair.act(*move)
    pair.check()
    pair.calm()
    pair.check()
    for who in (0, 1):
        assert pair.ends[who].peer == pair.lives[1 - who]
        assert pair.ends[who].backlog == 0
        assert not pair.ends[who]._out_of_order  # what came twice is not kept
        assert all(met == sorted(set(met)) for met in pair.met[who].values())
        # What was said since the two met has been heard to the end: the rest was dropped when they met, and that is the owners' affair.
        heard = pair.heard[1 - who].get((pair.lives[1 - who], pair.lives[who]), [])
        if heard:
            assert heard[-1] == pair.sent[who]


def test_a_link_that_is_cut_and_heals_loses_nothing_and_nobody_is_met_again() -> None:
    pair = Pair()
    pair.calm()
    pair.act("send", 0)
    pair.flying.clear()  # cut
    for _ in range(5):
        pair.act("send", 0)
        pair.act("wait", 6)
        pair.flying.clear()
    pair.calm()
    assert pair.heard[1] == {(1, 1): [1, 2, 3, 4, 5, 6]}
    assert (pair.met[0], pair.met[1]) == ({1: [1]}, {1: [1]})
    assert pair.ends[0].retransmissions


def test_a_new_life_is_met_and_what_was_meant_for_the_old_one_is_dropped() -> None:
    pair = Pair()
    pair.calm()
    pair.act("send", 0)
    pair.act("restart", 1)
    pair.calm()
    assert pair.met[0] == {1: [1, 2]}
    assert (1, 1) not in pair.heard[1]
    pair.act("send", 0)
    pair.calm()
    assert pair.heard[1] == {(2, 1): [2]}


def test_pauses_grow_and_progress_makes_them_short_again() -> None:
    one: Endpoint[str] = Endpoint(1, fresh=True, retry=RETRY)
    other: Endpoint[str] = Endpoint(1, fresh=True, retry=RETRY)
    other.receive(one.frames(0.0)[0])
    one.receive(other.frames(0.0)[0])
    one.send("a")
    (frame,) = one.frames(0.0)
    alarms = []
    for _ in range(4):
        assert one.deadline is not None
        alarms.append(one.deadline)
        assert one.frames(one.deadline) == [frame]
    assert alarms == [1.0, 3.0, 7.0, 11.0]
    other.receive(frame)
    assert one.receive(other.frames(12.0)[0]) == [Confirmed("a")]
    assert one.deadline is None
    one.send("b")
    one.frames(12.0)
    assert one.deadline == 13.0


def test_only_so_many_are_on_their_way() -> None:
    pair = Pair()
    pair.calm()
    for _ in range(5):
        pair.act("send", 0)
    assert [frame.sequence for who, frame in pair.flying if who == 1 and frame.sequence] == [
        1,
        2,
        3,
    ]
    assert pair.ends[0].backlog == 5
    pair.calm()
    assert pair.heard[1][1, 1] == [1, 2, 3, 4, 5]


def test_direct_ends_hand_on_what_they_get() -> None:
    end: LosslessEndpoint[str] = LosslessEndpoint()
    end.send("a")
    end.send("b")
    frames = end.frames(0.0)
    assert [event.message for frame in frames for event in end.receive(frame)] == ["a", "b"]
    assert end.frames(0.0) == []
