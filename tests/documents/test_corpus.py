"""Real documents: accepted or rejected as by lxml, with the same nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from pathcast.documents import ERROR_KINDS, label_paths, parse, regions, tag_tree
from pathcast.errors import DocumentError

XPATHS = (
    "count(//*)",
    "count(//@*)",
    "count(//text())",
    "count(/descendant::*/comment()) + count(/comment())",
    "count(/descendant::*/processing-instruction()) + count(/processing-instruction())",
    "string(/)",
    "string(/*)",
)


def files(folder: Path) -> list[Path]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    assert paths
    return paths


def rejection(body: bytes) -> DocumentError | None:
    try:
        parse(body)
    except DocumentError as error:
        return error
    return None


def test_every_document_is_parsed_or_rejected_as_lxml_does(corpus: Path) -> None:
    accepted = 0
    for path in files(corpus / "docs"):
        body = path.read_bytes()
        if error := rejection(body):
            assert error.kind in ERROR_KINDS, path
            with pytest.raises(etree.XMLSyntaxError):
                etree.fromstring(body)
            continue
        accepted += 1
        document = parse(body)
        counts = (
            len(document.all_elements),
            len(document.all_attributes),
            len(document.texts),
            len(document.comments),
            len(document.instructions),
            document.string_value(0),
            document.string_value(document.all_elements[0]),
        )
        tree = etree.fromstring(body).getroottree()
        tree.docinfo.clear()
        assert counts == tuple(tree.xpath(xpath) for xpath in XPATHS), path
        assert len(regions(document)) >= len(label_paths(document))
        assert tag_tree(document) == tag_tree(parse(body))
    assert accepted > 100


def test_every_malformed_document_is_rejected(corpus: Path) -> None:
    for path in files(corpus / "docs-malformed"):
        error = rejection(path.read_bytes())
        assert error is not None, path
        assert error.kind in ERROR_KINDS, path
        assert error.line is not None, path
