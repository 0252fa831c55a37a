"""Saving and settling beside concurrent changes: no subscription and no memo is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from pathcast import Matcher
from pathcast.matching.engine import EngineName
from pathcast.matching.residual import Check
from pathcast.matching.snapshot import to_saved_pattern
from pathcast.xpath import Cost, parse
from tests.matching.engines import each_engine

TEXTS = ["//a/b", "//a[b][c = '{}']", "/a/b{}", "//a[not(b{})]", "count(//b) > {}"]
BODY = b"<a><b/><c>7</c></a>"


def make_matcher(count: int, engine: EngineName = "core") -> Matcher:
    matcher = Matcher(engine=engine)
    matcher.add_many((id, TEXTS[id % len(TEXTS)].format(id)) for id in range(count))
    return matcher


@each_engine
def test_save_during_concurrent_changes(engine: EngineName, tmp_path: Path) -> None:
    """Every file loads, and contains all permanent subscriptions."""
    matcher = make_matcher(200, engine)
    expected = list(matcher.match(BODY))
    stop = Event()

    def write() -> None:
        number = 1_000
        while not stop.is_set():
            matcher.add(number, f"//none[x = '{number}'][y]")
            matcher.remove(number)
            number += 1

    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(write)
        try:
            for turn in range(20):
                path = tmp_path / f"{turn}.subscriptions"
                matcher.save(path)
                loaded = Matcher.load(path, engine=engine)
                assert list(loaded.match(BODY)) == expected
                assert {id for id in range(200) if id in loaded} == set(range(200))
        finally:
            stop.set()
        writing.result()


@pytest.mark.parametrize("idle", [Matcher.settle, lambda matcher: matcher.save("/dev/null")])
def test_idle_settle_and_save_keep_the_memo(idle: Callable[[Matcher], None]) -> None:
    matcher = make_matcher(50)
    for _ in range(2):
        matcher.match(BODY)
    matcher.settle()
    matcher.match(BODY)
    before = matcher.stats()
    idle(matcher)
    matcher.match(BODY)
    after = matcher.stats()
    assert after.memo_misses == before.memo_misses
    assert after.memo_hits > before.memo_hits


def test_settle_builds_immediately() -> None:
    matcher = make_matcher(50)
    matcher.settle()
    states = matcher.stats().states
    matcher.remove(0)
    matcher.add("late", "//x/y/z")
    matcher.settle()
    assert matcher.stats().automata == 1
    assert matcher.stats().states != states


@pytest.mark.parametrize("text", [text.format(3) for text in TEXTS])
def test_saved_pattern_equals_the_parsed_one(text: str) -> None:
    pattern = parse(text, None)
    check = None if pattern.check is None else Check(pattern, text)
    saved = to_saved_pattern(pattern.text, pattern.namespaces, check, ())
    assert saved.check == pattern.check
    assert saved.quadratic_on_sibling_runs == pattern.quadratic_on_sibling_runs
    assert saved.expensive is (pattern.cost is Cost.EXPENSIVE)


@pytest.mark.parametrize("row", ["//a", ("x",), ("x", "//a", None, 1, 2), 7])
def test_malformed_rows_are_rejected(row: object) -> None:
    with pytest.raises(TypeError, match="a subscription is"):
        Matcher().add_many([row])  # type: ignore[list-item]


def test_a_single_document_is_no_batch() -> None:
    with pytest.raises(TypeError, match="into a list"):
        Matcher().match_batch(b"<a/>")  # type: ignore[arg-type]


def test_invalid_namespaces_are_rejected() -> None:
    with pytest.raises(TypeError, match="namespaces map prefixes"):
        Matcher().add_many([("q", "//b", "x")])  # type: ignore[list-item]
