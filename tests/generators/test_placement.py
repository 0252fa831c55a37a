from __future__ import annotations

from collections import Counter

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import WorkloadError
from pathcast.generators.placement import ClientPlacement, PlacementPolicy, leaves, place_clients

NODES = st.lists(st.integers(), min_size=1, max_size=20, unique=True)


@given(
    st.integers(0, 200),
    NODES,
    st.integers(0, 1000),
    st.floats(0, 3),
    st.sampled_from(PlacementPolicy),
)
def test_placement_is_stable_under_more_clients(
    count: int, nodes: list[int], seed: int, theta: float, policy: PlacementPolicy
) -> None:
    skew = theta if policy is PlacementPolicy.RANDOM else 0.0
    placed = place_clients(count, nodes, seed, theta=skew, policy=policy)
    assert len(placed) == count
    assert set(placed) <= set(nodes)
    assert place_clients(count + 7, nodes, seed, theta=skew, policy=policy)[:count] == placed


def test_placement_without_skew_is_uniform() -> None:
    counts = Counter(place_clients(20_000, range(20), 1))
    assert len(counts) == 20
    assert all(800 < count < 1200 for count in counts.values())


def test_skewed_placement_is_zipf_with_seeded_ranks() -> None:
    favourites = set()
    for seed in range(10):
        counts = Counter(place_clients(10_000, range(20), seed, theta=1.0)).most_common()
        # The sum of 1/1 to 1/20 is 3.6: the first node has 28%, the second 14%.
        assert 2500 < counts[0][1] < 3100
        assert 1200 < counts[1][1] < 1600
        favourites.add(counts[0][0])
    assert len(favourites) > 3


def test_round_robin_is_even() -> None:
    placed = place_clients(11, (5, 3, 8), 1, policy=PlacementPolicy.ROUND_ROBIN)
    assert placed == (5, 3, 8) * 3 + (5, 3)


def test_publishers_and_subscribers_are_placed_independently() -> None:
    both = ClientPlacement.of(300, 400, range(10), seed=1)
    assert (len(both.publishers), len(both.subscribers)) == (300, 400)
    assert both.publishers != both.subscribers[:300]
    assert ClientPlacement.of(1, 400, range(10), seed=1).subscribers == both.subscribers
    skewed = ClientPlacement.of(3000, 3000, range(10), seed=1, theta=2.0)
    assert max(Counter(skewed.publishers).values()) < 400
    assert max(Counter(skewed.subscribers).values()) > 1500


def test_clients_at_the_edge_only() -> None:
    edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]
    assert leaves(edges) == (3, 4, 5)
    assert set(ClientPlacement.of(50, 50, leaves(edges), seed=1).subscribers) == {3, 4, 5}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_leaves_are_the_nodes_of_degree_one(edges: list[tuple[int, int]]) -> None:
    graph: networkx.Graph[int] = networkx.Graph(edge for edge in edges if edge[0] != edge[1])
    assert leaves(edges) == tuple(sorted(node for node, degree in graph.degree if degree == 1))


@pytest.mark.parametrize(
    ("count", "nodes", "theta", "policy"),
    [
        (-1, (1,), 0.0, PlacementPolicy.RANDOM),
        (1, (), 0.0, PlacementPolicy.RANDOM),
        (1, (1, 1), 0.0, PlacementPolicy.RANDOM),
        (1, (1,), -0.1, PlacementPolicy.RANDOM),
        (1, (1,), float("nan"), PlacementPolicy.RANDOM),
        (1, (1,), 0.5, PlacementPolicy.ROUND_ROBIN),
    ],
)
def test_impossible_placements(
    count: int, nodes: tuple[int, ...], theta: float, policy: PlacementPolicy
) -> None:
    with pytest.raises(WorkloadError) as caught:
        place_clients(count, nodes, 1, theta=theta, policy=policy)
    assert caught.value.kind == "placement"
