"""The subscriptions of a matcher as a collection: read from a file, listed, described, replaced."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given

from pathcast import Matcher
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Subscription, write_subscriptions
from pathcast.matching import CanonicalText
from pathcast.matching.compiled.engine import CompiledEngine
from pathcast.matching.engine import EngineName
from pathcast.matching.id_table import MIN_DEAD_IDS
from pathcast.xpath import parse
from tests import strategies
from tests.generate import NAMESPACES
from tests.matching.engines import ENGINES, each_engine
from tests.runner import InlineRunner

BODY = b"<r xmlns:p='urn:p'><a x='1'/><p:b xml:lang='en'/></r>"


# files


@each_engine
@pytest.mark.parametrize("name", ["s.txt", "s.tsv", "s.jsonl", "s.parquet", "s.txt.gz"])
def test_every_format_is_read(engine: EngineName, name: str, tmp_path: Path) -> None:
    id: str | int = 1 if ".txt" in name else "x"
    write_subscriptions(tmp_path / name, [Subscription(id, "//a[@x = 1]")])
    matcher = Matcher.from_file(tmp_path / name, engine=engine)
    assert list(matcher) == list(matcher.match(BODY)) == [id]


@each_engine
def test_namespaces_apply_to_all_rows(engine: EngineName, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [Subscription(1, "//q:b"), Subscription(2, "//q:b", {"q": "urn:other"})]
    write_subscriptions(path, rows)
    matcher = Matcher.from_file(path, namespaces={"q": "urn:p"}, engine=engine)
    assert list(matcher.match(BODY)) == [1]


def test_format_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(gzip.compress(b"x\t//a\n"))
    assert list(Matcher.from_file(tmp_path / "list", file_format="tsv")) == ["x"]
    with pytest.raises(FormatError, match="is not known"):
        Matcher.from_file(tmp_path / "list")


def test_the_first_bad_row_is_raised_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("//a\n\n//b[\n//c[\n")
    with pytest.raises(SubscriptionError) as caught:
        Matcher.from_file(path)
    assert (caught.value.text, caught.value.__notes__) == ("//b[", [f"in {path}, line 3"])
    (tmp_path / "s.tsv").write_text("x\t//a\n//b\n")
    with pytest.raises(FormatError) as bad_row:
        Matcher.from_file(tmp_path / "s.tsv")
    assert bad_row.value.line == 2
    (tmp_path / "same.tsv").write_text("x\t//a\nx\t//b\n")
    with pytest.raises(SubscriptionError, match="already"):
        Matcher.from_file(tmp_path / "same.tsv")


def test_expensive_rows_need_permission(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("//*[//* = //*]\n")
    with pytest.raises(SubscriptionError, match="expensive"):
        Matcher.from_file(path)
    matcher = Matcher.from_file(path, allow_expensive=True, runner=InlineRunner())
    assert list(matcher.match(BODY)) == [1]


# listing and description


@each_engine
def test_iteration_yields_the_ids_in_the_order_of_addition(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    for id in ("b", 1, "a", "1"):
        matcher.add(id, "//a")
    matcher.remove("a")
    ids = iter(matcher)
    matcher.remove("b")  # an iterator has the ids of its beginning
    matcher.settle()
    assert list(ids) == ["b", 1, "1"]
    assert list(matcher) == [1, "1"]
    assert 1 in matcher
    assert "b" not in matcher
    assert len(matcher) == 2


@given(strategies.expressions())
def test_canonical_text_equals_that_of_the_parser(text: str) -> None:
    pattern = parse(text, NAMESPACES)
    for engine in ENGINES:
        matcher = Matcher(runner=InlineRunner(), engine=engine)
        matcher.add("x", text, NAMESPACES, allow_expensive=True)
        expected = CanonicalText(pattern.text, dict(pattern.namespaces))
        assert matcher.get("x") == expected
        matcher.add("y", expected.xpath, expected.namespaces, allow_expensive=True)
        assert matcher.get("y") == expected
        assert matcher.stats().patterns == 1


@each_engine
@pytest.mark.parametrize(
    ("xpath", "namespaces", "canonical"),
    [
        ("a/*/@b", None, "//a/*/@b"),
        ("/q:a//p:b", {"p": "urn:1", "q": "urn:2"}, "/n2:a//n1:b"),
        ("//p:*/@xml:lang", {"p": "urn:1"}, "//n1:*/@xml:lang"),
        ("//comment()", None, "//comment()"),
        ("//processing-instruction('it')", None, "//processing-instruction('it')"),
        ("/a/text()", None, "/a/text()"),
        ("//node()", None, "//node()"),
        ("//@*", None, "//@*"),
        ("//a[3 < b]", None, "//a/b[. > 3]"),
        ("//a[b * 2 > 3]", None, "//a[b * 2 > 3]"),
    ],
)
def test_canonical_texts(
    engine: EngineName, xpath: str, namespaces: dict[str, str] | None, canonical: str
) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("x", xpath, namespaces)
    text = matcher.get("x")
    assert text.xpath == canonical
    assert len(text.namespaces) == len(namespaces or {})
    copy = Matcher(engine=engine)
    copy.add("x", text.xpath, text.namespaces)
    assert copy.get("x") == text


@each_engine
@pytest.mark.parametrize("other", ENGINES)
def test_canonical_texts_survive_compaction_and_saving(
    engine: EngineName, other: EngineName, tmp_path: Path
) -> None:
    texts = ["/a//p:b", "//a[p:b]", "//@xml:lang", "//p:*", "//a[b * 2 > 3]"]
    matcher = Matcher(engine=engine)
    for number, text in enumerate(texts):
        matcher.add(f"gone {number}", "//other")
        matcher.add(number, text, {"p": "urn:p"})
        matcher.remove(f"gone {number}")
    expected = [matcher.get(number) for number in range(len(texts))]
    matcher.settle()
    assert [matcher.get(number) for number in range(len(texts))] == expected
    matcher.save(tmp_path / "all")
    loaded = Matcher.load(tmp_path / "all", engine=other)
    assert [loaded.get(number) for number in range(len(texts))] == expected


@each_engine
def test_get_of_an_unknown_id_is_a_key_error(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("1", "//a")
    matcher.add("b", "//a")
    matcher.remove("b")
    for id in (1, "b", True, None):
        with pytest.raises(KeyError):
            matcher.get(id)  # type: ignore[arg-type]


# replacement


@each_engine
@pytest.mark.parametrize("old", ["//a", "//a[@x = 1]", "//nothing"])
@pytest.mark.parametrize("new", ["/r/a", "//a[@x]/..", "//none[b]", "//a[@x * 2 = 2]"])
def test_replacement_takes_effect_with_the_next_document(
    engine: EngineName, old: str, new: str
) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("x", old, hop=1)
    matcher.add("y", "//a", hop=2)
    matcher.match(BODY)
    matcher.replace("x", new, hop=3)
    fresh = Matcher(engine=engine)
    fresh.add("y", "//a", hop=2)
    fresh.add("x", new, hop=3)
    assert list(matcher) == list(fresh) == ["y", "x"]
    assert matcher.get("x") == fresh.get("x")
    assert list(matcher.match(BODY)) == list(fresh.match(BODY))
    assert list(matcher.match_hops(BODY)) == list(fresh.match_hops(BODY))
    matcher.settle()
    assert list(matcher.match(BODY)) == list(fresh.match(BODY))
    assert matcher.stats().patterns == fresh.stats().patterns


@each_engine
def test_an_invalid_replacement_changes_nothing(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("x", "//a", hop=1)
    with pytest.raises(SubscriptionError):
        matcher.replace("x", "//a[")
    with pytest.raises(SubscriptionError):
        matcher.replace("x", "//*[//* = //*]")
    with pytest.raises(SubscriptionError):
        matcher.replace("x", "//b", hop=-1)
    with pytest.raises(TypeError):
        matcher.replace("x", "//b", "p=urn:p")  # type: ignore[arg-type]
    for id in ("y", 1, None):
        with pytest.raises(KeyError):
            matcher.replace(id, "//b")  # type: ignore[arg-type]
    assert list(matcher) == list(matcher.match(BODY)) == ["x"]
    assert list(matcher.match_hops(BODY)) == [1]


@each_engine
def test_replaced_numbers_are_compacted(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("x", "//a")
    for number in range(2 * MIN_DEAD_IDS):
        matcher.replace("x", f"/r/a[@x < {number + 2}]" if number % 64 == 0 else "/r/a")
    assert len(matcher._id_table.ids) <= MIN_DEAD_IDS + 2
    assert list(matcher.match(BODY)) == ["x"]


def test_a_view_before_the_replacement_keeps_the_old_subscription() -> None:
    """A document in progress reads such a view: it must not miss both subscriptions."""
    matcher = Matcher(engine="core")
    engine = matcher._engine
    assert isinstance(engine, CompiledEngine)
    matcher.add("x", "//a", hop=1)
    matcher.add("y", "//b")
    view = engine._current_view()
    matcher.replace("x", "/r/a", hop=2)
    old = engine._run(view, BODY, hops=False)[0]
    assert [view.ids[number] for number in old] == ["x"]
    assert engine._run(view, BODY, hops=True)[1] == [1]
    assert list(matcher.match(BODY)) == ["x"]
    assert list(matcher.match_hops(BODY)) == [2]
    assert engine._run(view, BODY, hops=True)[1] == [1]
    assert list(matcher.match_hops(BODY)) == [2], "the hop masks of the old view are not shared"


@each_engine
def test_threads_see_the_old_or_the_new_subscription(engine: EngineName, deep: bool) -> None:
    matcher = Matcher(engine=engine)
    texts = ("//a", "/r/a", "//a[@x = 1]", "/r/*[@x]")
    matcher.add("x", texts[0])
    rounds = 5_000 if deep else 300

    def write() -> None:
        for number in range(rounds):
            matcher.replace("x", texts[number % len(texts)])

    def read() -> None:
        for _ in range(rounds):
            assert list(matcher.match(BODY)) == ["x"]

    with ThreadPoolExecutor(3) as threads:
        for running in [threads.submit(work) for work in (write, read, read)]:
            running.result()
