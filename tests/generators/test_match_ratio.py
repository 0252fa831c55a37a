"""The match ratio: exact on the samples, close on other documents, or an error with the range."""

from __future__ import annotations

from itertools import cycle, islice

import pytest

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.generators.subscriptions.match_ratio import RatioFilter, sample_count
from pathcast.matching import Matcher

SAMPLES = [b"<a><b/></a>"] * 2 + [b"<a><c/></a>"] * 2  # both halves contain each document once


def ratio(texts: list[str], documents: list[bytes]) -> float:
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    return sum(len(matcher.match(body)) for body in documents) / len(documents) / len(texts)


@pytest.mark.parametrize("target", [0, 0.1, 0.25, 0.5, 0.9, 1])
def test_the_mean_stays_within_one_over_n(target: float) -> None:
    candidates = cycle(["/a", "/x", "/a/b", "/a/c", "/y"])
    steered = RatioFilter(iter(candidates), SAMPLES, target)
    accepted = []
    for number in range(1, 200):
        accepted.append(next(steered))
        assert abs(steered.achieved_ratio - target) <= 1 / number + 1e-9
    assert steered.achieved_ratio == pytest.approx(ratio(accepted, SAMPLES))


def test_iteration_ends_with_the_candidates() -> None:
    steered = RatioFilter(iter(["/x", "/y", "/a"]), SAMPLES, 0.5)
    assert list(steered) == ["/x", "/a", "/y"]  # the mean is too low after /x, not after /a
    assert steered.tried == steered.taken == 3


@pytest.mark.parametrize(("texts", "side"), [(["/a"], "less"), (["/x"], "more")])
def test_unreachable_targets_are_rejected(texts: list[str], side: str) -> None:
    steered = RatioFilter(iter(cycle(texts)), SAMPLES, 0.5)
    with pytest.raises(WorkloadError, match=f"none matches {side}") as caught:
        list(islice(steered, 10))
    assert caught.value.kind == "match-ratio"
    assert "ask for a ratio between" in (caught.value.hint or "")


def test_candidates_of_one_class_only_are_rejected() -> None:
    with pytest.raises(WorkloadError, match="of 2 candidates none matches less"):
        list(RatioFilter(iter(["/a", "/a/b"]), SAMPLES, 0.2))
    assert list(RatioFilter(iter(()), SAMPLES, 0.2)) == []


def test_a_persistent_error_is_rejected() -> None:
    """/b is rare on the first half of the samples and not on the second; there is nothing else."""
    samples = [b"<a/>", b"<b/>"]
    steered = RatioFilter(iter(cycle(["/b"])), samples, 0.2)
    with pytest.raises(WorkloadError, match="even the rare ones match too often"):
        list(islice(steered, 2000))


@pytest.mark.parametrize("target", [0.05, 0.3])
def test_other_documents_have_the_ratio_too(target: float, deep: bool) -> None:
    schema, size = bundled_schema("news"), DocumentOptions(size=3000 if deep else 1500)
    count = 3000 if deep else 200
    stream = subscriptions(
        schema, SubscriptionOptions(match_ratio=target), 1, count, documents=size
    )
    texts = list(stream)
    assert stream.achieved_ratio == pytest.approx(target, abs=1 / count)
    others = Documents(schema, size, seed=99)
    measured = ratio(texts, [others[number] for number in range(100 if deep else 50)])
    assert measured == pytest.approx(target, rel=0.25)


def test_several_schemas_are_measured_together() -> None:
    schemas = [bundled_schema("bib"), bundled_schema("alert")]
    stream = subscriptions(schemas, SubscriptionOptions(match_ratio=0.2), 1, 100)
    texts = list(stream)
    generators = [Documents(schema, None, 1) for schema in schemas]
    each = sample_count(0.2) // 2
    samples = [documents[number] for documents in generators for number in range(each)]
    assert stream.achieved_ratio == pytest.approx(ratio(texts, samples[1::2]))


def test_sample_count_suffices_for_the_target() -> None:
    assert sample_count(0.5) == sample_count(0) == 48
    assert sample_count(0.01) == 300
    with pytest.raises(WorkloadError, match="two sample documents"):
        RatioFilter(iter(()), [b"<a/>"], 0.5)
