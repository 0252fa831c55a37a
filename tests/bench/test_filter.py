from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pathcast.bench.filter import bench as shared
from pathcast.bench.filter import churn, lxml_baseline, processes, speed
from pathcast.bench.filter.bench import loaded, share_line
from pathcast.bench.filter.inputs import Inputs
from pathcast.bench.filter.sizes import FULL, QUICK, Sizes
from pathcast.bench.filter.subprocess_inputs import bodies_in, texts_in, written
from pathcast.bench.filter.suite import PARTS, measured
from pathcast.bench.options import Wish
from pathcast.bench.report import fingerprint
from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.matching import Matcher
from pathcast.schema import load_dtd, parse_dtd

TINY = Sizes(
    divide=1000,
    largest=100_000,
    documents=3,
    rounds=2,
    others=2,
    block=2,
    looped=30,
    passes=1,
    wall=1,
)


class Hopping(Matcher):
    """Hops from the answers of `match`, the obvious way."""

    def __init__(self) -> None:
        super().__init__()
        self.hops: dict[object, int] = {}

    def add_many(self, subscriptions: Iterable[Any], *, allow_expensive: bool = False) -> int:
        rows = list(subscriptions)
        self.hops |= {id: hop for id, _, _, hop in rows}
        return super().add_many([row[:3] for row in rows], allow_expensive=allow_expensive)

    def match_hops(self, body: bytes) -> Any:
        return iter({self.hops[id] for id in self.match(body)})


@pytest.mark.parametrize(
    ("name", "count"),
    {
        "linear": 6,
        "hops": 3,
        "mixed": 2,
        "cold": 1,
        "loop": 3,
        "churn": 1,
        "load": 1,
        "memory": 1,
        "processes": 1,
    }.items(),
)
def test_every_part_alone(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "Matcher", Hopping)
    told: list[str] = []
    lines, inputs = measured(TINY, Wish(tell=told.append, only=(name,)))
    assert len(lines) == count
    assert all(line.figure >= 0 and line.target is not None for line in lines)
    assert all(any(line.what.startswith(what) for what in told) for line in lines)
    assert inputs
    assert all(key.startswith("news: ") for key in inputs)


def test_hops_are_checked_against_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Hopping):
        def match_hops(self, body: bytes) -> Any:
            return iter([64])

    monkeypatch.setattr(speed, "Matcher", Wrong)
    with pytest.raises(AssertionError, match="hops are a union"):
        measured(TINY, Wish(only=("hops",)))


def test_parts_keep_their_order() -> None:
    lines, _ = measured(TINY, Wish(only=("load", "cold")))
    assert [line.what.split()[0] for line in lines] == ["never", "loading"]
    assert len(PARTS) == 9


def test_targets_and_what_is_left_out() -> None:
    lines, inputs = measured(TINY, Wish(only=("linear", "memory")))
    assert [line.target for line in lines] == [0.75, 5, 0.65, 5, 0.40, 5, 250]
    assert [line.most for line in lines] == [None, 15, None, 15, None, 15, None]
    assert "the target is for 1,000" in lines[0].note
    assert "1,000,000 left out" in lines[4].note
    assert 20 < lines[-1].figure < 250  # megabytes: hardly more than the modules
    bodies = list(documents(bundled_schema("news"), DocumentOptions(size=7_000), 2, 3))
    assert inputs["news: documents 0 to 2"] == fingerprint(bodies)
    assert [size.nominal for size in FULL.of(speed._LINEAR)] == [1_000, 10_000, 100_000, 1_000_000]
    assert [size.note for size in FULL.of(speed._LINEAR)] == [""] * 4
    assert [size.note for size in QUICK.of(speed._LINEAR)] == ["", "", "1,000,000 left out"]


def test_another_schema() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (b | c | d)*><!ELEMENT b (a | c)*><!ELEMENT c (#PCDATA)><!ELEMENT d (c, b?)>",
        name="letters",
        root="a",
    )
    lines, inputs = measured(TINY, Wish(schema=schema, only=("linear",)))
    assert len(lines) == 6
    assert "letters: linear, 100" in inputs


def test_a_schema_that_has_too_few() -> None:
    inputs = Inputs(parse_dtd("<!ELEMENT a EMPTY>", name="one"), 100)
    with pytest.raises(WorkloadError, match="distinct subscriptions of this kind, not 100"):
        inputs.linear(10)


def test_small_sets_are_spread_over_the_pool() -> None:
    inputs = Inputs(bundled_schema("news"), 1_000)
    pool = inputs.linear(1_000)
    assert inputs.linear(10) == pool[::100]
    assert len(set(pool)) == 1_000
    assert inputs.linear(3_000)[:1_000] == pool
    assert not {*inputs.spare(50)} & {*pool}
    again = Inputs(bundled_schema("news"), 1_000)
    again.linear(10)
    assert again.prints["linear, 10"] == inputs.prints["linear, 10"]


def test_a_mixed_set_has_a_third_of_each() -> None:
    texts = Inputs(bundled_schema("news"), 1_000).mixed(100)
    linear = [text for text in texts if "[" not in text]
    values = [text for text in texts if any(sign in text for sign in "=<>")]
    assert (len(set(texts)), len(linear), len(values)) == (100, 34, 33)
    assert texts[0::3][:33] == linear[:33]
    assert texts[1::3] == values
    twigs = texts[2::3]
    assert all("[" in text for text in twigs)


def test_documents_are_those_that_are_asked_for() -> None:
    inputs = Inputs(bundled_schema("news"), 10)
    bodies = inputs.documents(4)
    assert inputs.documents(2, first=2) == bodies[2:]
    assert all(5_000 <= len(body) <= 10_000 for body in bodies)


def test_the_share_must_lie_between_its_bounds() -> None:
    line = share_line("linear", [5, 10, 15], 100)
    assert line.figure == pytest.approx(10)
    assert line.passed
    assert line.spread == (5.0, 15.0)
    assert line.note == "10 ids a document"
    assert not share_line("linear", [30], 100).passed
    assert not share_line("linear", [1], 100).passed


class Loud:
    """Counts what is asked of it, with the answers of a matcher."""

    def __init__(self) -> None:
        self.matcher = Matcher()
        self.seen: list[bytes] = []
        self.log: list[tuple[str, int]] = []

    def add_many(self, subscriptions: Iterable[Any]) -> int:
        return self.matcher.add_many(subscriptions)

    def add(self, id: int, xpath: str) -> None:
        self.log.append(("add", id))
        self.matcher.add(id, xpath)

    def remove(self, id: int) -> None:
        self.log.append(("remove", id))
        self.matcher.remove(id)

    def match(self, body: bytes) -> Any:
        self.seen.append(body)
        return self.matcher.match(body)


@pytest.fixture
def loud(monkeypatch: pytest.MonkeyPatch) -> list[Loud]:
    made: list[Loud] = []

    def make() -> Loud:
        made.append(Loud())
        return made[-1]

    monkeypatch.setattr(shared, "Matcher", make)
    return made


def test_cold_documents_are_timed_when_they_are_new(loud: list[Loud]) -> None:
    measured(TINY, Wish(only=("cold",)))
    (one,) = loud
    fed = TINY.others + TINY.rounds * TINY.block
    assert len(set(one.seen[:fed])) == fed  # what comes after is not timed
    assert one.seen[fed:] == one.seen[TINY.others : fed]


def test_the_loop_finds_the_same_or_it_is_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(text: str) -> etree.XPath:
        return etree.XPath("true()")

    monkeypatch.setattr(lxml_baseline, "compiled", wrong)
    with pytest.raises(AssertionError, match="find the same"):
        measured(TINY, Wish(only=("loop",)))


def ticking(*times: float) -> Iterator[float]:
    yield from times


def test_churn_keeps_pace_with_the_time_that_passed() -> None:
    one = Loud()
    one.add_many(enumerate(["/a", "/b", "/c"]))
    inside = deque(enumerate(["/a", "/b", "/c"]))
    changing = churn.Changing(one, inside, deque(["/d", "/e"]), 3)  # type: ignore[arg-type]
    ticks = ticking(10.0, 10.0005, 10.0021, 10.0045, 10.5)
    churn.turn(changing, [b"<a/>"] * 3, 1_000, lambda: next(ticks))
    assert len(one.seen) == 3
    adding = [(what, id) for what, id in one.log if what == "add"]
    assert adding == [("add", 3), ("add", 4), ("add", 5), ("add", 6)]
    removing = [id for what, id in one.log if what == "remove"]
    assert removing == [0, 1, 2, 3]  # the oldest first
    assert (changing.changes, changing.seconds, len(one.matcher)) == (4, 0.5, 3)
    assert list(changing.inside) == [(4, "/e"), (5, "/a"), (6, "/b")]
    assert list(changing.outside) == ["/c", "/d"]


def test_churn_ends_even_if_it_cannot_keep_pace() -> None:
    one = Loud()
    one.add_many([(0, "/a")])
    changing = churn.Changing(one, deque([(0, "/a")]), deque(["/b", "/c"]), 1)  # type: ignore[arg-type]
    ticks = ticking(0.0, 1.0, 2.0, 3.0)
    churn.turn(changing, [b"<a/>"] * 2, 1_000, lambda: next(ticks))
    assert changing.changes == 200
    ticks = ticking(0.0, 1.0, 2.0)
    churn.turn(changing, [b"<a/>"], 0, lambda: next(ticks))
    assert changing.changes == 200


def test_churn_and_quiet_have_a_matcher_each(loud: list[Loud]) -> None:
    measured(TINY, Wish(only=("churn",)))
    busy, still = loud
    assert len(busy.seen) == len(still.seen)
    assert not still.log


def test_inputs_survive_their_way_through_a_folder(tmp_path: Path) -> None:
    bodies = [b"<a>\r\n\xc3\xa9</a>", b"<b/>"] * 6
    folder = written(tmp_path, ["/a", "//é"], bodies)
    assert list(texts_in(folder)) == ["/a", "//é"]
    assert list(bodies_in(folder)) == bodies


def test_a_process_that_fails_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, ["///"], [b"<a/>"])
    with (
        pytest.raises(RuntimeError, match="said b'', not b'ready"),
        processes._worker(folder, 1) as worker,
    ):
        worker.hear(b"ready\n")
    assert "SubscriptionError" in capfd.readouterr().err


def test_a_matcher_is_loaded_under_its_numbers() -> None:
    assert list(loaded(["/a", "/b", "//a"]).match(b"<a/>")) == [0, 2]


def test_the_public_news_schema(corpus: Path) -> None:
    schema = load_dtd(corpus / "dtd" / "nitf" / "nitf-2-5-libxml2.dtd")
    lines, _ = measured(TINY, Wish(schema=schema, only=("linear", "mixed")))
    assert len(lines) == 8
