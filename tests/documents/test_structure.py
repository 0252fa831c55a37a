"""Tag trees, label paths and regions, each against its definition."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import Document, label_paths, parse, regions, tag_tree
from tests.documents.writing import encoded_documents


def nesting(body: bytes) -> str:
    """Return the nesting of the elements, by recursion."""

    def text(element: etree._Element) -> str:
        inner = "".join(text(child) for child in element.iterchildren("*"))
        return f"<{element.tag!s}>{inner}</>"

    return text(etree.fromstring(body))


def ancestors(document: Document, number: int) -> list[int]:
    path = []
    while (number := document.parent[number]) > 0:
        path.append(number)
    return path


@given(encoded_documents(), encoded_documents())
def test_tag_trees_are_equal_exactly_when_the_nesting_is(body: bytes, other: bytes) -> None:
    first, second = tag_tree(parse(body)), tag_tree(parse(other))
    same = nesting(body) == nesting(other)
    assert (first == second) == same
    assert (first.hash == second.hash) == same


@given(st.text("abc()<>/{}", min_size=1, max_size=12))
def test_text_of_a_tag_tree(moves: str) -> None:
    """Letters open an element, other characters close one."""
    body, open_tags = "<r>", ["r"]
    for move in moves:
        if move in "abc":
            body += f"<{move}>"
            open_tags.append(move)
        elif len(open_tags) > 1:
            body += f"</{open_tags.pop()}>"
    body += "".join(f"</{tag}>" for tag in reversed(open_tags))
    tree = tag_tree(parse(body.encode()))
    assert str(tree) == re.sub(r"</\w>", ")", re.sub(r"<(\w)>", r"\1(", body)).replace("()", "")


def test_tag_trees_that_differ() -> None:
    bodies = [
        b"<r><a><b/></a><a><c/></a></r>",
        b"<r><a><b/><c/></a></r>",
        b"<r><a><c/><b/></a></r>",
        b"<r><a/><bc/></r>",
        b"<r><ab/><c/></r>",
        b"<r><a><bc/></a></r>",
        b"<r><ab><c/></ab></r>",
        b"<r><a/></r>",
        b"<r xmlns='urn:r'><a/></r>",
        b"<r xmlns='urn:ra'><a/></r>",
    ]
    trees = [tag_tree(parse(body)) for body in bodies]
    assert len(set(trees)) == len({tree.hash for tree in trees}) == len(bodies)


def test_tag_trees_ignore_text() -> None:
    first = parse(b"<r k='1'>hot<a/><!--c--><?p?></r>")
    second = parse(b"<!DOCTYPE r []><r><a>\n</a></r>")
    assert tag_tree(first) == tag_tree(second)
    assert tag_tree(first).hash == "782c2b99fc251e4174bf43c0ab241f59"


@given(encoded_documents())
def test_label_paths(body: bytes) -> None:
    document = parse(body)
    paths = [
        tuple(document.label[step] for step in [*reversed(ancestors(document, number)), number])
        for number in document.all_elements
    ]
    assert label_paths(document) == tuple(dict.fromkeys(paths))


@given(encoded_documents())
def test_regions_count_tags(body: bytes) -> None:
    """Miliaraki 2008, section 5.2: tags up to the start tag and the end tag, and the depth."""
    document = parse(body)
    expected = []
    walk = etree.iterwalk(document.tree, events=("start", "end"))
    for tags, (event, element) in enumerate(walk, 1):
        if event == "start":
            expected.append([tags, 0, len(list(element.iterancestors())) + 1])
        else:
            inside = sum(1 for _ in element.iterdescendants("*"))
            matching = [region for region in expected if region[0] == tags - 2 * inside - 1]
            matching[0][1] = tags
    assert [list(region) for region in regions(document)] == expected


@given(encoded_documents())
def test_regions_contain_each_other_exactly_when_the_elements_do(body: bytes) -> None:
    document = parse(body)
    region_of = dict(zip(document.all_elements, regions(document), strict=True))
    for upper, outer in region_of.items():
        for lower, inner in region_of.items():
            contains = outer.left < inner.left and inner.right < outer.right
            assert contains == (upper in ancestors(document, lower))
            child = contains and inner.level == outer.level + 1
            assert child == (document.parent[lower] == upper)


def test_deep_and_wide_documents() -> None:
    deep = parse(b"<a>" * 256 + b"</a>" * 256)
    assert len(label_paths(deep)) == 256
    assert regions(deep)[-1] == (256, 257, 256)
    wide = parse(b"<r>" + b"<a/>" * 50_000 + b"</r>")
    assert len(label_paths(wide)) == 2
    assert regions(wide)[-1] == (100_000, 100_001, 2)
    assert len({tag_tree(deep).hash, tag_tree(wide).hash}) == 2
