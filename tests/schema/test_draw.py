from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.schema import ContentKind, Occurs, Schema, cheapest_word, parse_dtd
from pathcast.schema.drawing.dot import dot, edges, escape_unprintable, undrawn_elements
from pathcast.schema.drawing.layers import (
    STEP,
    Layout,
    _order_columns,
    _separate,
    crossings,
    layout,
)
from pathcast.schema.drawing.svg import svg
from tests.dtds import random_dtd

SVG = "{http://www.w3.org/2000/svg}"


def random_schemas(deep: bool) -> Iterator[Schema]:
    rng = Random(11)
    for _ in range(600 if deep else 100):
        yield parse_dtd(random_dtd(rng).text, root="a")


def layout_of(schema: Schema) -> Layout:
    return layout(schema.graph.depth, schema.graph.children)


# --- edges ----------------------------------------------------------------------------------------


def test_occurrence_of_edges_against_the_words_of_the_model(deep: bool) -> None:
    """Oracle: is there a word without the child, and one with two?"""
    seen = set()
    for schema in [*random_schemas(deep), *map(bundled_schema, SCHEMA_NAMES)]:
        size = schema.graph.size
        pairs = []
        for edge in edges(schema):
            pairs.append((edge.parent, edge.child))
            element = schema.elements[edge.parent]
            occurs = Occurs.ANY
            if element.kind is ContentKind.CHILDREN:
                costs = {name: cost for name, cost in size.items() if name != edge.child}
                without = cheapest_word(element.content, {}, costs.get) is not None
                twice = cheapest_word(element.content, {edge.child: 2}, size.get) is not None
                occurs = {
                    (True, True): Occurs.ANY,
                    (True, False): Occurs.OPTIONAL,
                    (False, True): Occurs.SOME,
                    (False, False): Occurs.ONCE,
                }[without, twice]
            assert edge.occurs is occurs
            seen.add(edge.occurs)
        graph = schema.graph
        below = [(name, child) for name in schema.elements for child in graph.children[name]]
        assert pairs == [(name, child) for name, child in below if name in graph.depth]
    assert seen == set(Occurs)


def test_cyclic_edges_lie_inside_one_component() -> None:
    text = (
        "<!ELEMENT a (b, c)><!ELEMENT b (c?, b?)><!ELEMENT c (d?)>"
        "<!ELEMENT d (c?, e)><!ELEMENT e EMPTY>"
    )
    is_cyclic = {(edge.parent, edge.child): edge.cyclic for edge in edges(parse_dtd(text))}
    cyclic = {("b", "b"), ("c", "d"), ("d", "c")}
    assert {pair for pair, inside in is_cyclic.items() if inside} == cyclic
    assert len(is_cyclic) == 7


# --- DOT ------------------------------------------------------------------------------------------


def test_dot() -> None:
    text = "<!ELEMENT a (b+, c?)><!ELEMENT b (c)><!ELEMENT c (#PCDATA | c)*><!ELEMENT z (z)>"
    drawn = dot(parse_dtd(text, name='x"\\\n.dtd', root="a"))
    lines = [line.strip() for line in drawn.splitlines()]
    assert lines[0] == r'digraph "x\"\\\\n.dtd" {'
    assert '"a" [peripheries=2];' in lines
    assert '{ rank=same; "b"; "c"; }' in lines
    assert '"a" -> "b" [arrowhead=crow];' in lines
    assert '"a" -> "c" [style=dashed];' in lines
    assert '"b" -> "c";' in lines
    assert '"c" -> "c" [color="#c62828", style=dashed, arrowhead=crow];' in lines
    assert "// in no valid document: z" in lines
    assert lines[-1] == "}"


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_dot_has_every_element_and_every_edge(name: str) -> None:
    schema = bundled_schema(name)
    drawn = dot(schema)
    nodes = re.findall(r'^  "([^"]+)"(?: \[peripheries=2\])?;$', drawn, re.MULTILINE)
    arrows = re.findall(r'^  "([^"]+)" -> "([^"]+)"', drawn, re.MULTILINE)
    assert set(nodes) == set(schema.elements)
    assert len(nodes) == len(schema.elements)
    assert arrows == [(edge.parent, edge.child) for edge in edges(schema)]
    assert drawn.count("{") == drawn.count("}")


# --- layout ---------------------------------------------------------------------------------------


def check_layout(schema: Schema) -> None:
    drawing = layout_of(schema)
    assert set(drawing.boxes) == set(schema.graph.depth)
    for box, other in itertools.combinations(drawing.boxes.values(), 2):
        apart = box.x >= other.right + 40 or other.x >= box.right + 40
        assert apart or abs(box.y - other.y) >= STEP > box.height
    for name, box in drawing.boxes.items():
        assert box.x > 0
        assert box.y > 0
        assert box.right < drawing.width
        assert box.y + box.height < drawing.height
        assert box.width >= 7.3 * len(name) + 12  # the name fits
    lefts = sorted({box.x for box in drawing.boxes.values()})
    assert {
        name: lefts.index(box.x) + 1 for name, box in drawing.boxes.items()
    } == schema.graph.depth


def test_boxes_do_not_overlap(deep: bool) -> None:
    for schema in [*random_schemas(deep), *map(bundled_schema, SCHEMA_NAMES)]:
        check_layout(schema)


def test_the_news_schema_fits_a_scrollable_page() -> None:
    drawing = layout_of(bundled_schema("news"))
    assert drawing.width < 3000
    assert drawing.height < 3000


def brute_crossings(columns: list[list[str]], down: dict[str, list[str]]) -> int:
    place = {name: index for column in columns for index, name in enumerate(column)}
    total = 0
    for column in columns:
        lines = [(place[name], place[child]) for name in column for child in down[name]]
        pairs = itertools.combinations(lines, 2)
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)
    return total


def random_columns(rng: Random) -> tuple[list[list[str]], dict[str, list[str]]]:
    columns = [[f"{level}-{i}" for i in range(rng.randint(1, 9))] for level in range(4)]
    down: dict[str, list[str]] = {name: [] for column in columns for name in column}
    for left, right in itertools.pairwise(columns):
        for name in left:
            down[name] = rng.sample(right, rng.randint(0, min(3, len(right))))
    return columns, down


def test_crossings_against_all_pairs_of_edges() -> None:
    rng = Random(3)
    for _ in range(50):
        columns, down = random_columns(rng)
        assert crossings(columns, down) == brute_crossings(columns, down)


def test_sweeps_reduce_crossings_and_keep_all_boxes() -> None:
    rng = Random(5)
    before = after = 0
    for _ in range(50):
        columns, down = random_columns(rng)
        up: dict[str, list[str]] = {name: [] for name in down}
        for name, children in down.items():
            for child in children:
                up[child].append(name)
        ordered = _order_columns(columns, down, up)
        assert [sorted(column) for column in ordered] == [sorted(column) for column in columns]
        assert crossings(ordered, down) <= crossings(columns, down)
        before += crossings(columns, down)
        after += crossings(ordered, down)
    assert after < before / 2


@given(st.lists(st.integers(-1000, 1000), max_size=8))
def test_separation_keeps_order_and_distance_and_is_optimal(desired: list[int]) -> None:
    positions = _separate([float(y) for y in desired])
    assert len(positions) == len(desired)
    assert all(below - above >= STEP for above, below in itertools.pairwise(positions))

    def far(heights: list[int]) -> int:
        return sum((y - two) ** 2 for y, two in zip(heights, desired, strict=True))

    # Moving any run of boxes violates the distance or is no nearer (up to rounding).
    for start, end in itertools.combinations(range(len(positions) + 1), 2):
        for by in (-20, 20):
            moved = [y + by * (start <= index < end) for index, y in enumerate(positions)]
            if all(below - above >= STEP for above, below in itertools.pairwise(moved)):
                assert far(moved) >= far(positions)


# --- SVG ------------------------------------------------------------------------------------------


def check_svg(schema: Schema) -> None:
    """Check well-formedness, and the presence and position of every name and edge."""
    root = etree.fromstring(svg(schema).encode())
    assert root.tag == f"{SVG}svg"
    width, height = int(root.get("width", "")), int(root.get("height", ""))
    groups = root.findall(f"{SVG}g")
    names = [group.findtext(f"{SVG}text") for group in groups]
    assert sorted(filter(None, names)) == sorted(schema.graph.depth)
    by_number = {group.get("id", "")[1:]: name for group, name in zip(groups, names, strict=True)}
    boxes = {}
    for group, name in zip(groups, names, strict=True):
        rectangles = group.findall(f"{SVG}rect")
        assert len(rectangles) == (2 if name in schema.roots else 1)
        x, y, w, h = (int(rectangles[0].get(key, "")) for key in ("x", "y", "width", "height"))
        boxes[name] = (x, y, x + w, y + h)
        assert 0 < x < x + w < width
        assert 0 < y < y + h < height
        assert ("cyclic" in rectangles[0].get("class", "")) == (name in schema.graph.cyclic)
    drawn_edges = []
    for path in root.findall(f"{SVG}path"):
        look, leaves, enters = re.fullmatch(
            r"edge(.*) f(\d+) t(\d+)", path.get("class", "")
        ).groups()  # type: ignore[union-attr]
        numbers = [int(number) for number in re.findall(r"-?\d+", path.get("d", ""))]
        parent, child = by_number[leaves], by_number[enters]
        for end, (x, y) in ((parent, numbers[:2]), (child, numbers[-2:])):
            left, top, right, bottom = boxes[end]
            assert x in (left, right)
            assert top < y < bottom
        # A curve lies in the hull of its control points: if these are inside, nothing is clipped.
        assert all(0 < x < width for x in numbers[::2])
        assert all(0 < y < height for y in numbers[1::2])
        repeats = "-many" in path.get("marker-end", "")
        drawn_edges.append((parent, child, "cycle" in look, "optional" in look, repeats))
    assert drawn_edges == [
        (
            number.parent,
            number.child,
            number.cyclic,
            number.occurs.may_be_absent,
            number.occurs.may_repeat,
        )
        for number in edges(schema)
    ]


def test_svg_of_random_schemas(deep: bool) -> None:
    for schema in random_schemas(deep):
        check_svg(schema)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_svg_of_bundled_schemas(name: str) -> None:
    check_svg(bundled_schema(name))
    assert svg(bundled_schema(name)) == svg(bundled_schema(name))


def test_svg_escapes_names() -> None:
    schema = parse_dtd(
        "<!ELEMENT \u00e9t\u00e9 (\u5e74*)><!ELEMENT \u5e74 EMPTY>", name="<&\x1b]]>\udcff.dtd"
    )
    check_svg(schema)
    drawn = svg(schema)
    assert "&lt;&amp;\\x1b]]&gt;\\udcff.dtd" in drawn
    assert "\u5e74" in drawn


def test_undrawn_elements_are_reported() -> None:
    schema = parse_dtd("<!ELEMENT a (b?)><!ELEMENT b (b)><!ELEMENT c EMPTY>", root="a")
    assert undrawn_elements(schema) == ("b", "c")
    check_svg(schema)
    assert "1 element, 0 edges; 2 more in no valid document" in svg(schema)


def test_an_empty_drawing() -> None:
    schema = parse_dtd("<!ELEMENT a (a)>")
    check_svg(schema)
    assert dot(schema).endswith("}\n")


def test_escape_unprintable() -> None:
    assert escape_unprintable("a\x1b[2J\u0085\u00e9") == "a\\x1b[2J\\x85\u00e9"
