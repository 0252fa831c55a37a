"""The picture of an overlay says what the metrics say, has everything once, and no crossings where there need be none."""

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
from pathcast.sim.drawing.facts import amount
from pathcast.sim.drawing.graphs import by_stress, crossings, pushed, untwisted
from pathcast.sim.drawing.labels import Room
from pathcast.sim.drawing.places import BOX, CIRCLE, DOT, places
from pathcast.sim.drawing.trees import middle, on_rings, spanning
from pathcast.sim.metrics import RunSummary
from pathcast.sim.topology import Link, binary, cao_2, line, random_graph, star, topology

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = ("binary 3", "cao-1", "cao-2", "random 12 5", "binary 7", "transit-stub 4 3 8", "line 1")


def used(overlay: Topology, faults: bool = True) -> Simulation:
    """A run with publishers, subscribers and documents, at the end a cut and a crash."""
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
    homes = {name: one for one, host in run.hosts.items() for name in host.clients.publishers}
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
    found: dict[str, etree._Element] = {}
    for one in picture.iter(f"{SVG}g"):
        if (name := one.get(key)) is not None:
            assert name not in found, f"{name} is there twice"
            found[name] = one
    return found


def texts(group: etree._Element, sort: str) -> list[str]:
    found = group.iterfind(f"{SVG}text")
    return [one.text or "" for one in found if sort in (one.get("class") or "").split()]


@pytest.mark.parametrize("words", SHAPES)
def test_everything_is_there_once_with_its_numbers(words: str) -> None:
    run = used(topology(words.split(), 3))
    summary = RunSummary.of(run)
    picture = etree.fromstring(draw(run).encode())
    brokers, links = by_data(picture, "data-broker"), by_data(picture, "data-link")
    assert set(brokers) == set(run.topology.brokers)
    assert set(links) == {str(link) for link in run.topology.links}
    look = places(run.topology).look
    sized: list[list[str]] = []
    for name, group in brokers.items():
        host = run.hosts[name]
        up = host.broker is not None
        assert group.get("class") == ("broker" if up else "broker down")
        told = group.findtext(f"{SVG}title") or ""
        counts = []
        for many, mark in (
            (len(host.clients.publishers), "polygon"),
            (len(host.clients.subscriptions), "circle[@class='subscriptions']"),
        ):
            assert (group.find(f"{SVG}{mark}") is not None) is (many > 0)
            counts += [f"{many:,}"] if many else []
        assert texts(group, "count") == counts
        assert texts(group, "name") == [name]
        if up:
            srt, prt = summary.advertisements[name], summary.entries[name]
            shown = f"SRT {srt:,} | PRT {prt:,}" if look is BOX else f"{srt}/{prt}"
            sized.append(texts(group, "sizes"))
            assert sized[-1] == [shown] or (not sized[-1] and look is not BOX)
            assert f"SRT: {srt:,} entr" in told
            assert f"PRT: {prt:,} entr" in told
        else:
            assert "is down" in told
    assert sum(map(len, sized)) >= 0.8 * len(sized)
    labels = by_data(picture, "data-bytes")
    assert labels.keys() <= links.keys()
    carried = {
        str(link): run.wires[link.left, link.right].bytes + run.wires[link.right, link.left].bytes
        for link in run.topology.links
    }
    assert sum(carried.values()) == summary.bytes
    for name, group in labels.items():
        assert group.findtext(f"{SVG}text") == amount(carried[name])
    widest = max(carried.values(), default=0)
    for name, group in links.items():
        one, other = name.split("-")
        assert ("cut" in str(group.get("class"))) is run.wires[one, other].cut
        drawn = group.find(f"{SVG}line")
        assert drawn is not None
        expected = max(look.widest * carried[name] / widest, 1.0)
        assert float(drawn.get("stroke-width", "0")) == pytest.approx(expected, abs=0.51)
    if look is BOX:
        assert len(labels) >= 0.6 * len(links)
    heading = [one.text or "" for one in picture.iter(f"{SVG}text")][:3]
    assert str(run.settings.strategy) in heading[0]
    assert f"{sum(summary.received.values()):,} message" in heading[1]
    assert amount(summary.bytes) in heading[1]
    assert f"{summary.deliveries:,} deliveries" in heading[2]


def test_the_same_run_gives_the_same_picture(tmp_path: Path) -> None:
    overlay = topology(["random", "20", "6"], 1)
    one, other = draw(used(overlay)), draw(used(overlay))
    assert one == other
    write_picture(used(overlay), tmp_path / "out.svg")
    assert (tmp_path / "out.svg").read_text(encoding="utf-8") == one


def test_names_may_be_anything() -> None:
    odd = ('<&">', "b\n\x01", "'")
    overlay = Topology.of("<odd>&", [Link(odd[0], odd[1]), Link(odd[1], odd[2])])
    picture = etree.fromstring(draw(used(overlay)).encode())
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


# --- places ---------------------------------------------------------------------------------------


def pairs(overlay: Topology) -> list[tuple[str, str]]:
    return [(link.left, link.right) for link in overlay.links]


def bushy(seed: int) -> Topology:
    """A random tree with a few hubs and long branches."""
    rng = Random(seed)
    back = rng.choice((3, 8, 20))
    links = []
    for number in range(1, rng.randint(20, 120)):
        near = max(0, number - rng.randint(1, back))
        links.append(Link(f"b{rng.choice((near, rng.randrange(min(number, 6))))}", f"b{number}"))
    return Topology.of(f"bushy {seed}", links)


def test_no_links_of_a_tree_cross(deep: bool) -> None:
    shapes = [binary(3), binary(7), cao_2(), line(30), star(30), star(100)]
    seeds = range(300 if deep else 60)
    shapes += [random_graph(Random(seed).randint(1, 120), 0, seed) for seed in seeds]
    shapes += map(bushy, seeds)
    for overlay in shapes:
        placed = places(overlay)
        assert crossings(placed.at, pairs(overlay)) == 0, overlay
        assert set(placed.at) == set(overlay.brokers)
        assert all(0 < x < placed.width and 0 < y < placed.height for x, y in placed.at.values())


def test_no_link_dips_below_the_ring_that_it_starts_from() -> None:
    wide = 0
    for seed in range(60):
        near = bushy(seed).neighbours()
        tree = spanning(near, middle(near))
        at = on_rings(tree, 1.0, 1.0)
        step = hypot(*at[tree.children[tree.root][0]])
        for one in tree.order[1:]:
            x, y = at[one]
            assert hypot(x, y) == pytest.approx(tree.level[one] * step)
            for child in tree.children[one]:
                along, up = at[child][0] - x, at[child][1] - y
                # Outwards from the start: the angle between the way to it and the link is not over 90 degrees.
                assert along * x + up * y >= -1e-6
                wide += along * x + up * y < 0.01 * step * step
    assert wide  # some branches have been pressed together


@pytest.mark.parametrize("words", [*SHAPES, "star 30", "star 100", "random 100 0", "random 40 12"])
def test_no_broker_stands_on_another(words: str) -> None:
    placed = places(topology(words.split(), 5))
    assert placed.look in (BOX, CIRCLE)
    for (x1, y1), (x2, y2) in combinations(placed.at.values(), 2):
        assert abs(x1 - x2) > 2 * placed.look.across or abs(y1 - y2) > 2 * placed.look.down


def test_large_overlays_are_dots() -> None:
    assert places(binary(8)).look is DOT


def test_a_ring_is_drawn_as_a_ring() -> None:
    names = [f"r{number}" for number in range(8)]
    ring = Topology.of("ring", [Link(one, names[at - 1]) for at, one in enumerate(names)])
    found = by_stress(ring.neighbours(), pairs(ring))
    assert crossings(found, pairs(ring)) == 0
    lengths = [hypot(found[a][0] - found[b][0], found[a][1] - found[b][1]) for a, b in pairs(ring)]
    assert max(lengths) < 1.2 * min(lengths)


def test_turning_branches_takes_crossings_away() -> None:
    fewer = 0
    for seed in range(10):
        overlay = random_graph(30, 6, seed)
        near, links = overlay.neighbours(), pairs(overlay)
        tree = untwisted(near, links)
        plain = spanning(near, tree.root)
        before, after = (crossings(on_rings(one, 0.4, 1.0), links) for one in (plain, tree))
        assert after <= before
        fewer += after < before
    assert fewer > 5


def test_crossings_are_counted() -> None:
    square = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (1.0, 1.0), "d": (0.0, 1.0)}
    assert crossings(square, [("a", "c"), ("b", "d")]) == 1
    assert crossings(square, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]) == 0
    assert crossings(square, [("a", "c"), ("b", "d"), ("a", "b")], [("a", "b")]) == 0


def test_pushing_apart() -> None:
    together = {"a": (0.0, 0.0), "b": (0.0, 0.0), "c": (100.0, 0.0)}
    found = pushed(together, [("a", "c")], (10.0, 10.0))
    assert hypot(found["a"][0] - found["b"][0], found["a"][1] - found["b"][1]) >= 9.9
    assert found["c"] != found["a"]
    on_a_link = {"a": (0.0, 0.0), "b": (50.0, 0.0), "c": (100.0, 0.0)}
    found = pushed(on_a_link, [("a", "c")], (10.0, 10.0))
    assert abs(found["b"][1] - (found["a"][1] + found["c"][1]) / 2) > 5


def test_room_is_given_once() -> None:
    room = Room()
    assert room.ask(100, 100, "12 kB", 10)
    assert not room.ask(110, 104, "1 B", 10)
    assert room.ask(100, 112, "12 kB", 10)
    room.take((-500, -500, 500, -400))
    assert not room.ask(0, -450, "x", 10)
