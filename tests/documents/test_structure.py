"""Tag trees, label paths and regions, each against its definition."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import Document, label_paths, parse, regions, tag_tree
from tests.documents.writing import encoded_documents


def skeleton(body: bytes) -> str:
    """The document with nothing but its elements, the slow way."""

    def text(element: etree._Element) -> str:
        inner = "".join(text(child) for child in element.iterchildren("*"))
        return f"<{element.tag!s}>{inner}</>"

    return text(etree.fromstring(body))


def ancestors(document: Document, number: int) -> list[int]:
    found = []
    while (number := document.parent[number]) > 0:
        found.append(number)
    return found


@given(encoded_documents(), encoded_documents())
def test_summaries_are_equal_exactly_when_the_tag_trees_are(one: bytes, two: bytes) -> None:
    first, second = tag_tree(parse(one)), tag_tree(parse(two))
    same = skeleton(one) == skeleton(two)
    assert (first == second) == same
    assert (first.hash == second.hash) == same


@given(st.text("abc()<>/{}", min_size=1, max_size=12))
def test_trees_of_a_few_tags(moves: str) -> None:
    """Many small trees, so that equal ones come up: letters open, other characters close."""
    body, open_tags = "<r>", ["r"]
    for move in moves:
        if move in "abc":
            body += f"<{move}>"
            open_tags.append(move)
        elif len(open_tags) > 1:
            body += f"</{open_tags.pop()}>"
    body += "".join(f"</{tag}>" for tag in reversed(open_tags))
    found = tag_tree(parse(body.encode()))
    assert str(found) == re.sub(r"</\w>", ")", re.sub(r"<(\w)>", r"\1(", body)).replace("()", "")


def test_summaries_that_must_differ() -> None:
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
    found = [tag_tree(parse(body)) for body in bodies]
    assert len(set(found)) == len({one.hash for one in found}) == len(bodies)


def test_summaries_leave_text_out() -> None:
    one = parse(b"<r k='1'>hot<a/><!--c--><?p?></r>")
    two = parse(b"<!DOCTYPE r []><r><a>\n</a></r>")
    assert tag_tree(one) == tag_tree(two)
    assert tag_tree(one).hash == "782c2b99fc251e4174bf43c0ab241f59"


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
    """Miliaraki et al., section 5.2: tags counted up to the start tag and the end tag, and the depth."""
    document = parse(body)
    expected = []
    walk = etree.iterwalk(document.tree, events=("start", "end"))
    for tags, (event, element) in enumerate(walk, 1):
        if event == "start":
            expected.append([tags, 0, len(list(element.iterancestors())) + 1])
        else:
            inside = sum(1 for _ in element.iterdescendants("*"))
            opened = [one for one in expected if one[0] == tags - 2 * inside - 1]
            opened[0][1] = tags
    assert [list(region) for region in regions(document)] == expected


@given(encoded_documents())
def test_a_region_contains_another_exactly_when_the_element_does(body: bytes) -> None:
    document = parse(body)
    found = dict(zip(document.all_elements, regions(document), strict=True))
    for upper, around in found.items():
        for lower, inner in found.items():
            contains = around.left < inner.left and inner.right < around.right
            assert contains == (upper in ancestors(document, lower))
            child = contains and inner.level == around.level + 1
            assert child == (document.parent[lower] == upper)


def test_deep_and_wide_documents_are_no_trouble() -> None:
    deep = parse(b"<a>" * 256 + b"</a>" * 256)
    assert len(label_paths(deep)) == 256
    assert regions(deep)[-1] == (256, 257, 256)
    wide = parse(b"<r>" + b"<a/>" * 50_000 + b"</r>")
    assert len(label_paths(wide)) == 2
    assert regions(wide)[-1] == (100_000, 100_001, 2)
    assert len({tag_tree(deep).hash, tag_tree(wide).hash}) == 2
