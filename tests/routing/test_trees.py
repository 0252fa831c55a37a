"""Trees of one broker: whose word is taken, and what is passed on."""

from __future__ import annotations

from pathcast.routing.advertisement import Advertisement, parse_advertisement
from pathcast.routing.messages import Advertise, Unadvertise
from pathcast.routing.trees import Trees

SOME = parse_advertisement("/a/*")
FEW = parse_advertisement("/a/b")


def heard(trees: Trees, neighbour: str, *path: str, publisher: str = "P") -> None:
    trees.choose_parent(trees.on_advertise(neighbour, Advertise(path[-1], publisher, path, SOME)))


def advertised(trees: Trees, **own: Advertisement) -> list[str]:
    """The publishers that a neighbour hears of, all at once."""
    for publisher, one in own.items():
        trees.choose_parent(trees.announce(publisher, one))
    return sorted(
        one.publisher for one in trees.updates_for("x", trees.name) if isinstance(one, Advertise)
    )


def test_the_first_word_is_taken_and_kept() -> None:
    trees = Trees("b", ["x", "y"])
    heard(trees, "x", "x", "m", "o")
    assert trees.parent == {"o": "x"}
    heard(trees, "y", "y", "o")
    assert trees.parent == {"o": "x"}, "a shorter way is no reason to move"
    trees.choose_parent(trees.on_unadvertise("x", Unadvertise("o", "P")))
    assert trees.parent == {"o": "y"}


def test_a_way_through_ourselves_is_none() -> None:
    trees = Trees("b", ["x", "y"])
    heard(trees, "x", "x", "b", "o")
    assert trees.parent == {}
    assert trees.updates_for("y", "o") == []
    heard(trees, "y", "y", "m", "o")
    assert trees.parent == {"o": "y"}
    trees.choose_parent(trees.on_unadvertise("y", Unadvertise("o", "P")))
    assert trees.parent == {}, "rather none than a loop"


def test_a_way_that_comes_to_lead_through_ourselves_is_left() -> None:
    trees = Trees("b", ["x", "y"])
    heard(trees, "x", "x", "o")
    heard(trees, "y", "y", "m", "o")
    heard(trees, "x", "x", "b", "o")
    assert trees.parent == {"o": "y"}


def test_whom_a_neighbour_gets_documents_from() -> None:
    trees = Trees("b", ["x", "y", "z"])
    heard(trees, "x", "x", "o")
    heard(trees, "y", "y", "b", "x", "o")
    heard(trees, "z", "z", "x", "o")
    assert [one for one in "xyz" if trees.is_child(one, "o")] == ["y"]


def test_covered_advertisements_of_one_origin_are_not_told() -> None:
    assert advertised(Trees("b", ["x"]), wide=SOME, narrow=FEW) == ["wide"]
    assert advertised(Trees("b", ["x"]), narrow=FEW, other=FEW) == ["narrow"]
    trees = Trees("b", ["x"])
    assert advertised(trees, wide=SOME, narrow=FEW) == ["wide"]
    trees.choose_parent(trees.retract("wide"))
    assert trees.updates_for("x", "b") == [
        Advertise("b", "narrow", ("b",), FEW),
        Unadvertise("b", "wide"),
    ]
