from __future__ import annotations

import itertools
import re
from importlib.resources import files
from io import StringIO

import pytest
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema, describe_schema
from pathcast.matching import Matcher
from pathcast.schema import Schema, cheapest_word, count_paths, parse_dtd, root_paths

ROOTS = {
    "news": "news",
    "protein": "ProteinDatabase",
    "book": "book",
    "bib": "bib",
    "auction": "market",
    "bibliography": "bibliography",
    "alert": "alert",
    "weather": "weather",
    "stock": "stocks",
    "invoice": "invoice",
}
NUMBERS = itertools.count()
RECURSIVE = {"news", "book", "auction", "bibliography"}


def source(name: str) -> str:
    return (files("pathcast.generators") / "schemas" / f"{name}.dtd").read_text("utf-8")


def attributes(schema: Schema) -> int:
    return sum(len(element.attributes) for element in schema.elements.values())


def smallest(schema: Schema, name: str, required_child: str | None = None) -> etree._Element:
    """Return a smallest tree of the element, with the required child and all attributes."""
    element = schema.elements[name]
    tree = etree.Element(name)
    for attribute in element.attributes:
        value = attribute.value or (attribute.values[0] if attribute.values else "x")
        # IDs must differ and references must refer to one: write the required ones only.
        if attribute.type.value not in ("id", "idref", "idrefs"):
            tree.set(attribute.name, value)
        elif attribute.default.value == "required":
            tree.set(
                attribute.name, f"i{next(NUMBERS)}" if attribute.type.value == "id" else "target"
            )
    word = cheapest_word(
        element.content, {required_child: 1} if required_child else {}, schema.graph.size.get
    )
    assert word is not None
    tree.extend(smallest(schema, child) for child in word[1])
    return tree


def test_ten_schemas_each_with_a_file() -> None:
    folder = files("pathcast.generators") / "schemas"
    names = {file.name.removesuffix(".dtd") for file in folder.iterdir() if file.name[0] != "."}
    assert len(SCHEMA_NAMES) == 10
    assert names == set(SCHEMA_NAMES) == set(ROOTS)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_all_elements_are_productive_and_reachable(name: str) -> None:
    schema = bundled_schema(name)
    assert (schema.name, schema.roots) == (name, (ROOTS[name],))
    assert (schema.undeclared_names, schema.missing) == ((), ())
    everything = set(schema.elements)
    assert set(schema.graph.size) == everything  # all are productive
    assert set(schema.graph.depth) == everything  # and reachable
    assert bool(schema.graph.cyclic) == (name in RECURSIVE)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_flat_text_reads_back_as_the_schema(name: str) -> None:
    schema = bundled_schema(name)
    assert "%" not in schema.text
    again = parse_dtd(schema.text, name=name)
    assert again == schema
    assert list(again.elements) == list(schema.elements)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_the_first_comment_describes_the_schema(name: str) -> None:
    first = source(name).partition("\n")[0]
    assert first == f"<!-- {name}: {describe_schema(name)} -->"
    assert 40 <= len(describe_schema(name)) <= 140


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_lxml_reads_the_same_and_validates_with_every_content_model(name: str) -> None:
    """A nondeterministic model would load, and fail only when a document is validated."""
    schema = bundled_schema(name)
    dtd = etree.DTD(StringIO(source(name)))
    assert {element.name for element in dtd.iterelements()} == set(schema.elements)
    assert sum(1 for element in dtd.iterelements() for _ in element.iterattributes()) == attributes(
        schema
    )
    for parent in schema.elements:
        for child in (None, *schema.graph.children[parent]):
            tree = smallest(schema, parent, child)
            assert child is None or tree.find(child) is not None
            dtd.validate(tree)
            # References in a fragment may dangle: ignore only those messages.
            messages = [str(entry.message) for entry in dtd.error_log]
            assert [text for text in messages if "references an unknown ID" not in text] == []


def test_news_is_large_with_recursive_text() -> None:
    news = bundled_schema("news")
    assert 120 <= len(news.elements) <= 130
    assert attributes(news) > 300
    inline = set(news.graph.components[0])
    assert len(inline) == 22
    assert inline >= {"em", "q", "lang", "a", "person", "org", "location", "event"}
    assert news.graph.self_recursive == {"em", "q", "lang"}
    assert {"block", "bq", "note", "fn"} <= set(news.graph.components[1])
    assert set(news.graph.components[2]) == {"ol", "ul", "li"}


def test_news_has_enough_paths_for_a_million_subscriptions() -> None:
    counts = count_paths(bundled_schema("news"), 10)
    assert counts[:5] == [1, 2, 10, 43, 131]
    assert 500 <= counts[5] <= 1000
    assert sum(counts) > 500_000  # each with many variants by * and //


def test_protein_is_a_long_record_without_recursion() -> None:
    protein = bundled_schema("protein")
    assert 60 <= len(protein.elements) <= 70
    assert attributes(protein) < 10
    assert protein.graph.components == ()
    assert ("ProteinDatabase", "ProteinEntry") in set(root_paths(protein, 2))
    assert len(count_paths(protein, 100)) == 6


@pytest.mark.parametrize(("sections", "depth"), [(1, 4), (2, 5), (3, 6), (6, 9)])
def test_depth_of_book_follows_the_recursion_of_sections(sections: int, depth: int) -> None:
    """Cao 2012, table 3.1: book(r=1) has depth 4, book(r=2) 5, book(r=3) 6, book(r=6) 9."""
    book = bundled_schema("book")
    assert book.graph.cyclic == book.graph.self_recursive == {"section"}
    paths = root_paths(book, depth + 2)
    deepest = max(len(path) for path in paths if path.count("section") == sections)
    assert deepest == depth
    assert ("book", "section", "figure", "title") in set(root_paths(book, 4))


def test_bib_is_flat_and_has_the_elements_of_the_papers_queries() -> None:
    bib = bundled_schema("bib")
    assert len(bib.elements) == 11
    assert count_paths(bib, 100) == [1, 1, 3, 6]
    document = (
        b"<bib><vendor><name>n</name><book><title>t</title><author>a</author><price>1</price></book>"
        b"</vendor></bib>"
    )
    assert bib.faults(document) == []
    matcher = Matcher()
    queries = ["/bib/vendor[name]/book[title][author]", "/bib/vendor//author", "/bib/vendor/book"]
    for number, query in enumerate(queries):
        matcher.add(number, query)
    assert list(matcher.match(document)) == [0, 1, 2]


def test_auction_has_recursive_descriptions() -> None:
    auction = bundled_schema("auction")
    assert 70 <= len(auction.elements) <= 80
    assert {frozenset(part) for part in auction.graph.components} == {
        frozenset({"list", "entry"}),
        frozenset({"strong", "stress", "term"}),
    }


def test_bibliography_is_wide_with_a_little_recursion() -> None:
    bibliography = bundled_schema("bibliography")
    assert count_paths(bibliography, 3) == [1, 10, 210]
    assert bibliography.graph.cyclic == {"i", "sub", "sup", "tt"}


def test_alert_has_its_groups() -> None:
    paths = {"/".join(path) for path in root_paths(bundled_schema("alert"), 4)}
    fields = "category event urgency severity certainty area/areaDesc area/polygon area/geocode"
    assert {f"alert/info/{field}" for field in fields.split()} <= paths
    assert {
        f"alert/{field}" for field in "identifier sender sent status msgType scope".split()
    } <= paths


def test_weather_has_the_values_of_the_trace() -> None:
    """The values that Cao 2012 collected for each city (section 3.5)."""
    weather = bundled_schema("weather")
    values = (
        "temperature feels-like condition humidity dew-point wind wind-gust pressure visibility uv "
        "clouds rainfall"
    )
    assert set(values.split()) < set(weather.graph.children["weather"])
    assert "city" in {attribute.name for attribute in weather.elements["weather"].attributes}
    assert len(count_paths(weather, 100)) == 4


def test_stock_has_the_values_of_the_trace() -> None:
    stock = bundled_schema("stock")
    values = (
        "symbol last-trade pre-close open bid ask target-est avg-volume market-cap pe eps dividend "
        "yield rating"
    )
    assert stock.graph.children["stock"] == tuple(values.split())
    hundred = b"<stocks>" + 100 * b"<stock><symbol>A</symbol><last-trade>1</last-trade></stock>"
    assert stock.faults(hundred + b"</stocks>") == []


def test_invoice_shares_parts_between_elements() -> None:
    invoice = bundled_schema("invoice")
    above = {
        part: sum(part in below for below in invoice.graph.children.values())
        for part in ("party", "address", "amount", "category", "id")
    }
    assert min(above.values()) >= 2
    assert len(count_paths(invoice, 100)) == 6


def test_total_size_is_that_of_the_aggregated_workload() -> None:
    """Miliaraki 2008, table 1: ten DTDs with 383 elements and 694 attributes."""
    names = {element for name in SCHEMA_NAMES for element in bundled_schema(name).elements}
    assert 350 <= len(names) <= 420
    assert 600 <= sum(attributes(bundled_schema(name)) for name in SCHEMA_NAMES) <= 800


def test_unknown_names_are_rejected_with_similar_ones() -> None:
    with pytest.raises(
        WorkloadError, match=r"no schema 'new' is bundled\n  hint: near names: news"
    ):
        bundled_schema("new")
    with pytest.raises(WorkloadError, match="one of news, protein"):
        describe_schema("../../secret")
    assert bundled_schema("news") is bundled_schema("news")


def test_no_element_name_needs_a_namespace() -> None:
    for name in SCHEMA_NAMES:
        for element in bundled_schema(name).elements:
            assert re.fullmatch(r"[A-Za-z][A-Za-z0-9.-]*", element)
