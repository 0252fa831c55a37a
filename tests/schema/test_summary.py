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
<!ATTLIST section id ID #IMPLIED level (easy | hard) 'easy'
                  version CDATA #FIXED '1' n NMTOKEN #REQUIRED>
<!ELEMENT p (#PCDATA)>
"""


def test_the_figures_of_a_recursive_schema() -> None:
    summary = summarize(parse_dtd(BOOK, name="book.dtd"), levels=5)
    assert (summary.name, summary.elements, summary.attributes, summary.roots) == (
        "book.dtd",
        5,
        4,
        ("book",),
    )
    assert (summary.components, summary.cyclic, summary.self_recursive) == (
        (("section",),),
        1,
        ("section",),
    )
    assert (summary.by_depth, summary.longest, summary.paths) == ((1, 3, 1), None, (1, 3, 3, 3, 3))
    assert (summary.unproductive, summary.unreachable, summary.undeclared, summary.missing) == (
        (),
        (),
        (),
        (),
    )


def test_unused_elements_are_listed_by_reason() -> None:
    text = """<!ELEMENT a (b?, c?, e?)><!ELEMENT b (b)><!ELEMENT c (x)><!ELEMENT d (f)>
              <!ELEMENT e EMPTY><!ELEMENT f EMPTY>"""
    summary = summarize(parse_dtd(text, root="a"))
    assert summary.unproductive == ("b", "c")
    assert summary.unreachable == ("d", "f")
    assert summary.undeclared == ("x",)
    # The DTD is recursive, its documents are not.
    assert summary.components == (("b",),)
    assert (summary.longest, summary.by_depth, summary.paths) == (2, (1, 1), (1, 1))


def test_a_schema_without_any_valid_document() -> None:
    summary = summarize(parse_dtd("<!ELEMENT a (a)>"))
    assert (summary.longest, summary.by_depth, summary.paths) == (0, (), ())
    assert summary.unproductive == ("a",)


def brute_longest(schema: Schema) -> int | None:
    """Return the longest root path; without recursion it is no longer than the element count."""
    max_length = len(schema.elements) + 1
    longest = max(map(len, root_paths(schema, max_length)), default=0)
    return None if longest == max_length else longest


def test_longest_path_and_counts_against_all_paths(deep: bool) -> None:
    rng = Random(7)
    seen = set()
    for _ in range(600 if deep else 100):
        schema = parse_dtd(random_dtd(rng).text, root="a")
        summary = summarize(schema, levels=4)
        assert summary.longest == brute_longest(schema)
        by_length = [0, 0, 0, 0]
        for path in root_paths(schema, 4):
            by_length[len(path) - 1] += 1
        assert list(itertools.takewhile(bool, by_length)) == list(summary.paths)
        assert sum(summary.by_depth) == len(schema.graph.depth)
        excluded = len(summary.unproductive) + len(summary.unreachable)
        assert sum(summary.by_depth) + excluded == summary.elements
        seen.add(summary.longest)
    assert {None, 1, 2, 3} <= seen


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_bundled_schemas(name: str) -> None:
    summary = summarize(bundled_schema(name), levels=3)
    assert summary.paths == tuple(count_paths(bundled_schema(name), 3))
    assert (summary.longest is None) == bool(bundled_schema(name).graph.cyclic)
    assert sum(summary.by_depth) == summary.elements
    assert json.loads(json.dumps(summary.as_dict()))["roots"] == list(bundled_schema(name).roots)


def test_details_of_an_element() -> None:
    book = parse_dtd(BOOK)
    element = describe_element(book, "section")
    assert (element.model, element.kind) == ("(title, (p | section)*)", "children")
    assert (element.parents, element.children) == (("book", "section"), ("title", "p", "section"))
    assert (element.depth, element.smallest) == (2, 2)
    assert (element.component, element.self_recursive) == (("section",), True)
    assert [attribute_text(attribute) for attribute in element.attributes] == [
        ("ID", "#IMPLIED"),
        ("(easy | hard)", '"easy"'),
        ("CDATA", '#FIXED "1"'),
        ("NMTOKEN", "#REQUIRED"),
    ]
    plain = describe_element(book, "p")
    assert (plain.component, plain.self_recursive, plain.children) == ((), False, ())
    row = json.loads(json.dumps(element.as_dict()))
    assert row["attributes"][1] == {
        "name": "level",
        "type": "enumeration",
        "default": "value",
        "value": "easy",
        "values": ["easy", "hard"],
    }
    assert row["attributes"][3] == {"name": "n", "type": "nmtoken", "default": "required"}


def test_attribute_texts_read_back() -> None:
    """Every attribute of the bundled schemas, written with `attribute_text`, reads back equal."""
    for name in SCHEMA_NAMES:
        for element in bundled_schema(name).elements.values():
            lines = [f"<!ELEMENT {element.name} EMPTY>"]
            lines += [
                f"<!ATTLIST {element.name} {attribute.name} {' '.join(attribute_text(attribute))}>"
                for attribute in element.attributes
            ]
            again = parse_dtd("\n".join(lines)).elements[element.name]
            assert again.attributes == element.attributes
    defaults = {
        attribute.default
        for name in SCHEMA_NAMES
        for element in bundled_schema(name).elements.values()
        for attribute in element.attributes
    }
    assert defaults == set(Default)  # all were tried


def test_details_of_an_unproductive_element() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (b?)><!ELEMENT b (b)><!NOTATION n SYSTEM ''><!ATTLIST b t NOTATION (n) 'n'>"
    )
    element = describe_element(schema, "b")
    assert (element.depth, element.smallest, element.children, element.parents) == (
        None,
        None,
        (),
        (),
    )
    assert attribute_text(element.attributes[0]) == ("NOTATION (n)", '"n"')


def test_undeclared_elements_are_rejected_with_similar_ones() -> None:
    with pytest.raises(SchemaError, match="no element autor") as caught:
        describe_element(parse_dtd(BOOK, name="book.dtd"), "autor")
    assert (caught.value.kind, caught.value.hint) == ("element", "near names: author")
    with pytest.raises(SchemaError) as caught:
        describe_element(parse_dtd(BOOK), "zzz")
    assert caught.value.hint is None
