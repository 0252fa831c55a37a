"""Pictures of overlays agree with the metrics, show each part once, and draw trees planar."""

from __future__ import annotations

from itertools import combinations
from math import hypot
from pathlib import Path
from random import Random

import pytest
from lxml import etree

from pathcast.broker.broker import Settings
from pathcast.routing.advertisement import parse_advertisement
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.sim import Simulation, Topology
from pathcast.sim.drawing import draw, write_picture
from pathcast.sim.drawing.facts import format_bytes
from pathcast.sim.drawing.graphs import crossings, place_by_stress, push_apart, untwist
from pathcast.sim.drawing.labels import OccupiedArea
from pathcast.sim.drawing.layout import BOX, CIRCLE, DOT, lay_out
from pathcast.sim.drawing.trees import balanced_root, breadth_first_tree, place_on_rings
from pathcast.sim.metrics import RunSummary
from pathcast.sim.topology import Link, binary, cao_2, line, random_graph, star, topology

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = ("binary 3", "cao-1", "cao-2", "random 12 5", "binary 7", "transit-stub 4 3 8", "line 1")


def busy_overlay(overlay: Topology, faults: bool = True) -> Simulation:
    """Run an overlay with publishers, subscribers and documents; with faults, cut and crash it."""
    rng = Random(overlay.name)
    settings = Settings()
    run = Simulation(overlay, settings, MatcherBackend(settings.strategy), seed=1)
    brokers = overlay.brokers
    for publisher in "pq":
        run.announce(rng.choice(brokers), publisher, parse_advertisement("/a(/b)+/c"))
    run.run_until_idle()
    patterns = ("/a/b/c", "//b/b", "/a[b/c]", "//c[.='<&']", "/a/*/c")
    for number in range(2 * len(brokers)):
        run.subscribe(rng.choice(brokers), f"s{number}", rng.choice(patterns))
    run.run_until_idle()
    homes = {
        publisher: name for name, host in run.hosts.items() for publisher in host.clients.publishers
    }
    for number in range(6):
        publisher = rng.choice("pq")
        run.publish(homes[publisher], publisher, f"d{number}", b"<a><b><b><c/></b></b></a>")
    run.run_until_idle()
    if faults and overlay.links:
        cut = rng.choice(overlay.links)
        run.cut(cut.left, cut.right)
        run.crash(rng.choice(brokers))
    return run


def by_data(picture: etree._Element, key: str) -> dict[str, etree._Element]:
    groups: dict[str, etree._Element] = {}
    for group in picture.iter(f"{SVG}g"):
        if (name := group.get(key)) is not None:
            assert name not in groups, f"{name} is there twice"
            groups[name] = group
    return groups


def texts(group: etree._Element, css_class: str) -> list[str]:
    elements = group.iterfind(f"{SVG}text")
    return [text.text or "" for text in elements if css_class in (text.get("class") or "").split()]


@pytest.mark.parametrize("words", SHAPES)
def test_every_broker_and_link_is_drawn_once_with_its_numbers(words: str) -> None:
    run = busy_overlay(topology(words.split(), 3))
    summary = RunSummary.of(run)
    picture = etree.fromstring(draw(run).encode())
    brokers, links = by_data(picture, "data-broker"), by_data(picture, "data-link")
    assert set(brokers) == set(run.topology.brokers)
    assert set(links) == {str(link) for link in run.topology.links}
    style = lay_out(run.topology).style
    sized: list[list[str]] = []
    for name, group in brokers.items():
        host = run.hosts[name]
        up = host.broker is not None
        assert group.get("class") == ("broker" if up else "broker down")
        tooltip = group.findtext(f"{SVG}title") or ""
        counts = []
        for count, mark in (
            (len(host.clients.publishers), "polygon"),
            (len(host.clients.subscriptions), "circle[@class='subscriptions']"),
        ):
            assert (group.find(f"{SVG}{mark}") is not None) is (count > 0)
            counts += [f"{count:,}"] if count else []
        assert texts(group, "count") == counts
        assert texts(group, "name") == [name]
        if up:
            srt, prt = summary.advertisements[name], summary.entries[name]
            shown = f"SRT {srt:,} | PRT {prt:,}" if style is BOX else f"{srt}/{prt}"
            sized.append(texts(group, "sizes"))
            assert sized[-1] == [shown] or (not sized[-1] and style is not BOX)
            assert f"SRT: {srt:,} entr" in tooltip
            assert f"PRT: {prt:,} entr" in tooltip
        else:
            assert "is down" in tooltip
    assert sum(map(len, sized)) >= 0.8 * len(sized)
    labels = by_data(picture, "data-bytes")
    assert labels.keys() <= links.keys()
    carried = {
        str(link): run.wires[link.left, link.right].bytes + run.wires[link.right, link.left].bytes
        for link in run.topology.links
    }
    assert sum(carried.values()) == summary.bytes
    for name, group in labels.items():
        assert group.findtext(f"{SVG}text") == format_bytes(carried[name])
    widest = max(carried.values(), default=0)
    for name, group in links.items():
        left, right = name.split("-")
        assert ("cut" in str(group.get("class"))) is run.wires[left, right].cut
        drawn = group.find(f"{SVG}line")
        assert drawn is not None
        expected = max(style.max_link_width * carried[name] / widest, 1.0)
        assert float(drawn.get("stroke-width", "0")) == pytest.approx(expected, abs=0.51)
    if style is BOX:
        assert len(labels) >= 0.6 * len(links)
    heading = [text.text or "" for text in picture.iter(f"{SVG}text")][:3]
    assert str(run.settings.strategy) in heading[0]
    assert f"{sum(summary.received.values()):,} message" in heading[1]
    assert format_bytes(summary.bytes) in heading[1]
    assert f"{summary.deliveries:,} deliveries" in heading[2]


def test_the_same_run_gives_the_same_picture(tmp_path: Path) -> None:
    overlay = topology(["random", "20", "6"], 1)
    first, second = draw(busy_overlay(overlay)), draw(busy_overlay(overlay))
    assert first == second
    write_picture(busy_overlay(overlay), tmp_path / "out.svg")
    assert (tmp_path / "out.svg").read_text(encoding="utf-8") == first


def test_names_may_be_anything() -> None:
    odd = ('<&">', "b\n\x01", "'")
    overlay = Topology.of("<odd>&", [Link(odd[0], odd[1]), Link(odd[1], odd[2])])
    picture = etree.fromstring(draw(busy_overlay(overlay)).encode())
    assert len(by_data(picture, "data-broker")) == 3
    assert len(by_data(picture, "data-link")) == 2


def test_a_thousand_brokers() -> None:
    overlay = topology("transit-stub 10 4 25".split(), 1)
    settings = Settings(reliable=False)
    run = Simulation(overlay, settings, MatcherBackend(settings.strategy))
    drawn = draw(run)
    picture = etree.fromstring(drawn.encode())
    assert len(by_data(picture, "data-broker")) == len(overlay.brokers) == 1010
    assert len(by_data(picture, "data-link")) == len(overlay.links)
    assert len(drawn) < 2_000_000


# --- layout -----------------------------------------------------------------------------------


def pairs(overlay: Topology) -> list[tuple[str, str]]:
    return [(link.left, link.right) for link in overlay.links]


def bushy(seed: int) -> Topology:
    """Return a random tree with a few hubs and long branches."""
    rng = Random(seed)
    back = rng.choice((3, 8, 20))
    links = []
    for number in range(1, rng.randint(20, 120)):
        recent = max(0, number - rng.randint(1, back))
        parent = rng.choice((recent, rng.randrange(min(number, 6))))
        links.append(Link(f"b{parent}", f"b{number}"))
    return Topology.of(f"bushy {seed}", links)


def test_no_links_of_a_tree_cross(deep: bool) -> None:
    shapes = [binary(3), binary(7), cao_2(), line(30), star(30), star(100)]
    seeds = range(300 if deep else 60)
    shapes += [random_graph(Random(seed).randint(1, 120), 0, seed) for seed in seeds]
    shapes += map(bushy, seeds)
    for overlay in shapes:
        layout = lay_out(overlay)
        assert crossings(layout.positions, pairs(overlay)) == 0, overlay
        assert set(layout.positions) == set(overlay.brokers)
        assert all(
            0 < x < layout.width and 0 < y < layout.height for x, y in layout.positions.values()
        )


def test_no_link_dips_below_the_ring_that_it_starts_from() -> None:
    nearly_tangential = 0
    for seed in range(60):
        neighbours = bushy(seed).neighbours()
        tree = breadth_first_tree(neighbours, balanced_root(neighbours))
        positions = place_on_rings(tree, 1.0, 1.0)
        step = hypot(*positions[tree.children[tree.root][0]])
        for name in tree.order[1:]:
            x, y = positions[name]
            assert hypot(x, y) == pytest.approx(tree.level[name] * step)
            for child in tree.children[name]:
                along, up = positions[child][0] - x, positions[child][1] - y
                # The angle between the radius and the link is at most 90 degrees.
                assert along * x + up * y >= -1e-6
                nearly_tangential += along * x + up * y < 0.01 * step * step
    assert nearly_tangential  # some branches were compressed


@pytest.mark.parametrize("words", [*SHAPES, "star 30", "star 100", "random 100 0", "random 40 12"])
def test_no_broker_overlaps_another(words: str) -> None:
    layout = lay_out(topology(words.split(), 5))
    assert layout.style in (BOX, CIRCLE)
    for (x1, y1), (x2, y2) in combinations(layout.positions.values(), 2):
        assert (
            abs(x1 - x2) > 2 * layout.style.half_width
            or abs(y1 - y2) > 2 * layout.style.half_height
        )


def test_large_overlays_are_dots() -> None:
    assert lay_out(binary(8)).style is DOT


def test_a_ring_is_drawn_as_a_ring() -> None:
    names = [f"r{number}" for number in range(8)]
    ring = Topology.of("ring", [Link(name, names[index - 1]) for index, name in enumerate(names)])
    at = place_by_stress(ring.neighbours(), pairs(ring))
    assert crossings(at, pairs(ring)) == 0
    lengths = [hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]) for a, b in pairs(ring)]
    assert max(lengths) < 1.2 * min(lengths)


def test_untwisting_removes_crossings() -> None:
    fewer = 0
    for seed in range(10):
        overlay = random_graph(30, 6, seed)
        neighbours, links = overlay.neighbours(), pairs(overlay)
        untwisted = untwist(neighbours, links)
        plain = breadth_first_tree(neighbours, untwisted.root)
        before, after = (
            crossings(place_on_rings(tree, 0.4, 1.0), links) for tree in (plain, untwisted)
        )
        assert after <= before
        fewer += after < before
    assert fewer > 5


def test_crossings_are_counted() -> None:
    square = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (1.0, 1.0), "d": (0.0, 1.0)}
    assert crossings(square, [("a", "c"), ("b", "d")]) == 1
    assert crossings(square, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]) == 0
    assert crossings(square, [("a", "c"), ("b", "d"), ("a", "b")], [("a", "b")]) == 0


def test_pushing_apart() -> None:
    overlapping = {"a": (0.0, 0.0), "b": (0.0, 0.0), "c": (100.0, 0.0)}
    moved = push_apart(overlapping, [("a", "c")], (10.0, 10.0))
    assert hypot(moved["a"][0] - moved["b"][0], moved["a"][1] - moved["b"][1]) >= 9.9
    assert moved["c"] != moved["a"]
    on_a_link = {"a": (0.0, 0.0), "b": (50.0, 0.0), "c": (100.0, 0.0)}
    moved = push_apart(on_a_link, [("a", "c")], (10.0, 10.0))
    assert abs(moved["b"][1] - (moved["a"][1] + moved["c"][1]) / 2) > 5


def test_labels_do_not_overlap() -> None:
    area = OccupiedArea()
    assert area.try_occupy(100, 100, "12 kB", 10)
    assert not area.try_occupy(110, 104, "1 B", 10)
    assert area.try_occupy(100, 112, "12 kB", 10)
    area.occupy((-500, -500, 500, -400))
    assert not area.try_occupy(0, -450, "x", 10)
