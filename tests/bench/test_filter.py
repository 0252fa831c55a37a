from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pathcast.bench.filter import churn, lxml_baseline, processes, speed
from pathcast.bench.filter import context as shared
from pathcast.bench.filter.context import load_matcher, share_line
from pathcast.bench.filter.inputs import FilterInputs
from pathcast.bench.filter.sizes import FULL, QUICK, FilterSizes
from pathcast.bench.filter.subprocess_inputs import read_bodies, read_texts, write_inputs
from pathcast.bench.filter.suite import SUITE
from pathcast.bench.options import BenchOptions
from pathcast.bench.report import fingerprint
from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.matching import Matcher
from pathcast.schema import load_dtd, parse_dtd

TINY = FilterSizes(
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


class HopsFromMatches(Matcher):
    """Computes hops from the answers of `match`."""

    def __init__(self) -> None:
        super().__init__()
        self.hops: dict[object, int] = {}

    def add_many(self, subscriptions: Iterable[Any], *, allow_expensive: bool = False) -> int:
        rows = list(subscriptions)
        self.hops |= {id: hop for id, _, _, hop in rows}
        return super().add_many([row[:3] for row in rows], allow_expensive=allow_expensive)

    def match_hops(self, body: bytes | str) -> Any:
        return iter({self.hops[id] for id in self.match(body)})


@pytest.mark.parametrize(
    ("name", "count"),
    {
        "fixed": 2,
        "linear": 6,
        "hops": 3,
        "mixed": 2,
        "selective": 2,
        "keywords": 14,
        "cold": 2,
        "loop": 3,
        "churn": 3,
        "load": 4,
        "memory": 4,
        "processes": 1,
    }.items(),
)
def test_every_part_alone(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "Matcher", HopsFromMatches)
    started: list[str] = []
    lines, inputs = SUITE.measure(BenchOptions(progress=started.append, only=(name,)), TINY)
    assert len(lines) == count
    assert all(line.figure >= 0 and line.target is not None for line in lines)
    assert all(any(line.label.startswith(label) for label in started) for line in lines)
    assert inputs
    assert all(key.startswith("news: ") for key in inputs)


def test_hops_are_checked_against_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(HopsFromMatches):
        def match_hops(self, body: bytes | str) -> Any:
            return iter([64])

    monkeypatch.setattr(speed, "Matcher", Wrong)
    with pytest.raises(AssertionError, match="hops are a union"):
        SUITE.measure(BenchOptions(only=("hops",)), TINY)


def test_parts_keep_their_order() -> None:
    lines, _ = SUITE.measure(BenchOptions(only=("load", "cold")), TINY)
    assert [line.label.split()[0] for line in lines] == ["never"] * 2 + ["loading"] * 4
    assert len(SUITE.parts) == 12


def test_targets_and_what_is_left_out() -> None:
    lines, inputs = SUITE.measure(BenchOptions(only=("linear", "memory")), TINY)
    assert [line.target for line in lines] == [0.82, 5, 0.78, 5, 0.60, 5, 250, 150, 200, 3]
    assert [line.upper for line in lines] == [None, 15, None, 15, None, 15, None, None, None, None]
    assert "the target is for 1,000" in lines[0].note
    assert "1,000,000 left out" in lines[4].note
    # megabytes: hardly more than the modules
    assert all(20 < line.figure < 250 for line in lines[-4:-1])
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
    lines, inputs = SUITE.measure(BenchOptions(schema=schema, only=("linear",)), TINY)
    assert len(lines) == 6
    assert "letters: linear, 100" in inputs


def test_a_schema_that_has_too_few() -> None:
    inputs = FilterInputs(parse_dtd("<!ELEMENT a EMPTY>", name="one"), 100)
    with pytest.raises(WorkloadError, match="distinct subscriptions of this kind, not 100"):
        inputs.linear(10)


def test_small_sets_are_spread_over_the_pool() -> None:
    inputs = FilterInputs(bundled_schema("news"), 1_000)
    pool = inputs.linear(1_000)
    assert inputs.linear(10) == pool[::100]
    assert len(set(pool)) == 1_000
    assert inputs.linear(3_000)[:1_000] == pool
    assert not {*inputs.spare(50)} & {*pool}
    again = FilterInputs(bundled_schema("news"), 1_000)
    again.linear(10)
    assert again.fingerprints["linear, 10"] == inputs.fingerprints["linear, 10"]


def test_a_mixed_set_has_a_third_of_each() -> None:
    texts = FilterInputs(bundled_schema("news"), 1_000).mixed_set(100)
    linear = [text for text in texts if "[" not in text]
    values = [text for text in texts if any(sign in text for sign in "=<>")]
    assert (len(set(texts)), len(linear), len(values)) == (100, 34, 33)
    assert texts[0::3][:33] == linear[:33]
    assert texts[1::3] == values
    twigs = texts[2::3]
    assert all("[" in text for text in twigs)


def test_documents_are_those_that_are_asked_for() -> None:
    inputs = FilterInputs(bundled_schema("news"), 10)
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


class RecordingMatcher:
    """A matcher that records its calls."""

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
def recorders(monkeypatch: pytest.MonkeyPatch) -> list[RecordingMatcher]:
    made: list[RecordingMatcher] = []

    def make() -> RecordingMatcher:
        made.append(RecordingMatcher())
        return made[-1]

    monkeypatch.setattr(shared, "Matcher", make)
    return made


def test_cold_documents_are_timed_when_they_are_new(recorders: list[RecordingMatcher]) -> None:
    SUITE.measure(BenchOptions(only=("cold",)), TINY)
    fed = TINY.others + TINY.rounds * TINY.block
    assert len(recorders) == 2  # linear, mixed
    for matcher in recorders:
        assert len(set(matcher.seen[:fed])) == fed  # what comes after is not timed
        assert matcher.seen[fed:] == matcher.seen[TINY.others : fed]


def test_the_loop_finds_the_same_or_it_is_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(text: str) -> etree.XPath:
        return etree.XPath("true()")

    monkeypatch.setattr(lxml_baseline, "compile_xpath", wrong)
    with pytest.raises(AssertionError, match="find the same"):
        SUITE.measure(BenchOptions(only=("loop",)), TINY)


def ticking(*times: float) -> Iterator[float]:
    yield from times


def test_churn_keeps_pace_with_the_time_that_passed() -> None:
    matcher = RecordingMatcher()
    matcher.add_many(enumerate(["/a", "/b", "/c"]))
    inside = deque(enumerate(["/a", "/b", "/c"]))
    changing = churn.ChangingMatcher(matcher, inside, deque(["/d", "/e"]), 3)  # type: ignore[arg-type]
    ticks = ticking(10.0, 10.0005, 10.0021, 10.0045, 10.5)
    churn.match_and_change(changing, [b"<a/>"] * 3, 1_000, lambda: next(ticks))
    assert len(matcher.seen) == 3
    adding = [(action, id) for action, id in matcher.log if action == "add"]
    assert adding == [("add", 3), ("add", 4), ("add", 5), ("add", 6)]
    removing = [id for action, id in matcher.log if action == "remove"]
    assert removing == [0, 1, 2, 3]  # the oldest first
    assert (changing.changes, changing.seconds, len(matcher.matcher)) == (4, 0.5, 3)
    assert list(changing.inside) == [(4, "/e"), (5, "/a"), (6, "/b")]
    assert list(changing.outside) == ["/c", "/d"]


def test_churn_ends_even_if_it_cannot_keep_pace() -> None:
    matcher = RecordingMatcher()
    matcher.add_many([(0, "/a")])
    changing = churn.ChangingMatcher(matcher, deque([(0, "/a")]), deque(["/b", "/c"]), 1)  # type: ignore[arg-type]
    ticks = ticking(0.0, 1.0, 2.0, 3.0)
    churn.match_and_change(changing, [b"<a/>"] * 2, 1_000, lambda: next(ticks))
    assert changing.changes == 200
    ticks = ticking(0.0, 1.0, 2.0)
    churn.match_and_change(changing, [b"<a/>"], 0, lambda: next(ticks))
    assert changing.changes == 200


def test_churn_and_quiet_have_a_matcher_each(recorders: list[RecordingMatcher]) -> None:
    SUITE.measure(BenchOptions(only=("churn",)), TINY)
    assert len(recorders) == 6  # linear, mixed at two rates
    for busy, still in zip(recorders[::2], recorders[1::2], strict=True):
        assert len(busy.seen) == len(still.seen)
        assert not still.log


def test_inputs_survive_their_way_through_a_folder(tmp_path: Path) -> None:
    bodies = [b"<a>\r\n\xc3\xa9</a>", b"<b/>"] * 6
    folder = write_inputs(tmp_path, ["/a", "//é"], bodies)
    assert list(read_texts(folder)) == ["/a", "//é"]
    assert list(read_bodies(folder)) == bodies


def test_failed_process_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = write_inputs(tmp_path, ["///"], [b"<a/>"])
    with (
        pytest.raises(RuntimeError, match="said b'', not b'ready"),
        processes._worker(folder, 1) as worker,
    ):
        worker.expect(b"ready\n")
    assert "SubscriptionError" in capfd.readouterr().err


def test_a_matcher_is_loaded_under_its_numbers() -> None:
    assert list(load_matcher(["/a", "/b", "//a"]).match(b"<a/>")) == [0, 2]


def test_the_public_news_schema(corpus: Path) -> None:
    schema = load_dtd(corpus / "dtd" / "nitf" / "nitf-2-5-libxml2.dtd")
    lines, _ = SUITE.measure(BenchOptions(schema=schema, only=("linear", "mixed")), TINY)
    assert len(lines) == 8
