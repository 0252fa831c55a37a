"""Choice of the engine: compiled if possible, else plain with a warning; an error if required."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pathcast import Matcher
from pathcast.matching.compiled.core import node_table
from tests.matching.engines import ENGINES


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter in which the core cannot be imported."""
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


def test_unknown_engine_is_rejected() -> None:
    with pytest.raises(ValueError, match="'auto', 'core' or 'plain', not 'fast'"):
        Matcher(engine="fast")  # type: ignore[arg-type]


def test_missing_core_falls_back_to_plain_with_a_warning() -> None:
    completed = run(f"m = Matcher(); {MATCH}")
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == "plain ['id']\n"
    assert "RuntimeWarning: matching in plain Python" in completed.stderr
    assert "not built" in completed.stderr


def test_plain_engine_on_request_does_not_warn() -> None:
    completed = run(f"m = Matcher(engine='plain'); {MATCH}")
    assert (completed.stdout, completed.stderr) == ("plain ['id']\n", "")


def test_core_on_request_raises_if_missing() -> None:
    completed = run("Matcher(engine='core')")
    assert completed.returncode == 1
    assert "RuntimeError: the compiled core cannot be used: it is not built" in completed.stderr


def test_environment_variable_requires_the_core() -> None:
    completed = run("Matcher()", PATHCAST_REQUIRE_CORE="1")
    assert completed.returncode == 1
    assert "RuntimeError: the compiled core cannot be used" in completed.stderr
    assert run(f"m = Matcher(engine='plain'); {MATCH}", PATHCAST_REQUIRE_CORE="1").returncode == 0


def test_core_built_for_another_libxml2_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Major and minor version must agree: patch releases do not change structs."""
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


def test_warning_points_at_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATHCAST_REQUIRE_CORE", raising=False)
    monkeypatch.setattr(node_table, "BUILT_FOR", (1, 0, 0))
    with pytest.warns(RuntimeWarning) as caught:
        Matcher()
    assert caught[0].filename == __file__
