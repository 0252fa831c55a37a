"""Trees of one broker: the choice of parents, and the offers to neighbours."""

from __future__ import annotations

from pathcast.routing.advertisement import Advertisement, parse_advertisement
from pathcast.routing.messages import Advertise, Unadvertise
from pathcast.routing.trees import Trees

WIDE = parse_advertisement("/a/*")
NARROW = parse_advertisement("/a/b")


def receive_offer(trees: Trees, neighbour: str, *path: str, publisher: str = "P") -> None:
    trees.choose_parent(trees.on_advertise(neighbour, Advertise(path[-1], publisher, path, WIDE)))


def advertised_publishers(trees: Trees, **local: Advertisement) -> list[str]:
    """Announce local publishers; return those that a neighbour receives advertisements of."""
    for publisher, advertisement in local.items():
        trees.choose_parent(trees.announce(publisher, advertisement))
    return sorted(
        update.publisher
        for update in trees.updates_for("x", trees.name)
        if isinstance(update, Advertise)
    )


def test_the_first_offer_is_taken_and_kept() -> None:
    trees = Trees("b", ["x", "y"])
    receive_offer(trees, "x", "x", "m", "o")
    assert trees.parent == {"o": "x"}
    receive_offer(trees, "y", "y", "o")
    assert trees.parent == {"o": "x"}, "a shorter path is no reason to move"
    trees.choose_parent(trees.on_unadvertise("x", Unadvertise("o", "P")))
    assert trees.parent == {"o": "y"}


def test_a_path_through_the_broker_itself_is_ignored() -> None:
    trees = Trees("b", ["x", "y"])
    receive_offer(trees, "x", "x", "b", "o")
    assert trees.parent == {}
    assert trees.updates_for("y", "o") == []
    receive_offer(trees, "y", "y", "m", "o")
    assert trees.parent == {"o": "y"}
    trees.choose_parent(trees.on_unadvertise("y", Unadvertise("o", "P")))
    assert trees.parent == {}, "no parent rather than a loop"


def test_a_parent_whose_path_becomes_a_loop_is_replaced() -> None:
    trees = Trees("b", ["x", "y"])
    receive_offer(trees, "x", "x", "o")
    receive_offer(trees, "y", "y", "m", "o")
    receive_offer(trees, "x", "x", "b", "o")
    assert trees.parent == {"o": "y"}


def test_children_are_neighbours_without_another_path() -> None:
    trees = Trees("b", ["x", "y", "z"])
    receive_offer(trees, "x", "x", "o")
    receive_offer(trees, "y", "y", "b", "x", "o")
    receive_offer(trees, "z", "z", "x", "o")
    assert [name for name in "xyz" if trees.is_child(name, "o")] == ["y"]


def test_covered_advertisements_of_one_origin_are_not_sent() -> None:
    assert advertised_publishers(Trees("b", ["x"]), wide=WIDE, narrow=NARROW) == ["wide"]
    assert advertised_publishers(Trees("b", ["x"]), narrow=NARROW, other=NARROW) == ["narrow"]
    trees = Trees("b", ["x"])
    assert advertised_publishers(trees, wide=WIDE, narrow=NARROW) == ["wide"]
    trees.choose_parent(trees.retract("wide"))
    assert trees.updates_for("x", "b") == [
        Advertise("b", "narrow", ("b",), NARROW),
        Unadvertise("b", "wide"),
    ]
