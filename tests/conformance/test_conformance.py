"""The conformance suite: cases in data files, run on every engine there is.

`case` tables hold a document with the subscriptions that match it and those that do not; `equal` tables
spellings with one canonical text; `error` tables texts that are refused. A new engine joins by one
entry in ENGINES. libxml2 is one of them: what is written down must agree with it.
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


class Engine(Protocol):
    """Which of the subscriptions (text -> namespaces) does the document match?"""

    def __call__(self, subscriptions: Subscriptions, body: bytes) -> set[str]: ...


def by_oracle(subscriptions: Subscriptions, body: bytes) -> set[str]:
    return {text for text, prefixes in subscriptions.items() if oracle(text, prefixes, body)}


def by_matcher(name: EngineName, subscriptions: Subscriptions, body: bytes) -> set[str]:
    matcher = Matcher(runner=InlineRunner(), engine=name)
    for text, prefixes in subscriptions.items():
        matcher.add(text, text, prefixes, allow_expensive=True)
    return {str(found) for found in matcher.match(body)}


def by_matchers_of_one(name: EngineName, subscriptions: Subscriptions, body: bytes) -> set[str]:
    """Nothing shared: what matches only in company, or only alone, is a fault."""
    return {
        text
        for text, prefixes in subscriptions.items()
        if by_matcher(name, {text: prefixes}, body) == {text}
    }


ENGINES: dict[str, Engine] = {
    "libxml2": by_oracle,
    "plain": partial(by_matcher, "plain"),
    "plain-alone": partial(by_matchers_of_one, "plain"),
    "core": partial(by_matcher, "core"),
    "core-alone": partial(by_matchers_of_one, "core"),
}
NAMES: tuple[EngineName, ...] = ("plain", "core")
each_matcher = pytest.mark.parametrize("engine", NAMES)


def tables(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(HERE.glob("*.toml")):
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        for index, table in enumerate(found.get(kind, ())):
            yield f"{path.stem}: {table.get('name') or table.get('text') or index}", table


CASES = dict(tables("case"))
EQUAL = dict(tables("equal"))
ERRORS = list(tables("error"))
REJECTED = dict(tables("rejected"))


def test_there_are_many_cases() -> None:
    subscriptions = sum(len(case["match"]) + len(case["miss"]) for case in CASES.values())
    assert subscriptions + len(ERRORS) + len(REJECTED) > 1000
    assert len(CASES) == len(list(tables("case"))), "two cases have the same name"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_case(engine: str, case: str) -> None:
    table = CASES[case]
    body = table["document"].encode(table.get("encoding", "utf-8"))
    subscriptions = dict.fromkeys([*table["match"], *table["miss"]], table.get("namespaces"))
    assert len(subscriptions) == len(table["match"]) + len(table["miss"]), "one text, two answers"
    assert ENGINES[engine](subscriptions, body) == set(table["match"])


@pytest.mark.parametrize("group", EQUAL)
def test_canonical(group: str) -> None:
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
def test_subscription_error(table: dict[str, Any], engine: EngineName) -> None:
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
def test_document_error(name: str, engine: EngineName) -> None:
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
    assert list(matcher.match(b"<a/>")) == [1], "the matcher goes on"


@each_matcher
def test_a_limit_is_not_passed_by_reaching_it(engine: EngineName) -> None:
    limits = Limits(depth=2, elements=3, attributes=2, attributes_total=3)
    matcher = Matcher(limits=limits, engine=engine)
    matcher.add(1, "//@z")
    assert list(matcher.match(b"<a x='1'><b y='2' z='3'/><!--c--></a>")) == [1]
