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


def smallest(schema: Schema, name: str, wanted: str | None = None) -> etree._Element:
    """A smallest tree of the element, with the child that is wanted, and with all attributes."""
    element = schema.elements[name]
    made = etree.Element(name)
    for one in element.attributes:
        value = one.value or (one.values[0] if one.values else "x")
        # A validator wants identifiers to differ and references to lead somewhere; one of each will do.
        if one.type.value not in ("id", "idref", "idrefs"):
            made.set(one.name, value)
        elif one.default.value == "required":
            made.set(one.name, f"i{next(NUMBERS)}" if one.type.value == "id" else "target")
    word = cheapest_word(element.content, {wanted: 1} if wanted else {}, schema.graph.size.get)
    assert word is not None
    made.extend(smallest(schema, child) for child in word[1])
    return made


def test_there_are_ten_and_each_has_a_file() -> None:
    folder = files("pathcast.generators") / "schemas"
    found = {one.name.removesuffix(".dtd") for one in folder.iterdir() if one.name[0] != "."}
    assert len(SCHEMA_NAMES) == 10
    assert found == set(SCHEMA_NAMES) == set(ROOTS)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_each_is_sound_and_whole(name: str) -> None:
    schema = bundled_schema(name)
    assert (schema.name, schema.roots) == (name, (ROOTS[name],))
    assert (schema.undeclared_names, schema.missing) == ((), ())
    everything = set(schema.elements)
    assert set(schema.graph.size) == everything  # each can stand in a finite document
    assert set(schema.graph.depth) == everything  # and the root leads to each
    assert bool(schema.graph.cyclic) == (name in RECURSIVE)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_written_out_flat_it_is_the_same(name: str) -> None:
    schema = bundled_schema(name)
    assert "%" not in schema.text
    again = parse_dtd(schema.text, name=name)
    assert again == schema
    assert list(again.elements) == list(schema.elements)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_its_first_line_says_what_it_exercises(name: str) -> None:
    first = source(name).partition("\n")[0]
    assert first == f"<!-- {name}: {describe_schema(name)} -->"
    assert 40 <= len(describe_schema(name)) <= 140


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_lxml_reads_it_alike_and_finds_every_content_model_usable(name: str) -> None:
    """A model that is not deterministic would load, and fail only when a document is validated."""
    schema = bundled_schema(name)
    whole = etree.DTD(StringIO(source(name)))
    assert {one.name for one in whole.iterelements()} == set(schema.elements)
    assert sum(1 for one in whole.iterelements() for _ in one.iterattributes()) == attributes(
        schema
    )
    for element in schema.elements:
        for child in (None, *schema.graph.children[element]):
            tree = smallest(schema, element, child)
            assert child is None or tree.find(child) is not None
            whole.validate(tree)
            # A reference in a piece of a document may lead nowhere: only what lxml says of it is let go.
            found = [str(one.message) for one in whole.error_log]
            assert [one for one in found if "references an unknown ID" not in one] == []


def test_news_is_large_and_recursive_in_its_text() -> None:
    news = bundled_schema("news")
    assert 120 <= len(news.elements) <= 130
    assert attributes(news) > 300
    inline = set(news.graph.components[0])
    assert len(inline) == 22
    assert inline >= {"em", "q", "lang", "a", "person", "org", "location", "event"}
    assert news.graph.self_recursive == {"em", "q", "lang"}
    assert {"block", "bq", "note", "fn"} <= set(news.graph.components[1])
    assert set(news.graph.components[2]) == {"ol", "ul", "li"}


def test_news_has_paths_enough_for_a_million_subscriptions() -> None:
    counts = count_paths(bundled_schema("news"), 10)
    assert counts[:5] == [1, 2, 10, 43, 131]
    assert 500 <= counts[5] <= 1000
    assert sum(counts) > 500_000  # and each may be written with * and // in many ways


def test_protein_is_a_long_record_without_recursion() -> None:
    protein = bundled_schema("protein")
    assert 60 <= len(protein.elements) <= 70
    assert attributes(protein) < 10
    assert protein.graph.components == ()
    assert ("ProteinDatabase", "ProteinEntry") in set(root_paths(protein, 2))
    assert len(count_paths(protein, 100)) == 6


@pytest.mark.parametrize(("sections", "depth"), [(1, 4), (2, 5), (3, 6), (6, 9)])
def test_book_is_as_deep_as_its_sections_make_it(sections: int, depth: int) -> None:
    """The depths of Cao's thesis, table 3.1: book(r=1) 4, book(r=2) 5, book(r=3) 6, book(r=6) 9."""
    book = bundled_schema("book")
    assert book.graph.cyclic == book.graph.self_recursive == {"section"}
    paths = root_paths(book, depth + 2)
    deepest = max(len(path) for path in paths if path.count("section") == sections)
    assert deepest == depth
    assert ("book", "section", "figure", "title") in set(root_paths(book, 4))


def test_bib_is_flat_and_has_what_its_queries_ask_for() -> None:
    bib = bundled_schema("bib")
    assert len(bib.elements) == 11
    assert count_paths(bib, 100) == [1, 1, 3, 6]
    document = b"<bib><vendor><name>n</name><book><title>t</title><author>a</author><price>1</price></book></vendor></bib>"
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
    assert {f"alert/info/{one}" for one in fields.split()} <= paths
    assert {
        f"alert/{one}" for one in "identifier sender sent status msgType scope".split()
    } <= paths


def test_weather_has_the_values_of_the_trace() -> None:
    """What the thesis collected for each city (section 3.5)."""
    weather = bundled_schema("weather")
    values = "temperature feels-like condition humidity dew-point wind wind-gust pressure visibility uv clouds rainfall"
    assert set(values.split()) < set(weather.graph.children["weather"])
    assert "city" in {one.name for one in weather.elements["weather"].attributes}
    assert len(count_paths(weather, 100)) == 4


def test_stock_has_the_values_of_the_trace() -> None:
    stock = bundled_schema("stock")
    values = "symbol last-trade pre-close open bid ask target-est avg-volume market-cap pe eps dividend yield rating"
    assert stock.graph.children["stock"] == tuple(values.split())
    many = b"<stocks>" + 100 * b"<stock><symbol>A</symbol><last-trade>1</last-trade></stock>"
    assert stock.faults(many + b"</stocks>") == []


def test_invoice_uses_its_parts_again() -> None:
    invoice = bundled_schema("invoice")
    above = {
        part: sum(part in below for below in invoice.graph.children.values())
        for part in ("party", "address", "amount", "category", "id")
    }
    assert min(above.values()) >= 2
    assert len(count_paths(invoice, 100)) == 6


def test_the_ten_together_are_of_the_size_of_the_aggregated_workload() -> None:
    """Miliaraki et al., table 1: ten DTDs with 383 elements and 694 attributes."""
    names = {one for name in SCHEMA_NAMES for one in bundled_schema(name).elements}
    assert 350 <= len(names) <= 420
    assert 600 <= sum(attributes(bundled_schema(name)) for name in SCHEMA_NAMES) <= 800


def test_a_name_that_is_not_bundled() -> None:
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
