"""Which engine runs: the compiled one where it can, the plain one with a warning, or an error for who insists."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pathcast import Matcher
from pathcast.matching.compiled.core import node_table
from tests.matching.engines import ENGINES


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter of its own where the core is missing."""
    blocked = (
        "import sys\n"
        "for name in ('node_table', 'match_context', 'labels', 'nfa'):\n"
        "    sys.modules[f'pathcast.matching.compiled.core.{name}'] = None\n"
        "from pathcast import Matcher\n"
    )
    return subprocess.run(
        [sys.executable, "-c", blocked + code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


MATCH = "m.add('id', '//a[b]'); print(m.stats().engine, list(m.match(b'<a><b/></a>')))"


def test_auto_is_the_compiled_engine() -> None:
    assert Matcher().stats().engine == "core"
    for engine in ENGINES:
        assert Matcher(engine=engine).stats().engine == engine


def test_an_unknown_engine() -> None:
    with pytest.raises(ValueError, match="'auto', 'core' or 'plain', not 'fast'"):
        Matcher(engine="fast")  # type: ignore[arg-type]


def test_without_the_core_plain_python_runs_with_a_warning() -> None:
    found = run(f"m = Matcher(); {MATCH}")
    assert found.returncode == 0, found.stderr
    assert found.stdout == "plain ['id']\n"
    assert "RuntimeWarning: matching in plain Python" in found.stderr
    assert "not built" in found.stderr


def test_plain_is_plain_without_a_warning() -> None:
    found = run(f"m = Matcher(engine='plain'); {MATCH}")
    assert (found.stdout, found.stderr) == ("plain ['id']\n", "")


def test_who_asks_for_the_core_gets_it_or_an_error() -> None:
    found = run("Matcher(engine='core')")
    assert found.returncode == 1
    assert "RuntimeError: the compiled core cannot be used: it is not built" in found.stderr


def test_the_core_may_be_required_of_everybody() -> None:
    found = run("Matcher()", PATHCAST_REQUIRE_CORE="1")
    assert found.returncode == 1
    assert "RuntimeError: the compiled core cannot be used" in found.stderr
    assert run(f"m = Matcher(engine='plain'); {MATCH}", PATHCAST_REQUIRE_CORE="1").returncode == 0


def test_a_core_for_another_libxml2_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two numbers must agree: structs may change between minor versions, not between patches."""
    major, minor, *_ = built = node_table.BUILT_FOR
    monkeypatch.delenv("PATHCAST_REQUIRE_CORE", raising=False)
    for other in ((major, minor + 1, 0), (major + 1, minor, 0), (2, 9, 14)):
        monkeypatch.setattr(node_table, "BUILT_FOR", other)
        message = rf"built for libxml2 {other[0]}\.{other[1]}, and lxml brings {major}\.{minor}"
        with pytest.warns(RuntimeWarning, match=message):
            matcher = Matcher()
        assert matcher.stats().engine == "plain"
        with pytest.raises(RuntimeError, match=message):
            Matcher(engine="core")
    monkeypatch.setattr(node_table, "BUILT_FOR", (*built[:2], 99))
    assert Matcher().stats().engine == "core"


def test_the_warning_points_at_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATHCAST_REQUIRE_CORE", raising=False)
    monkeypatch.setattr(node_table, "BUILT_FOR", (1, 0, 0))
    with pytest.warns(RuntimeWarning) as caught:
        Matcher()
    assert caught[0].filename == __file__
