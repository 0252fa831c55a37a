from __future__ import annotations

import json

from pathcast.bench.report import Report, ReportLine, fingerprint, machine

FAST = ReportLine("fast enough", 0.3, "x", target=0.25, spread=(0.28, 0.33), note="1,000/s")
SLOW = ReportLine("too slow", 0.2, "x", target=0.25)
SEEN = ReportLine("only seen", 0.01, "x")
SMALL = ReportLine("small", 999.0, "MB", target=1000, at_least=False)
BETWEEN = ReportLine("between", 7.0, "%", target=5.0, upper=15.0)
ABOVE = ReportLine("above", 15.1, "%", target=5.0, upper=15.0)
BELOW = ReportLine("below", 4.9, "%", target=5.0, upper=15.0)
LARGE = ReportLine("large", 1000.0, "MB", target=1000, at_least=False)


def report(*lines: ReportLine) -> Report:
    return Report("toy", True, lines, {"texts": fingerprint([b"a"])}, machine())


def test_verdicts() -> None:
    verdicts = [line.verdict for line in (FAST, SLOW, SEEN, SMALL, LARGE)]
    assert verdicts == ["pass", "MISS", "", "pass", "MISS"]
    assert report(FAST, SEEN, SMALL).passed
    assert not report(FAST, SLOW).passed
    assert not report(LARGE).passed
    assert ReportLine("just", 0.25, "x", target=0.25).passed


def test_table_has_all_columns() -> None:
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
    data = json.loads(json.dumps(report(FAST, SLOW, SEEN).as_dict()))
    assert (data["passed"], data["quick"], data["benchmark"]) == (False, True, "toy")
    assert [line["passed"] for line in data["lines"]] == [True, False, None]
    assert data["lines"][0]["spread"] == [0.28, 0.33]
    assert set(data["machine"]) >= {"lxml", "libxml2", "processors", "pathcast"}


def test_fingerprints_depend_on_part_boundaries() -> None:
    digests = {fingerprint(parts) for parts in ([b"ab"], [b"a", b"b"], [b"", b"ab"], [])}
    assert len(digests) == 4
    assert fingerprint([b"ab"]) == fingerprint(iter([b"ab"]))
