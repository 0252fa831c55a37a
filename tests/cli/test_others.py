from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pathcast import Matcher, __version__
from pathcast.cli.demo_feed import generate_feed, generate_subscriptions
from pathcast.errors import DocumentError
from tests.cli.running import run, write


def test_version_is_printed() -> None:
    result = run("--version")
    assert (result.code, result.stdout) == (0, f"pathcast {__version__}\n")


@pytest.mark.parametrize("command", ["match", "explain", "draw", "run", "report", "demo"])
def test_every_command_has_help_with_an_example_and_its_exit_codes(command: str) -> None:
    for option in ("--help", "-h"):
        result = run(command, option)
        assert result.code == 0
        assert f"Example: pathcast {command} " in result.stdout
        assert "Exit code: 0" in result.stdout


def test_unknown_command_is_exit_code_2() -> None:
    result = run("mach")
    assert (result.code, result.stdout) == (2, "")
    assert "mach" in result.stderr


def test_draw_writes_the_automaton(tmp_path: Path) -> None:
    write(tmp_path, s__txt="/a/b\n/a//c[@d]\n", bad__txt="/a[\n/b\n")
    text = run("draw", tmp_path / "s.txt")
    dot = run("draw", tmp_path / "s.txt", "--dot")
    assert (text.code, text.stderr, dot.code, dot.stderr) == (0, "", 0, "")
    assert dot.stdout.startswith("digraph")
    matcher = Matcher()
    matcher.add(1, "/a/b")
    matcher.add(2, "/a//c[@d]")
    assert text.stdout.rstrip("\n") == matcher.draw("text").rstrip("\n")
    (row,) = run("draw", tmp_path / "s.txt", "--json").rows
    assert row == {"subscriptions": 2, "style": "text", "drawing": matcher.draw("text")}
    write(tmp_path, x__txt="//*[//*=//*]\n")
    assert run("draw", tmp_path / "x.txt").code == 0
    assert run("draw", tmp_path / "bad.txt").code == 2
    assert run("draw", tmp_path / "bad.txt", "--skip-bad").code == 0


def test_demo_seed_determines_feed_and_subscriptions() -> None:
    def digest(seed: int) -> str:
        parts = [body for _, body in generate_feed(50, seed)]
        parts += [repr(row).encode() for row in generate_subscriptions(50, 7, seed)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)


def test_demo_feed_has_exactly_the_intended_malformed_documents() -> None:
    matcher = Matcher()
    failed = []
    for name, body in generate_feed(600, seed=3):
        try:
            matcher.match(body)
        except DocumentError:
            failed.append(name)
    assert len(failed) == 3


def test_every_hand_written_subscription_but_the_misspelt_matches() -> None:
    matcher = Matcher()
    for row in generate_subscriptions(12, 7, seed=1):
        matcher.add(row.id, row.xpath, row.namespaces)
    matched: set[str | int] = set()
    for _, body in generate_feed(300, seed=1):
        try:
            matched.update(matcher.match(body))
        except DocumentError:
            continue
    ids = {row.id for row in generate_subscriptions(12, 7, seed=1)}
    assert ids - matched == {"misspelt"}
