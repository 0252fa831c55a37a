"""Every public DTD loads or gives a reason; its counts equal those in the corpus table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pathcast.errors import SchemaError
from pathcast.schema import load_dtd


def test_every_dtd(corpus: Path) -> None:
    """elements | attributes | recursive | cyclic | largest component | self-recursive | ANY"""
    table = (corpus / "README.md").read_text().partition("## DTDs")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (dtd/\S+) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == len(set(rows)) > 30
    loaded = 0
    for name, columns in rows:
        cells = [cell.strip() for cell in columns.split("|")]
        if cells[0] == "-":
            with pytest.raises(SchemaError) as caught:
                load_dtd(corpus / name)
            assert caught.value.line is not None, name
            continue
        schema = load_dtd(corpus / name)
        graph = schema.graph
        attributes = sum(len(element.attributes) for element in schema.elements.values())
        wild = sum(element.kind.value == "ANY" for element in schema.elements.values())
        largest = len(graph.components[0]) if graph.components else 0
        figures = [len(schema.elements), attributes, "YES" if graph.cyclic else "no"]
        figures += [len(graph.cyclic), largest, len(graph.self_recursive), wild]
        assert [str(figure) for figure in figures] == cells[:7], name
        loaded += 1
    assert loaded > 28
    others = {str(path.relative_to(corpus)) for path in corpus.glob("dtd/**/*.dtd")} - dict(
        rows
    ).keys()
    for name in sorted(others):  # modules without a row in the table
        with pytest.raises(SchemaError):
            load_dtd(corpus / name)


@pytest.mark.parametrize(
    ("dtd", "document", "valid"),
    [
        ("xquery-usecases/bib.dtd", "dtd/xquery-usecases/bib.xml", True),
        ("xquery-usecases/book.dtd", "dtd/xquery-usecases/book.xml", True),
        ("pubmed/pubmed_250101.dtd", "dtd/pubmed/pubmed1.xml", True),
        ("pubmed/pubmed_180101.dtd", "dtd/pubmed/pubmed4.xml", True),
        ("xquery-usecases/book.dtd", "dtd/xquery-usecases/bib.xml", False),
    ],
)
def test_validity_of_public_documents(corpus: Path, dtd: str, document: str, valid: bool) -> None:
    schema = load_dtd(corpus / "dtd" / dtd)
    assert (schema.faults((corpus / document).read_bytes()) == []) is valid
