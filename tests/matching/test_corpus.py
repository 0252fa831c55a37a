"""Public documents and subscriptions, compared with libxml2. Needs PATHCAST_CORPUS.

The NITF documents of the YFilter benchmark with a sample of its 153,928 subscriptions, and the
expressions of libxml2's XPath test suite on the suite's documents.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pathcast import Matcher
from pathcast.errors import SubscriptionError
from pathcast.matching.engine import EngineName
from tests.matching.engines import each_engine
from tests.oracle import document, expression, holds, refuses
from tests.runner import InlineRunner


def read_distinct_lines(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


@pytest.fixture(scope="module")
def news(corpus: Path) -> list[bytes]:
    paths = sorted((corpus / "docs" / "nitf-generated").rglob("*.xml"))
    assert len(paths) > 200
    return [path.read_bytes() for path in paths]


def share_of_matches(texts: list[str], bodies: list[bytes], engine: EngineName = "core") -> float:
    """Compare all pairs with libxml2, and return the share of pairs that match."""
    matcher = Matcher(runner=InlineRunner(), engine=engine)
    for text in texts:
        matcher.add(text, text, allow_expensive=True)
    queries = [(text, expression(text)) for text in texts]
    hits = 0
    for body in bodies:
        tree = document(body)
        expected = [text for text, query in queries if holds(query, tree)]
        assert list(matcher.match(body)) == expected
        hits += len(expected)
    return hits / (len(texts) * len(bodies))


@each_engine
def test_yfilter_paths_equal_libxml2(
    corpus: Path, news: list[bytes], deep: bool, engine: EngineName
) -> None:
    all_texts = read_distinct_lines(
        corpus / "queries" / "nitf-yfilter" / "queries-153928-distinct.txt.gz"
    )
    assert len(all_texts) == 153_928
    texts = Random(1).sample(all_texts, 20_000 if deep else 2_000)
    if engine == "plain":
        texts = texts[::5]
    assert 0.02 < share_of_matches(texts, news if deep else news[::5], engine) < 0.5


def test_yfilter_paths_are_tree_patterns(corpus: Path, deep: bool) -> None:
    all_texts = read_distinct_lines(
        corpus / "queries" / "nitf-yfilter" / "queries-153928-distinct.txt.gz"
    )
    matcher = Matcher()
    texts = all_texts[:: 1 if deep else 10]
    assert matcher.add_many(enumerate(texts)) == len(texts)
    assert matcher.stats().residuals == 0


@each_engine
@pytest.mark.parametrize(
    "name", ["queries.txt", "sample-queries1.txt", "sample-queries2.txt", "sample-queries3.txt"]
)
def test_yfilter_predicates_equal_libxml2(
    corpus: Path, news: list[bytes], name: str, engine: EngineName
) -> None:
    texts = read_distinct_lines(corpus / "queries" / "nitf-yfilter" / name)
    share_of_matches(texts, news if engine == "core" else news[::5], engine)


def suite(corpus: Path) -> Iterator[tuple[str, list[str], list[bytes]]]:
    """Yield the files of libxml2's suite: name, expressions, documents."""
    folder = corpus / "xpath-suites" / "libxml2" / "input"
    documents = [path.read_bytes() for path in sorted((folder / "docs").iterdir())]
    for kind in ("expr", "tests"):
        for path in sorted((folder / kind).iterdir()):
            yield f"{kind}/{path.name}", read_distinct_lines(path), documents


@each_engine
def test_libxml2_suite_equals_libxml2(corpus: Path, engine: EngineName) -> None:
    expressions = pairs = hits = 0
    for name, texts, bodies in suite(corpus):
        trees = [document(body) for body in bodies]
        matcher = Matcher(runner=InlineRunner(), engine=engine)
        accepted: list[str] = []
        for text in texts:
            expressions += 1
            try:
                matcher.add(text, text, allow_expensive=True)
                accepted.append(text)
            except SubscriptionError:
                assert refuses(text, None, trees), f"{name}: only the Matcher refuses {text!r}"
        queries = [(text, expression(text)) for text in accepted]
        for body, tree in zip(bodies, trees, strict=True):
            expected = [text for text, query in queries if holds(query, tree)]
            assert list(matcher.match(body)) == expected, name
            pairs += len(accepted)
            hits += len(expected)
    assert expressions > 250
    assert 0.2 < hits / pairs < 0.9
