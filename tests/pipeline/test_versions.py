"""Versions: named by content, compiled incrementally, immutable once stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import PipelineError, SubscriptionError
from pathcast.files import Subscription
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.versions import VersionCompiler, VersionStore, compile_version
from tests import generate
from tests.generate import NAMESPACES
from tests.pipeline.sets import without_expensive

FIRST = [
    Subscription("a", "//a[b]"),
    Subscription("b", "//b", subscriber="x"),
    Subscription(7, "//c"),
]


def test_only_new_expressions_are_compiled(tmp_path: Path) -> None:
    compiler = VersionCompiler(tmp_path)
    first = compiler.compile(FIRST)
    assert compiler.expressions_compiled == 3
    second = compiler.compile([Subscription("n", "//n"), *FIRST[:2]])
    assert compiler.expressions_compiled == 4
    moved = compiler.compile([*FIRST[:1], Subscription("b", "//b", subscriber="y"), FIRST[2]])
    assert (
        compiler.expressions_compiled == 5
    )  # 7 had been removed; a change of subscriber compiles nothing
    assert compiler.compile(FIRST) == first
    changed = compiler.compile([Subscription("a", "//a[c]"), *FIRST[1:]])
    assert compiler.expressions_compiled == 6
    assert len({first.name, second.name, moved.name, changed.name}) == 4
    assert set(Matcher.load(second.path).match(b"<n><a><b/></a><c/></n>")) == {"n", "a", "b"}
    assert set(Matcher.load(changed.path).match(b"<a><b/><c/></a>")) == {"a", "b", 7}


@pytest.mark.parametrize(
    "other",
    [
        FIRST[:2],
        FIRST[::-1],
        [*FIRST[:2], Subscription("7", "//c")],
        [*FIRST[:2], Subscription(7, "//c", NAMESPACES)],
        [*FIRST[:2], Subscription(7, "//c ")],
        [*FIRST[:2], Subscription(7, "//c", subscriber="7 ")],
    ],
)
def test_name_depends_on_the_subscriptions(tmp_path: Path, other: list[Subscription]) -> None:
    name = compile_version(FIRST, tmp_path).name
    assert compile_version(FIRST, tmp_path).name == name
    assert compile_version(other, tmp_path).name != name
    assert compile_version(FIRST, tmp_path, allow_expensive=True).name != name


def test_compiler_recovers_from_errors(tmp_path: Path) -> None:
    compiler = VersionCompiler(tmp_path)
    first = compiler.compile(FIRST)
    with pytest.raises(SubscriptionError):
        compiler.compile([Subscription("a", "//z"), Subscription("c", "//c[")])
    assert compiler.compile(FIRST[:1]).subscriptions == 1

    def interrupted_rows() -> Iterator[Subscription]:
        yield Subscription("b", "//q")
        raise PipelineError("subscriptions", "unreadable")

    with pytest.raises(PipelineError):
        compiler.compile(interrupted_rows())
    assert compiler.compile(FIRST) == first
    refused: list[object] = []
    subset = compiler.compile(
        [Subscription("a", "//a["), *FIRST[1:], Subscription("7", "//d"), FIRST[1]],
        lambda subscription, error: refused.append((subscription.id, error.kind)),
    )
    assert refused == [("a", "syntax"), ("7", "duplicate"), ("b", "duplicate")]
    assert subset == compile_version(FIRST[1:], tmp_path)
    assert set(Matcher.load(subset.path).match(b"<a><b/><z/><c/></a>")) == {"b", 7}


def test_stored_version_is_immutable(tmp_path: Path) -> None:
    """A later run numbers the same subscriptions differently, but uses the stored file."""
    storage = LocalStorage(tmp_path)
    stored = VersionStore(storage, VersionCompiler(tmp_path / "one")).add(FIRST)
    before = stored.path.read_bytes()
    later = VersionStore(storage, VersionCompiler(tmp_path / "two"))
    later.add(FIRST[::-1])
    stored_again = later.add(FIRST)
    assert stored_again == stored
    assert stored_again.path.read_bytes() == before
    assert compile_version(FIRST[::-1], tmp_path / "two").path.read_bytes() != before


POOL = without_expensive(
    Subscription(number % 12, generate.expression(Random(number), knobs), NAMESPACES)
    for number, knobs in enumerate([generate.WHOLE, generate.NATIVE] * 30)
)


@given(
    st.lists(
        st.lists(st.sampled_from(POOL), max_size=8, unique_by=lambda entry: entry.id), max_size=6
    )
)
def test_incremental_compilation_equals_a_fresh_one(sets: list[list[Subscription]]) -> None:
    bodies = [generate.document(Random(number)) for number in range(6)]
    with TemporaryDirectory() as name:
        compiler = VersionCompiler(Path(name, "changed"))
        for subset in sets:
            changed = compiler.compile(subset)
            alone = compile_version(subset, Path(name, "alone"))
            assert changed.name == alone.name
            assert changed.routes.read_bytes() == alone.routes.read_bytes()
            incremental, fresh = (Matcher.load(version.path) for version in (changed, alone))
            for body in bodies:
                assert set(incremental.match(body)) == set(fresh.match(body))
