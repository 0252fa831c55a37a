"""Batch or stream, documents or subscriptions partitioned: always the results of Matcher and
libxml2.
"""

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
from pathcast.pipeline.partition_strategy import PartitionMode
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent, RunSpec, StrategyChosen
from pathcast.pipeline.sources import Source
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests import generate
from tests.generate import NAMESPACES
from tests.oracle import oracle
from tests.pipeline.sets import by_matcher, conformance, without_expensive
from tests.pipeline.test_running import write_documents, write_subscriptions

pytestmark = pytest.mark.usefixtures("staging")

BATCH = 80


@dataclass(frozen=True)
class MatchingSet:
    subscriptions: list[Subscription]
    bodies: dict[str, bytes]
    answers: dict[str, frozenset[str]]


@pytest.fixture(scope="module")
def matching_set() -> MatchingSet:
    """The conformance suite and random cases: all subscriptions on all documents."""
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
    subscriptions = without_expensive(
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
        accepted = {subscription.id for subscription in subscriptions}
        assert own == {f"{name}: {text}" for text in case["match"]} & accepted
    for name, body in random.items():
        for subscription in subscriptions:
            if str(subscription.id).startswith("random "):
                assert (subscription.id in answers[name]) == oracle(
                    subscription.xpath, subscription.namespaces, body
                )
    return MatchingSet(subscriptions, bodies | random, answers)


@pytest.mark.parametrize(
    ("partition", "stream"),
    [
        ("documents", False),
        ("documents", True),
        ("subscriptions", False),
        pytest.param("subscriptions", True, marks=pytest.mark.deep),
    ],
)
def test_batch_stream_and_both_partitionings_agree(
    spark: SparkSession,
    tmp_path: Path,
    matching_set: MatchingSet,
    partition: PartitionMode,
    stream: bool,
) -> None:
    write_subscriptions(
        tmp_path / "s.jsonl",
        [
            {
                "id": subscription.id,
                "xpath": subscription.xpath,
                "namespaces": dict(subscription.namespaces or {}),
            }
            for subscription in matching_set.subscriptions
        ],
    )
    write_documents(tmp_path / "in", matching_set.bodies)
    events: list[RunEvent] = []
    spec = RunSpec(
        SubscriptionSource(tmp_path / "s.jsonl"),
        Source(str(tmp_path / "in"), "files", Limits().size),
        str(tmp_path / "out"),
        BatchSettings(Limits()),
        batch_size=BATCH,
        partition=partition,
    )
    run = PipelineRun(spark, spec, events.append)
    if stream:
        run.run_stream(threading.Event(), until_caught_up=True)
    else:
        run.run_once()
    (chosen,) = [event for event in events if isinstance(event, StrategyChosen)]
    assert (chosen.partition, chosen.fragments > 1) == (partition, partition == "subscriptions")
    files = {file.name for file in (tmp_path / "out/versions").iterdir()}
    suffixes = (".subscriptions", ".routes.parquet", ".json")
    assert files == {f"{chosen.version}{suffix}" for suffix in suffixes}
    batches = [event for event in events if isinstance(event, BatchDone)]
    assert len(batches) == (-(-len(matching_set.bodies) // BATCH) if stream else 1)
    matches: dict[str, set[str]] = defaultdict(set)
    for row in spark.read.parquet(str(tmp_path / "out/matches")).collect():
        assert not matches[row.document] & set(row.subscriptions)
        matches[row.document] |= set(row.subscriptions)
    refused = {
        row.document
        for row in spark.read.parquet(str(tmp_path / "out/errors")).collect()
        if row.subscriptions is None
    }
    assert refused == {"broken.xml"}
    assert set(matches) == set(matching_set.bodies) - refused
    assert matches == {name: matching_set.answers[name] for name in matches}
