"""The conformance suite: cases in data files, run on every engine.

`case` tables hold a document, the subscriptions that match it (`match`) and those that do not
(`miss`). `equal` tables hold spellings with one canonical text. `error` and `rejected` tables hold
invalid subscriptions and documents. A new engine needs one entry in ENGINES. libxml2 is one of the
engines: the expected results must agree with it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from pathcast import Matcher
from pathcast.documents import Limits
from pathcast.documents import parse as parse_document
from pathcast.errors import DocumentError, SubscriptionError
from pathcast.matching.engine import EngineName
from pathcast.xpath import parse
from tests.oracle import oracle
from tests.runner import InlineRunner

HERE = Path(__file__).parent

Subscriptions = Mapping[str, Mapping[str, str] | None]


class EngineUnderTest(Protocol):
    """Returns the subscriptions (text -> namespaces) that the document matches."""

    def __call__(self, subscriptions: Subscriptions, body: bytes) -> set[str]: ...


def by_oracle(subscriptions: Subscriptions, body: bytes) -> set[str]:
    return {text for text, prefixes in subscriptions.items() if oracle(text, prefixes, body)}


def by_matcher(name: EngineName, subscriptions: Subscriptions, body: bytes) -> set[str]:
    matcher = Matcher(runner=InlineRunner(), engine=name)
    for text, prefixes in subscriptions.items():
        matcher.add(text, text, prefixes, allow_expensive=True)
    return {str(id) for id in matcher.match(body)}


def by_separate_matchers(name: EngineName, subscriptions: Subscriptions, body: bytes) -> set[str]:
    """Match with one Matcher per subscription: sharing must not change a result."""
    return {
        text
        for text, prefixes in subscriptions.items()
        if by_matcher(name, {text: prefixes}, body) == {text}
    }


ENGINES: dict[str, EngineUnderTest] = {
    "libxml2": by_oracle,
    "plain": partial(by_matcher, "plain"),
    "plain-alone": partial(by_separate_matchers, "plain"),
    "core": partial(by_matcher, "core"),
    "core-alone": partial(by_separate_matchers, "core"),
}
NAMES: tuple[EngineName, ...] = ("plain", "core")
each_matcher = pytest.mark.parametrize("engine", NAMES)


def tables(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(HERE.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for index, table in enumerate(data.get(kind, ())):
            yield f"{path.stem}: {table.get('name') or table.get('text') or index}", table


CASES = dict(tables("case"))
EQUAL = dict(tables("equal"))
ERRORS = list(tables("error"))
REJECTED = dict(tables("rejected"))


def test_suite_has_over_a_thousand_cases() -> None:
    subscriptions = sum(len(case["match"]) + len(case["miss"]) for case in CASES.values())
    assert subscriptions + len(ERRORS) + len(REJECTED) > 1000
    assert len(CASES) == len(list(tables("case"))), "two cases have the same name"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_matches(engine: str, case: str) -> None:
    table = CASES[case]
    body = table["document"].encode(table.get("encoding", "utf-8"))
    subscriptions = dict.fromkeys([*table["match"], *table["miss"]], table.get("namespaces"))
    assert len(subscriptions) == len(table["match"]) + len(table["miss"]), (
        "a text in both match and miss"
    )
    assert ENGINES[engine](subscriptions, body) == set(table["match"])


@pytest.mark.parametrize("group", EQUAL)
def test_canonical_text(group: str) -> None:
    table = EQUAL[group]
    namespaces = table.get("namespaces")
    texts = {parse(text, namespaces).text for text in table["same"]}
    assert len(texts) == 1, texts
    for text in table["other"]:
        other = parse(text, namespaces)
        assert (other.text, other.namespaces) != (
            parse(table["same"][0], namespaces).text,
            parse(table["same"][0], namespaces).namespaces,
        ), text


@each_matcher
@pytest.mark.parametrize("table", [table for _, table in ERRORS], ids=[name for name, _ in ERRORS])
def test_invalid_subscription(table: dict[str, Any], engine: EngineName) -> None:
    text = table.get("text", "")
    if "repeat" in table:
        text = table.get("before", "") + table["repeat"] * table["times"] + table.get("after", "")
    matcher = Matcher(engine=engine)
    with pytest.raises(SubscriptionError) as caught:
        matcher.add(1, text, table.get("namespaces"))
    assert caught.value.kind == table["kind"], str(caught.value)
    if "position" in table:
        assert caught.value.position == table["position"], str(caught.value)
    if "hint" in table:
        assert table["hint"] in (caught.value.hint or ""), str(caught.value)
    matcher.add(1, "/a")
    assert list(matcher.match(b"<a/>")) == [1]


@each_matcher
@pytest.mark.parametrize("name", REJECTED)
def test_invalid_document(name: str, engine: EngineName) -> None:
    table = REJECTED[name]
    body = bytes.fromhex(table["hex"]) if "hex" in table else table["document"].encode()
    if "repeat" in table:
        body += table["repeat"].encode() * table["times"] + table.get("after", "").encode()
    limits = Limits(**table.get("limits", {}))
    matcher = Matcher(limits=limits, engine=engine)
    matcher.add(1, "//*")
    with pytest.raises(DocumentError) as caught:
        matcher.match(body)
    assert caught.value.kind == table["kind"], str(caught.value)
    if "line" in table:
        assert caught.value.line == table["line"], str(caught.value)
    with pytest.raises(DocumentError):
        parse_document(body, limits)
    assert list(matcher.match(b"<a/>")) == [1], "the matcher still works"


@each_matcher
def test_documents_at_the_limits_are_accepted(engine: EngineName) -> None:
    limits = Limits(depth=2, elements=3, attributes=2, attributes_total=3)
    matcher = Matcher(limits=limits, engine=engine)
    matcher.add(1, "//@z")
    assert list(matcher.match(b"<a x='1'><b y='2' z='3'/><!--c--></a>")) == [1]
