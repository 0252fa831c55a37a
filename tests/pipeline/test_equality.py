"""Batch or stream, documents spread or subscriptions: always what Matcher finds, and what libxml2 does."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from pathcast.documents import Limits
from pathcast.files import Subscription
from pathcast.pipeline.batches import BatchSettings
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent, RunSpec, StrategyChosen
from pathcast.pipeline.sources import Source
from pathcast.pipeline.strategy import PartitionMode
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests import generate
from tests.generate import NAMESPACES
from tests.oracle import oracle
from tests.pipeline.sets import admitted, by_matcher, conformance
from tests.pipeline.test_running import write_documents, write_subscriptions

BATCH = 80


@dataclass(frozen=True)
class Set:
    subscriptions: list[Subscription]
    bodies: dict[str, bytes]
    answers: dict[str, frozenset[str]]


@pytest.fixture(scope="module")
def known() -> Set:
    """The conformance suite and random sets in one: the subscriptions of all on the documents of all."""
    cases = conformance()
    rng = Random(29)
    bodies = {
        f"{name}.xml": case["document"].encode(case.get("encoding", "utf-8"))
        for name, case in cases.items()
    }
    bodies["broken.xml"] = b"<a>"
    random = {f"random {number}.xml": generate.document(rng) for number in range(40)}
    texts = {generate.expression(rng, knobs) for knobs in
             (generate.WHOLE, generate.NATIVE) for _ in range(100)}  # fmt: skip
    subscriptions = admitted(
        [
            *(
                Subscription(f"{name}: {text}", text, case.get("namespaces"))
                for name, case in cases.items()
                for text in (*case["match"], *case["miss"])
            ),
            *(Subscription(f"random {text}", text, NAMESPACES) for text in sorted(texts)),
        ]
    )
    answers = by_matcher(subscriptions, bodies | random)
    for name, case in cases.items():
        own = {id for id in answers[f"{name}.xml"] if id.startswith(f"{name}: ")}
        given = {one.id for one in subscriptions}
        assert own == {f"{name}: {text}" for text in case["match"]} & given
    for name, body in random.items():
        for one in subscriptions:
            if str(one.id).startswith("random "):
                assert (one.id in answers[name]) == oracle(one.xpath, one.namespaces, body)
    return Set(subscriptions, bodies | random, answers)


@pytest.mark.parametrize("partition", ["documents", "subscriptions"])
@pytest.mark.parametrize("stream", [False, True], ids=["batch", "stream"])
def test_all_find_the_same(
    spark: SparkSession, tmp_path: Path, known: Set, partition: PartitionMode, stream: bool
) -> None:
    write_subscriptions(
        tmp_path / "s.jsonl",
        [
            {"id": one.id, "xpath": one.xpath, "namespaces": dict(one.namespaces or {})}
            for one in known.subscriptions
        ],
    )
    write_documents(tmp_path / "in", known.bodies)
    heard: list[RunEvent] = []
    order = RunSpec(
        SubscriptionSource(tmp_path / "s.jsonl"),
        Source(str(tmp_path / "in"), "files", Limits().size),
        str(tmp_path / "out"),
        BatchSettings(Limits()),
        batch_size=BATCH,
        partition=partition,
    )
    run = PipelineRun(spark, order, heard.append)
    if stream:
        run.run_stream(threading.Event(), until_caught_up=True)
    else:
        run.run_once()
    (chosen,) = [event for event in heard if isinstance(event, StrategyChosen)]
    assert (chosen.partition, chosen.fragments > 1) == (partition, partition == "subscriptions")
    kept = {file.name for file in (tmp_path / "out/versions").iterdir()}
    endings = (".subscriptions", ".routes.parquet", ".json")
    assert kept == {f"{chosen.version}{ending}" for ending in endings}
    batches = [event for event in heard if isinstance(event, BatchDone)]
    assert len(batches) == (-(-len(known.bodies) // BATCH) if stream else 1)
    found: dict[str, set[str]] = defaultdict(set)
    for row in spark.read.parquet(str(tmp_path / "out/matches")).collect():
        assert not found[row.document] & set(row.subscriptions)
        found[row.document] |= set(row.subscriptions)
    refused = {
        row.document
        for row in spark.read.parquet(str(tmp_path / "out/errors")).collect()
        if row.subscriptions is None
    }
    assert refused == {"broken.xml"}
    assert set(found) == set(known.bodies) - refused
    assert found == {name: known.answers[name] for name in found}
