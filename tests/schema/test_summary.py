from __future__ import annotations

import itertools
import json
from random import Random

import pytest

from pathcast.errors import SchemaError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.schema import Default, Schema, count_paths, parse_dtd, root_paths
from pathcast.schema.summary import attribute_text, describe_element, summarize
from tests.dtds import random_dtd

BOOK = """
<!ELEMENT book (title, author+, section+)>
<!ELEMENT title (#PCDATA)>
<!ELEMENT author (#PCDATA)>
<!ELEMENT section (title, (p | section)*)>
<!ATTLIST section id ID #IMPLIED level (easy | hard) 'easy' version CDATA #FIXED '1' n NMTOKEN #REQUIRED>
<!ELEMENT p (#PCDATA)>
"""


def test_the_figures_of_a_recursive_schema() -> None:
    found = summarize(parse_dtd(BOOK, name="book.dtd"), levels=5)
    assert (found.name, found.elements, found.attributes, found.roots) == (
        "book.dtd",
        5,
        4,
        ("book",),
    )
    assert (found.components, found.cyclic, found.self_recursive) == (
        (("section",),),
        1,
        ("section",),
    )
    assert (found.by_depth, found.longest, found.paths) == ((1, 3, 1), None, (1, 3, 3, 3, 3))
    assert (found.unproductive, found.unreachable, found.undeclared, found.missing) == (
        (),
        (),
        (),
        (),
    )


def test_what_no_document_has_is_told_by_reason() -> None:
    text = """<!ELEMENT a (b?, c?, e?)><!ELEMENT b (b)><!ELEMENT c (x)><!ELEMENT d (f)>
              <!ELEMENT e EMPTY><!ELEMENT f EMPTY>"""
    found = summarize(parse_dtd(text, root="a"))
    assert found.unproductive == ("b", "c")
    assert found.unreachable == ("d", "f")
    assert found.undeclared == ("x",)
    assert found.components == (("b",),)  # the DTD is recursive
    assert (found.longest, found.by_depth, found.paths) == (2, (1, 1), (1, 1))  # no document is


def test_a_schema_without_any_valid_document() -> None:
    found = summarize(parse_dtd("<!ELEMENT a (a)>"))
    assert (found.longest, found.by_depth, found.paths) == (0, (), ())
    assert found.unproductive == ("a",)


def brute_longest(schema: Schema) -> int | None:
    """Root paths without recursion are no longer than there are elements: one longer means a cycle."""
    most = len(schema.elements) + 1
    longest = max(map(len, root_paths(schema, most)), default=0)
    return None if longest == most else longest


def test_longest_path_and_counts_against_all_paths(deep: bool) -> None:
    rng = Random(7)
    seen = set()
    for _ in range(600 if deep else 100):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        found = summarize(schema, levels=4)
        assert found.longest == brute_longest(schema)
        by_length = [0, 0, 0, 0]
        for path in root_paths(schema, 4):
            by_length[len(path) - 1] += 1
        assert list(itertools.takewhile(bool, by_length)) == list(found.paths)
        assert sum(found.by_depth) == len(schema.graph.depth)
        left = len(found.unproductive) + len(found.unreachable)
        assert sum(found.by_depth) + left == found.elements
        seen.add(found.longest)
    assert {None, 1, 2, 3} <= seen


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_bundled_schemas(name: str) -> None:
    found = summarize(bundled_schema(name), levels=3)
    assert found.paths == tuple(count_paths(bundled_schema(name), 3))
    assert (found.longest is None) == bool(bundled_schema(name).graph.cyclic)
    assert sum(found.by_depth) == found.elements
    assert json.loads(json.dumps(found.as_dict()))["roots"] == list(bundled_schema(name).roots)


def test_details_of_an_element() -> None:
    book = parse_dtd(BOOK)
    found = describe_element(book, "section")
    assert (found.model, found.kind) == ("(title, (p | section)*)", "children")
    assert (found.parents, found.children) == (("book", "section"), ("title", "p", "section"))
    assert (found.depth, found.smallest) == (2, 2)
    assert (found.component, found.self_recursive) == (("section",), True)
    assert [attribute_text(one) for one in found.attributes] == [
        ("ID", "#IMPLIED"),
        ("(easy | hard)", '"easy"'),
        ("CDATA", '#FIXED "1"'),
        ("NMTOKEN", "#REQUIRED"),
    ]
    plain = describe_element(book, "p")
    assert (plain.component, plain.self_recursive, plain.children) == ((), False, ())
    row = json.loads(json.dumps(found.as_dict()))
    assert row["attributes"][1] == {
        "name": "level",
        "type": "enumeration",
        "default": "value",
        "value": "easy",
        "values": ["easy", "hard"],
    }
    assert row["attributes"][3] == {"name": "n", "type": "nmtoken", "default": "required"}


def test_details_say_the_same_as_a_dtd_would() -> None:
    """Every attribute of the bundled schemas, written with `attribute_text`, reads back as it was."""
    for name in SCHEMA_NAMES:
        for element in bundled_schema(name).elements.values():
            lines = [f"<!ELEMENT {element.name} EMPTY>"]
            lines += [
                f"<!ATTLIST {element.name} {one.name} {' '.join(attribute_text(one))}>"
                for one in element.attributes
            ]
            again = parse_dtd("\n".join(lines)).elements[element.name]
            assert again.attributes == element.attributes
    defaults = {
        one.default
        for name in SCHEMA_NAMES
        for element in bundled_schema(name).elements.values()
        for one in element.attributes
    }
    assert defaults == set(Default)  # so nothing was left untried


def test_details_of_what_has_no_tree() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (b?)><!ELEMENT b (b)><!NOTATION n SYSTEM ''><!ATTLIST b t NOTATION (n) 'n'>"
    )
    found = describe_element(schema, "b")
    assert (found.depth, found.smallest, found.children, found.parents) == (None, None, (), ())
    assert attribute_text(found.attributes[0]) == ("NOTATION (n)", '"n"')


def test_an_element_that_is_not_declared() -> None:
    with pytest.raises(SchemaError, match="no element autor") as caught:
        describe_element(parse_dtd(BOOK, name="book.dtd"), "autor")
    assert (caught.value.kind, caught.value.hint) == ("element", "near names: author")
    with pytest.raises(SchemaError) as caught:
        describe_element(parse_dtd(BOOK), "zzz")
    assert caught.value.hint is None
