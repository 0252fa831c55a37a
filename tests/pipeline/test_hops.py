"""The pipeline as the edge of an overlay: it routes documents as the broker's table would."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pathcast import Matcher
from pathcast.broker.broker import Settings
from pathcast.errors import PathcastError, PipelineError
from pathcast.files import Subscription
from pathcast.matching.matcher import MAX_HOPS
from pathcast.pipeline import worker
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.running import (
    BatchDone,
    PipelineRun,
    RunEvent,
    StrategyChosen,
    SubscriptionsLoaded,
)
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.subscriptions import SubscriptionSource
from pathcast.pipeline.versions import Version, VersionCompiler, VersionStore, compile_version
from pathcast.routing.advertisement import parse_advertisement
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Publication
from pathcast.routing.strategy import Strategy
from pathcast.sim import Simulation, Topology
from pathcast.sim.tables import write_tables
from pathcast.sim.topology import Link
from tests.cli.running import run as command
from tests.oracle import oracle
from tests.pipeline.test_commands import MASTER
from tests.pipeline.test_running import read_deliveries, read_outboxes, run_spec, write_documents

LOCAL = "here"
EDGE = "b1"
LINKS = [("b1", "b2"), ("b1", "b3"), ("b2", "b3"), ("b2", "b4"), ("b3", "b5"), ("b4", "b5")]
PATTERNS = ("/a/b/c", "//c[. = '1']", "/a[b/d]", "//d", "/a/*/c[@x]", "//b[d]/c", "/a/c", "//e")
BROKEN = {"broken.xml": b"<a>", "empty.xml": b""}


# --- versions of hops -----------------------------------------------------------------------------

ENTRIES = [
    Subscription("1", "//a", subscriber="x"),
    Subscription("2", "//b[c]", subscriber="y"),
    Subscription("3", "//c", subscriber="x"),
]


def hops(version: Version, body: bytes) -> set[str]:
    names = version.hops
    assert names is not None
    return {names[hop] for hop in Matcher.load(version.path).match_hops(body)}


def test_hop_version(tmp_path: Path) -> None:
    version = compile_version(ENTRIES, tmp_path, hops=True)
    assert (version.subscriptions, version.hops) == (3, ("x", "y"))
    assert pq.read_table(version.routes).to_pylist() == [
        {"subscription": name, "subscriber": name, "xpath": None} for name in ("x", "y")
    ]
    assert hops(version, b"<b><c/></b>") == {"x", "y"}
    assert hops(version, b"<c/>") == {"x"}
    assert hops(version, b"<b/>") == set()
    assert compile_version(ENTRIES, tmp_path).name != version.name
    assert compile_version(ENTRIES, tmp_path).hops is None
    assert compile_version([], tmp_path, hops=True).hops == ()


def test_incremental_hop_versions(tmp_path: Path) -> None:
    """Entries that keep their hop and its number are not compiled again."""
    compiler = VersionCompiler(tmp_path / "changed", hops=True)
    changes = [
        (ENTRIES, 3),
        ([*ENTRIES, Subscription("4", "//d", subscriber="z")], 4),
        (
            [replace(ENTRIES[0], subscriber="z"), *ENTRIES[1:]],
            5,
        ),  # z takes x's number, x gets a new one
        (ENTRIES[1:], 7),  # both numbers change
        (ENTRIES, 10),
    ]
    for entries, count in changes:
        changed = compiler.compile(entries)
        assert compiler.expressions_compiled == count
        alone = compile_version(entries, tmp_path / "alone", hops=True)
        assert (changed.name, changed.hops) == (alone.name, alone.hops)
        for body in (b"<a/>", b"<b><c/></b>", b"<c/>", b"<d/>"):
            expected = {
                str(entry.subscriber)
                for entry in entries
                if oracle(entry.xpath, entry.namespaces, body)
            }
            assert hops(changed, body) == hops(alone, body) == expected


def test_invalid_entry_gets_no_hop(tmp_path: Path) -> None:
    bad = [Subscription("0", "//a[", subscriber="w"), Subscription("1", "//z", subscriber="v")]
    refused: list[str] = []
    version = compile_version(
        [bad[0], *ENTRIES, bad[1]],
        tmp_path,
        hops=True,
        on_error=lambda entry, _: refused.append(str(entry.subscriber)),
    )
    assert refused == ["w", "v"]
    assert version.hops == ("x", "y")
    assert version.name == compile_version(ENTRIES, tmp_path, hops=True).name


def test_number_of_hops_is_limited(tmp_path: Path) -> None:
    entries = [Subscription(number, "//a") for number in range(MAX_HOPS + 1)]
    version = compile_version(entries[:-1], tmp_path, hops=True)
    assert len(hops(version, b"<a/>")) == MAX_HOPS
    with pytest.raises(PipelineError, match=f"at most {MAX_HOPS:,} hops"):
        compile_version(entries, tmp_path, hops=True)


def test_later_run_loads_the_hops(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    stored = VersionStore(storage, VersionCompiler(tmp_path / "one", hops=True)).add(ENTRIES)
    later = VersionStore(storage, VersionCompiler(tmp_path / "two"))
    assert later.get(stored.name) == stored
    assert later.add(ENTRIES).hops is None


def test_worker_matches_hops_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = compile_version(ENTRIES, tmp_path, hops=True)
    loaded = worker.load_version(str(version.path), hops=version.hops)
    monkeypatch.setattr(Matcher, "match_batch", None)
    monkeypatch.setattr(Matcher, "match", None)
    matches = loaded.match([b"<c/>", b"<c>", b"<b><c/></b>", b"<d/>"])
    assert [
        matches.ids(matches.numbers[matches.offsets[at] : matches.offsets[at + 1]])
        for at in range(4)
    ] == [
        ["x"],
        [],
        ["x", "y"],
        [],
    ]
    assert matches.errors.keys() == {1}


# --- the edge -------------------------------------------------------------------------------------


def overlay() -> Simulation:
    """Five brokers on two cycles, with publishers at the edge broker and beyond it."""
    settings = Settings(Strategy())
    links = [Link(broker, neighbour) for broker, neighbour in LINKS]
    run = Simulation(Topology.of("cycles", links), settings, MatcherBackend(settings.strategy))
    offers = parse_advertisement("/a(/b)+/c"), parse_advertisement("/a/b/d")
    run.announce(EDGE, "p", offers[0])
    run.announce(EDGE, "q", offers[1])
    run.announce("b5", "r", parse_advertisement("/a/c"))
    rng = Random(1)
    for number in range(12):
        run.subscribe(rng.choice(run.topology.brokers[1:]), f"s{number}", rng.choice(PATTERNS))
    run.subscribe(EDGE, "own-1", "//c[. = '1']", "ann")
    run.subscribe(EDGE, "own-2", "/a[b/c]/b[d]", "bob")
    run.run_until_idle()
    return run


def documents(seed: int, count: int) -> dict[str, bytes]:
    rng = Random(seed)
    parts = (
        "<b><c>1</c></b>",
        "<b><c x='2'/><d/></b>",
        "<b><d/></b>",
        "<b><b><c/></b></b>",
        "<c/>",
    )
    return {
        f"{seed}-{number}.xml": f"<a>{''.join(rng.sample(parts, rng.randint(0, 3)))}</a>".encode()
        for number in range(count)
    }


def broker_deliveries(
    run: Simulation, bodies: dict[str, bytes]
) -> dict[tuple[str, str], list[str]]:
    """Return the edge broker's decisions in the shape of deliveries.

    lxml says which documents its own subscribers match.
    """
    broker = run.hosts[EDGE].broker
    assert broker is not None
    own = [register.pattern.text for register in run.hosts[EDGE].clients.subscriptions.values()]
    deliveries: dict[tuple[str, str], list[str]] = {}
    for id, body in bodies.items():
        decision = broker.router.decide(Publication(id, EDGE, "p", body))
        is_local = any(oracle(text, None, body) for text in own)
        assert is_local == bool(decision.deliveries)
        for hop in (*decision.neighbours, *([LOCAL] if is_local else [])):
            deliveries[id, hop] = [hop]
    return deliveries


def write_table(run: Simulation, folder: Path) -> Path:
    return write_tables(run, folder, local=LOCAL)[EDGE]


def read_matches(spark: SparkSession, out: Path) -> dict[str, set[str]]:
    rows = spark.read.parquet(str(out / "matches")).collect()
    assert len({row.document for row in rows}) == len(rows)
    return {row.document: set(row.subscriptions) for row in rows}


def by_document(pairs: Iterable[tuple[str, str]], bodies: dict[str, bytes]) -> dict[str, set[str]]:
    hops_by_document: dict[str, set[str]] = {id: set() for id in bodies}
    for id, hop in pairs:
        hops_by_document[id].add(hop)
    return hops_by_document


def test_once(spark: SparkSession, tmp_path: Path) -> None:
    run = overlay()
    bodies = documents(1, 40)
    write_documents(tmp_path / "in", bodies | BROKEN)
    result = command(
        *("run", *MASTER, "--hops", write_table(run, tmp_path), "-d", tmp_path / "in"),
        *("-o", tmp_path / "out"),
    )
    assert result.code == 0, result.stderr
    expected = broker_deliveries(run, bodies)
    assert {hop for _, hop in expected} == {"b2", "b3", LOCAL}
    assert read_deliveries(spark, tmp_path / "out") == expected
    assert read_outboxes(tmp_path / "out") == {pair: bodies[pair[0]] for pair in expected}
    assert read_matches(spark, tmp_path / "out") == by_document(expected, bodies)
    nowhere = len(bodies) - len({id for id, _ in expected})
    assert nowhere
    summary = dict(line.split(maxsplit=1) for line in result.stdout.splitlines()[:2])
    assert (summary["documents"], summary["matched"]) == ("42 in 1 batch", str(40 - nowhere))
    assert f"unmatched       {nowhere}" in result.stdout
    assert "refused         2" in result.stdout
    assert f"deliveries      {len(expected)}" in result.stdout
    errors = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert {row.document for row in errors} == BROKEN.keys()


def test_stream_with_changing_hop_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch crashes before it is staged, then subscriptions change.

    The retried batch uses the old table, the next batch the new one.
    """
    run = overlay()
    first, second = documents(2, 25), documents(3, 25)
    source = SubscriptionSource(write_table(run, tmp_path), hops=True)
    spec = replace(
        run_spec(tmp_path), subscriptions=source, batch_size=100, partition="subscriptions"
    )
    events: list[RunEvent] = []

    def stream() -> None:
        PipelineRun(spark, spec, events.append).run_stream(threading.Event(), until_caught_up=True)

    def crash(*_: object) -> None:
        raise KeyError("crash")

    write_documents(tmp_path / "in", first)
    before = broker_deliveries(run, first)
    with monkeypatch.context() as patch:
        patch.setattr(BatchLog, "write_staged_outcome", crash)
        with pytest.raises(PathcastError):
            stream()
    for id in ("s0", "s3", "s5", "own-1"):
        run.cancel(id)
    run.subscribe("b4", "new", "/a[not(b)]")
    run.run_until_idle()
    assert write_table(run, tmp_path) == source.path
    stream()
    assert read_deliveries(spark, tmp_path / "out") == before
    assert broker_deliveries(run, first) != before
    write_documents(tmp_path / "in", second)
    stream()
    expected = before | broker_deliveries(run, second)
    assert read_deliveries(spark, tmp_path / "out") == expected
    assert read_outboxes(tmp_path / "out").keys() == expected.keys()
    assert read_matches(spark, tmp_path / "out") == by_document(expected, first | second)
    outcomes = [event.outcome for event in events if isinstance(event, BatchDone)]
    versions = [event.version for event in events if isinstance(event, SubscriptionsLoaded)]
    assert [outcome.version for outcome in outcomes] == [versions[0], versions[-1]]
    assert len(set(versions)) == 2
    chosen = {event.partition for event in events if isinstance(event, StrategyChosen)}
    assert chosen == {"documents"}  # despite the requested mode


def test_empty_hop_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").touch()
    write_documents(tmp_path / "in", {"1.xml": b"<a/>"})
    source = SubscriptionSource(tmp_path / "t.jsonl", hops=True)
    outcome = PipelineRun(
        spark, replace(run_spec(tmp_path), subscriptions=source), lambda _: None
    ).run_once()
    assert (outcome.documents, outcome.unmatched, outcome.deliveries) == (1, 1, 0)


def test_invalid_options(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": 1, "xpath": "//a", "subscriber": "x"}\n')
    (tmp_path / "in").mkdir()
    base = ("run", "-d", tmp_path / "in", "-o", tmp_path / "out")
    table_option = ("--hops", str(tmp_path / "t.jsonl"))
    for options, expected_message in (
        ((), "nothing to match"),
        ((*table_option, "-s", str(tmp_path / "t.jsonl")), "one of them"),
        ((*table_option, "--partition", "subscriptions"), "a table of hops cannot be partitioned"),
        (("--hops", str(tmp_path / "none.jsonl")), "none.jsonl"),
    ):
        result = command(*base, *options)
        assert (result.code, result.stdout) == (2, ""), options
        assert expected_message in result.stderr, options
    assert not (tmp_path / "out").exists()
