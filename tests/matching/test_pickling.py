"""Tests of pickled matchers: the copy has the same subscriptions, limits and runner."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from io import BytesIO
from multiprocessing import get_context
from threading import Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.documents import Limits
from pathcast.errors import DocumentError, EvaluationError, FormatError
from pathcast.matching.engine import EngineName
from pathcast.matching.residual import Expression
from pathcast.sandbox import ProcessRunner
from tests.matching.engines import each_engine

DOCUMENT = b"<news><item lang='en'><p>hot</p></item></news>"
XPATHS = (
    "//item",
    "/news/item[@lang = 'en']",
    "//p[contains(., 'hot')]",
    "//p[2]",
    "/news[item][x]",
)


def matcher_of(xpaths: list[str], engine: EngineName = "auto") -> Matcher:
    matcher = Matcher(engine=engine)
    for number, xpath in enumerate(xpaths):
        matcher.add(number if number % 2 else f"s{number}", xpath, hop=number)
    return matcher


@each_engine
def test_a_copy_matches_as_its_original(engine: EngineName) -> None:
    matcher = matcher_of(list(XPATHS), engine)
    matcher.remove("s0")
    copy = pickle.loads(pickle.dumps(matcher))
    assert list(copy.match(DOCUMENT)) == list(matcher.match(DOCUMENT)) == [1, "s2"]
    assert list(copy.match_hops(DOCUMENT)) == list(matcher.match_hops(DOCUMENT))
    assert copy.stats().engine == engine
    copy.add("new", "//news")
    assert "new" in copy
    assert "new" not in matcher


@given(st.lists(st.sampled_from(XPATHS), max_size=6))
def test_pickling_twice_gives_equal_bytes(xpaths: list[str]) -> None:
    once = pickle.dumps(matcher_of(xpaths))
    assert pickle.dumps(pickle.loads(once)) == once


def test_the_copy_keeps_the_limits() -> None:
    copy = pickle.loads(pickle.dumps(Matcher(limits=Limits(size=10))))
    with pytest.raises(DocumentError, match="size"):
        copy.match(DOCUMENT)


def test_a_copy_keeps_a_runner_that_pickles() -> None:
    with ProcessRunner(deadline=20) as runner:
        matcher = Matcher(runner=runner)
        matcher.add("costly", "//*[//* = //*]", allow_expensive=True)
        copy = pickle.loads(pickle.dumps(matcher))
        assert list(copy.match(DOCUMENT)) == list(matcher.match(DOCUMENT)) == ["costly"]
        copy._runner.close()


class LockedRunner:
    """A runner that no process can receive."""

    def __init__(self) -> None:
        self.lock = Lock()

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        return [True for _ in expressions]


def test_a_runner_that_does_not_pickle_is_named() -> None:
    with pytest.raises(TypeError, match=r"its runner cannot.*Matcher.load"):
        pickle.dumps(Matcher(runner=LockedRunner()))


def match_ids(matcher: Matcher, body: bytes) -> list[str | int]:
    return list(matcher.match(body))


def test_processes_of_a_pool_receive_the_matcher() -> None:
    matcher = matcher_of(list(XPATHS))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(match_ids, matcher, DOCUMENT).result() == match_ids(matcher, DOCUMENT)


def test_a_stream_holds_the_bytes_of_a_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    matcher, stream = matcher_of(list(XPATHS)), BytesIO()
    path = tmp_path_factory.mktemp("saved") / "all"
    matcher.save(path)
    matcher.save(stream)
    assert stream.getvalue() == path.read_bytes()
    assert match_ids(Matcher.load(stream), DOCUMENT) == match_ids(matcher, DOCUMENT)
    with pytest.raises(FormatError, match="truncated"):
        Matcher.load(BytesIO(stream.getvalue()[:-1]))
