from __future__ import annotations

import json

from pathcast.bench.report import Line, Report, fingerprint, machine

FAST = Line("fast enough", 0.3, "x", target=0.25, spread=(0.28, 0.33), note="1,000/s")
SLOW = Line("too slow", 0.2, "x", target=0.25)
SEEN = Line("only seen", 0.01, "x")
SMALL = Line("small", 999.0, "MB", target=1000, at_least=False)
BETWEEN = Line("between", 7.0, "%", target=5.0, most=15.0)
ABOVE = Line("above", 15.1, "%", target=5.0, most=15.0)
BELOW = Line("below", 4.9, "%", target=5.0, most=15.0)
LARGE = Line("large", 1000.0, "MB", target=1000, at_least=False)


def report(*lines: Line) -> Report:
    return Report("toy", True, lines, {"texts": fingerprint([b"a"])}, machine())


def test_verdicts() -> None:
    found = [line.verdict for line in (FAST, SLOW, SEEN, SMALL, LARGE)]
    assert found == ["pass", "MISS", "", "pass", "MISS"]
    assert report(FAST, SEEN, SMALL).passed
    assert not report(FAST, SLOW).passed
    assert not report(LARGE).passed
    assert Line("just", 0.25, "x", target=0.25).passed


def test_the_table_shows_everything() -> None:
    table = report(FAST, SLOW, SEEN, LARGE).table().splitlines()
    assert table[0] == "benchmark toy (quick: smaller inputs)"
    assert [line.split() for line in table[2:7]] == [
        ["figure", "spread", "target"],
        ["fast", "enough", "0.3", "x", "0.28..0.33", ">=", "0.25", "x", "pass", "1,000/s"],
        ["too", "slow", "0.2", "x", ">=", "0.25", "x", "MISS"],
        ["only", "seen", "0.01", "x"],
        ["large", "1,000", "MB", "<", "1,000", "MB", "MISS"],
    ]
    assert table[8] == f"input {fingerprint([b'a'])}  texts"
    assert "libxml2" in table[9]
    assert "processors" in table[9]


def test_a_figure_between_two_bounds() -> None:
    assert [line.verdict for line in (BETWEEN, ABOVE, BELOW)] == ["pass", "MISS", "MISS"]
    (row,) = report(BETWEEN).table().splitlines()[3:4]
    assert row.split() == ["between", "7", "%", "5..15", "%", "pass"]
    assert BETWEEN.as_dict()["most"] == 15.0


def test_as_dict_is_json() -> None:
    found = json.loads(json.dumps(report(FAST, SLOW, SEEN).as_dict()))
    assert (found["passed"], found["quick"], found["benchmark"]) == (False, True, "toy")
    assert [line["passed"] for line in found["lines"]] == [True, False, None]
    assert found["lines"][0]["spread"] == [0.28, 0.33]
    assert set(found["machine"]) >= {"lxml", "libxml2", "processors", "pathcast"}


def test_fingerprints_tell_parts_apart() -> None:
    found = {fingerprint(parts) for parts in ([b"ab"], [b"a", b"b"], [b"", b"ab"], [])}
    assert len(found) == 4
    assert fingerprint([b"ab"]) == fingerprint(iter([b"ab"]))
