"""Topologies: shapes, sizes and errors."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import RoutingError
from pathcast.sim.topology import (
    Link,
    Topology,
    binary,
    cao_1,
    cao_2,
    line,
    random_graph,
    star,
    topology,
    transit_stub,
)


def graph(overlay: Topology) -> nx.Graph[str]:
    result: nx.Graph[str] = nx.Graph()
    result.add_nodes_from(overlay.brokers)
    result.add_edges_from((link.left, link.right) for link in overlay.links)
    return result


def test_lines_stars_and_trees() -> None:
    assert [str(link) for link in line(3).links] == ["b1-b2", "b2-b3"]
    assert star(4).leaves() == ["b2", "b3", "b4"]
    assert (len(binary(3).brokers), len(binary(3).leaves())) == (7, 4)
    assert (len(binary(7).brokers), len(binary(7).leaves())) == (127, 64)
    assert line(1).brokers == ("b1",)


def test_trees_of_cao_2012() -> None:
    """Cao (2012), sections 5.4.2 and 5.4.3: consumers three and eleven hops away."""
    depths = nx.single_source_shortest_path_length(graph(cao_1()), "A")
    assert {depths[name] for name in "FGHI"} == {3}
    depths = nx.single_source_shortest_path_length(graph(cao_2()), "A")
    assert {depths[name] for name in "LMNO"} == {11}


@given(st.integers(1, 30), st.integers(0, 12), st.integers(0, 10**6))
def test_random_graphs(count: int, extra: int, seed: int) -> None:
    room = count * (count - 1) // 2 - (count - 1)
    if extra > room:
        with pytest.raises(RoutingError, match="room for"):
            random_graph(count, extra, seed)
        return
    overlay = random_graph(count, extra, seed)
    assert nx.is_connected(graph(overlay))
    assert graph(overlay).number_of_edges() == len(overlay.links) == count - 1 + extra
    assert overlay.acyclic == (extra == 0)
    assert overlay == random_graph(count, extra, seed)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 8), st.integers(0, 10**6))
def test_transit_stub(transits: int, stubs: int, size: int, seed: int) -> None:
    overlay = transit_stub(transits, stubs, size, seed)
    assert len(overlay.brokers) == transits * (1 + stubs * size)
    assert nx.is_connected(graph(overlay))
    assert graph(overlay).number_of_edges() == len(overlay.links)
    assert overlay == transit_stub(transits, stubs, size, seed)


def test_a_thousand_brokers() -> None:
    overlay = transit_stub(10, 9, 11, seed=1)
    assert len(overlay.brokers) == 1_000
    assert overlay != transit_stub(10, 9, 11, seed=2)


@pytest.mark.parametrize(
    "words",
    ["line 5", "star 5", "binary 4", "cao-1", "cao-2", "random 9 3", "transit-stub 4 2 3"],
)
def test_topologies_by_name(words: str) -> None:
    assert topology(words.split(), seed=3).name == words


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "there is no topology ''"),
        ("lines 3", "there is no topology 'lines 3'"),
        ("line", "there is no topology"),
        ("line three", "a number is expected"),
        ("line 0", "there cannot be 0 brokers"),
        ("binary 40", "1 to 12 levels"),
        ("binary 0", "1 to 12 levels"),
        ("star 10001", "at most 10,000 brokers"),
        ("transit-stub 100 100 100", "at most 10,000 brokers"),
        ("random 1000 200000", "at most 100,000 links"),
        ("random 3 5", "room for 1 more links"),
        ("transit-stub 0 1 1", "at least one of each"),
    ],
)
def test_unknown_topologies(words: str, complaint: str) -> None:
    with pytest.raises(RoutingError, match=complaint):
        topology(words.split(), seed=0)


@pytest.mark.parametrize(
    ("links", "complaint"),
    [
        ([], "needs brokers"),
        ([Link("a", "a")], "leads from a to itself"),
        ([Link("a", "b"), Link("b", "a")], "there twice"),
        ([Link("a", "b"), Link("c", "d")], "nothing leads from a to c"),
        ([Link("a", "b", -1.0)], "cannot take"),
        ([Link("a", "b", float("nan"))], "cannot take"),
    ],
)
def test_invalid_topologies(links: list[Link], complaint: str) -> None:
    with pytest.raises(RoutingError, match=complaint):
        Topology.of("x", links)
