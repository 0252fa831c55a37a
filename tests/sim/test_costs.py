"""Files of recorded costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathcast.errors import RoutingError
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.messages import (
    Advertise,
    Complete,
    FactKind,
    InternedInterests,
    Publication,
    Publish,
    Recall,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pathcast.sim.costs import Costs, read_costs
from pathcast.xpath import parse

INTEREST = InternedInterests().intern(parse("/a"))


def test_the_papers_costs() -> None:
    """Li, Hou and Jacobsen (2008), table 1: 13.96 ms for a path against 100,000 expressions."""
    costs = read_costs("li2008")
    assert costs
    assert "table 1" in costs.source
    publish = Publish(Publication("d", "b", "p", b"<a/>"))
    assert costs.seconds(publish, 100_000) == pytest.approx(13.96e-3)


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "costs.toml"
    file.write_text(
        "[publish]\nfixed = 1\nper_kilobyte = 0.5\nper_entry = 0.25\n"
        "[subscribe]\nfixed = 2\n[advertise]\nper_entry = 3\n"
    )
    costs = read_costs(str(file))
    assert costs.source == str(file)
    publish = Publish(Publication("d", "b", "p", b"x" * 2048))
    assert costs.seconds(publish, 4) == 3.0
    assert costs.seconds(Subscribe(INTEREST), 4) == costs.seconds(Unsubscribe(INTEREST), 4) == 2.0
    assert costs.seconds(Advertise("b", "p", ("b",), ANYTHING), 4) == 12.0
    assert costs.seconds(Unadvertise("b", "p"), 4) == 12.0
    assert costs.seconds(Recall(("b",)), 4) == 0.0
    assert costs.seconds(Complete(FactKind.OFFERS, "b"), 4) == 0.0


def test_no_costs_are_false() -> None:
    assert not Costs()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("publish = 3\n", "publish is not among costs"),
        ("[other]\nfixed = 1\n", "other is not among costs"),
        ("[publish]\nslow = 1\n", "publish has no slow"),
        ("[publish]\nfixed = -1\n", "is not a cost in seconds"),
        ("[publish]\nfixed = inf\n", "is not a cost in seconds"),
        ("[publish]\nfixed = true\n", "is not a cost in seconds"),
        ("[publish]\nfixed = nan\n", "is not a cost in seconds"),
        ("[publish]\nfixed = 'x'\n", "is not a cost in seconds"),
        ("[publish\n", "is no TOML"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "costs.toml"
    file.write_text(text)
    with pytest.raises(RoutingError, match=complaint):
        read_costs(str(file))


def test_a_name_that_is_none() -> None:
    with pytest.raises(RoutingError, match="li2008"):
        read_costs("li2080")
