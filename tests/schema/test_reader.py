"""DTD text -> Schema: the conversion of lxml's declarations, and the files a DTD can reach."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pathcast.errors import SchemaError
from pathcast.schema import (
    AttributeType,
    Catalog,
    ContentKind,
    Default,
    Schema,
    load_dtd,
    names_of,
    parse_dtd,
)
from pathcast.schema.glushkov import GlushkovAutomaton
from tests.dtds import NAMES, random_dtd


def test_content_models() -> None:
    schema = parse_dtd(
        """<!ELEMENT a ((b, c?)+, (d | (e, f)*)?)> <!ELEMENT b (#PCDATA)>
        <!ELEMENT c (#PCDATA | a | b)*> <!ELEMENT d EMPTY> <!ELEMENT e ANY> <!ELEMENT f (b)>"""
    )
    models = {name: element.model for name, element in schema.elements.items()}
    assert models == {
        "a": "((b, c?)+, (d | (e, f)*)?)",
        "b": "(#PCDATA)",
        "c": "(#PCDATA | a | b)*",
        "d": "EMPTY",
        "e": "ANY",
        "f": "(b)",
    }
    assert schema.elements["c"].kind is ContentKind.MIXED
    assert schema.elements["b"].content is None


def test_attributes() -> None:
    schema = parse_dtd(
        """<!NOTATION gif SYSTEM 'x'> <!ELEMENT a EMPTY>
        <!ATTLIST a id ID #REQUIRED ref IDREFS #IMPLIED kind (x | y) 'x'
                    unit CDATA #FIXED 'm&quot;&#37;' pic NOTATION (gif) #IMPLIED
                    word NMTOKEN 'w' xml:lang CDATA #IMPLIED>
        <!ATTLIST a id CDATA #IMPLIED late CDATA #IMPLIED>"""
    )
    attributes = {attribute.name: attribute for attribute in schema.elements["a"].attributes}
    assert sorted(attributes) == ["id", "kind", "late", "pic", "ref", "unit", "word", "xml:lang"]
    assert attributes["id"].type is AttributeType.ID  # the first declaration counts
    assert attributes["id"].default is Default.REQUIRED
    assert attributes["kind"].values == ("x", "y")
    assert (attributes["kind"].default, attributes["kind"].value) == (Default.VALUE, "x")
    assert (attributes["unit"].default, attributes["unit"].value) == (Default.FIXED, 'm"%')
    assert not schema.faults(b"""<a id="i" kind="y" unit='m"%' pic="gif"/>""")
    assert schema.faults(b"""<a id="i" unit='m"'/>""")


def test_a_long_group_is_not_nested() -> None:
    names = [f"n{number}" for number in range(5000)]
    text = f"<!ELEMENT top ({' | '.join(names)})*>" + "".join(
        f"<!ELEMENT {n} EMPTY>" for n in names
    )
    assert list(names_of(parse_dtd(text).elements["top"].content)) == names


def test_flat_text_is_equivalent(deep: bool) -> None:
    """libxml2 simplifies `(a? | b*)+` to `(a? | b)*` and `(a | b)*`; then compare the words."""
    rng = Random(1)
    words = [rng.choices(NAMES, k=rng.randint(0, 5)) for _ in range(200)]
    for _ in range(300 if deep else 60):
        schema = parse_dtd(random_dtd(rng).text)
        again = parse_dtd(schema.text)
        assert again.roots == schema.roots
        assert list(again.elements) == list(schema.elements)
        for original, reread in zip(schema.elements.values(), again.elements.values(), strict=True):
            assert replace(original, content=None) == replace(reread, content=None)
            if original.content != reread.content:
                assert original.content is not None
                assert reread.content is not None
                first, second = (
                    GlushkovAutomaton(original.content),
                    GlushkovAutomaton(reread.content),
                )
                assert [first.accepts(w) for w in words] == [second.accepts(w) for w in words]


def test_a_schema_can_be_pickled() -> None:
    schema = parse_dtd("<!ELEMENT a (b*)><!ELEMENT b EMPTY>")
    assert not schema.faults(b"<a><b/></a>")
    sent: Schema = pickle.loads(pickle.dumps(schema))
    assert (sent.elements, sent.roots) == (schema.elements, schema.roots)
    assert sent.faults(b"<a><a/></a>")


def test_roots() -> None:
    assert parse_dtd("<!ELEMENT a (b)><!ELEMENT b EMPTY><!ELEMENT c (b)>").roots == ("a", "c")
    assert parse_dtd("<!ELEMENT a (b?)><!ELEMENT b (a?)>").roots == ("a", "b")
    assert parse_dtd("<!ELEMENT a (b)><!ELEMENT b ANY>").roots == ("a",)  # ANY leads everywhere
    assert parse_dtd("<!ELEMENT a (b)><!ELEMENT b EMPTY>", root="b").roots == ("b",)
    with pytest.raises(SchemaError, match="no element titel") as caught:
        parse_dtd("<!ELEMENT title EMPTY>", root="titel")
    assert caught.value.hint == "near names: title"


def test_a_declaration_around_an_internal_subset() -> None:
    schema = parse_dtd(
        "<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE b [<!ELEMENT a (b)><!ELEMENT b EMPTY>]>"
    )
    assert schema.roots == ("b",)
    assert list(schema.elements) == ["a", "b"]


def test_faults_report_a_wrong_root() -> None:
    schema = parse_dtd("<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert schema.faults(b"<b/>") == ["the root element is b, not a"]
    assert "follow the DTD" in schema.faults(b"<a/>")[0]
    assert schema.faults(b"<a>")[0].startswith("not well-formed: ")


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("<!ELEMENT a (b>", "syntax", 1),
        ("<!ELEMENT a EMPTY>\n\n<html>", "syntax", 3),
        ("", "empty", None),
        ("<!-- nothing -->", "empty", None),
        ("<!ATTLIST a b CDATA #IMPLIED>", "empty", None),
        ("<!ELEMENT a (%nothing;)>", "syntax", 1),
        ("<!ELEMENT p:a EMPTY><!ELEMENT q:a EMPTY>", "unsupported", None),
        ("<!DOCTYPE a [<!ELEMENT a (b>]>", "syntax", 1),
    ],
)
def test_bad_dtds(text: str, kind: str, line: int | None) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_dtd(text)
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert caught.value.hint


def test_many_comments_before_a_declaration_are_fast() -> None:
    assert parse_dtd("<!-- c -->\n" * 3000 + "<!ELEMENT a EMPTY>").roots == ("a",)
    assert parse_dtd("<!-- c --><?p?>\n" * 500 + "<!DOCTYPE a [<!ELEMENT a EMPTY>]>").roots == (
        "a",
    )


def test_encoding_declarations_of_decoded_texts_are_ignored() -> None:
    assert parse_dtd('<?xml version="1.0" encoding="ISO-8859-1"?><!ELEMENT é EMPTY>').roots == (
        "é",
    )
    assert parse_dtd('<?xml encoding="ISO-8859-1"?><!ELEMENT é EMPTY>'.encode("latin-1")).roots == (
        "é",
    )


def test_invalid_uris_are_missing(tmp_path: Path) -> None:
    text = '<!ENTITY % m SYSTEM "a b.mod"> %m; <!ELEMENT a EMPTY>'
    assert parse_dtd(text, Catalog.open(tmp_path)).missing == ("a b.mod",)


def test_nondeterministic_models_are_checked() -> None:
    """libxml2 reports such a model once and then rejects silently; we check the children."""
    schema = parse_dtd(
        """<!ELEMENT r ((a, b) | (a, c))> <!ELEMENT a EMPTY> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>
        <!ATTLIST a x CDATA #IMPLIED>"""
    )
    assert list(schema.ambiguous) == ["r"]
    fault = "Element r content does not follow the DTD, expecting ((a, b) | (a, c))"
    for _ in range(2):
        assert schema.faults(b"<r><a x='1'/> <c/></r>") == []
        assert schema.faults(b"<r><a/><b/></r>") == []
        for bad in (
            b"<r/>",
            b"<r><c/></r>",
            b"<r><a/></r>",
            b"<r>x<a/><c/></r>",
            b"<r><a/><b/><c/></r>",
        ):
            assert schema.faults(bad) == [fault]
        assert schema.faults(b"<r><a y='1'/><c/></r>") == [
            "No declaration for attribute y of element a"
        ]


def test_missing_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="No such file") as caught:
        load_dtd(tmp_path / "none.dtd")
    assert caught.value.kind == "unreadable"


def test_entity_amplification_is_rejected() -> None:
    levels = "".join(f'<!ENTITY % e{n + 1} "{f"%e{n};" * 10}">' for n in range(12))
    with pytest.raises(SchemaError) as caught:
        parse_dtd(f'<!ENTITY % e0 "<!ELEMENT a EMPTY>">{levels}%e12;')
    assert caught.value.kind == "syntax"


# files that a DTD can reach


def modular(folder: Path) -> Path:
    (folder / "parts").mkdir(parents=True)
    (folder / "main.dtd").write_text(
        '<!ENTITY % parts SYSTEM "parts/all%20parts.mod"> %parts; <!ELEMENT a (b, c)>'
    )
    (folder / "parts" / "all parts.mod").write_text(
        '<!ENTITY % more SYSTEM "../more.mod"> %more; <!ELEMENT b EMPTY>'
    )
    (folder / "more.mod").write_text("<!ELEMENT c EMPTY>")
    return folder / "main.dtd"


def test_modules_beside_the_dtd(tmp_path: Path) -> None:
    schema = load_dtd(modular(tmp_path / "dtd"))
    assert sorted(schema.elements) == ["a", "b", "c"]
    assert (schema.missing, schema.undeclared_names) == ((), ())


def test_a_text_can_reference_no_file(tmp_path: Path) -> None:
    path = modular(tmp_path)
    schema = parse_dtd(path.read_text())
    assert list(schema.elements) == ["a"]
    assert schema.missing == ("parts/all parts.mod",)
    assert schema.undeclared_names == ("b", "c")
    again = parse_dtd(path.read_text(), Catalog.open(tmp_path))
    assert sorted(again.elements) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "spelling",
    ["../secret.mod", "{}/secret.mod", "file://{}/secret.mod", "link.mod", "/etc/hostname"],
)
def test_nothing_outside_the_folder(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "secret.mod").write_text("<!ELEMENT secret EMPTY>")
    folder = tmp_path / "dtd"
    folder.mkdir()
    (folder / "link.mod").symlink_to(tmp_path / "secret.mod")
    system_id = spelling.format(tmp_path)
    (folder / "main.dtd").write_text(f'<!ENTITY % s SYSTEM "{system_id}"> %s; <!ELEMENT a EMPTY>')
    schema = load_dtd(folder / "main.dtd")
    assert list(schema.elements) == ["a"]
    assert len(schema.missing) == 1


def test_no_network() -> None:
    text = '<!ENTITY % s SYSTEM "http://127.0.0.1:1/x.mod"> %s; <!ELEMENT a EMPTY>'
    assert parse_dtd(text).missing == ("http://127.0.0.1:1/x.mod",)


def test_a_missing_module_is_named_in_the_error() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_dtd('<!ENTITY % s SYSTEM "names.mod"> %s; <!ELEMENT a (%names;)>')
    assert caught.value.hint == "the catalog does not have names.mod, which it asks for"


def test_an_oasis_catalog(tmp_path: Path) -> None:
    (tmp_path / "b.mod").write_text("<!ELEMENT b EMPTY>")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.mod").write_text("<!ELEMENT c EMPTY>")
    (tmp_path / "catalog.xml").write_text(
        """<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
        <system systemId="http://example.org/b.mod" uri="b.mod"/>
        <system systemId="http://example.org/far.mod" uri="http://127.0.0.1:1/far.mod"/>
        <group xml:base="sub/"><public publicId="-//X//C  one//EN" uri="c.mod"/></group>
        </catalog>"""
    )
    text = """<!ENTITY % b SYSTEM "http://example.org/b.mod"> %b;
    <!ENTITY % c PUBLIC "-//X//C one//EN" "http://example.org/c.mod"> %c;
    <!ENTITY % far SYSTEM "http://example.org/far.mod"> %far; <!ELEMENT a (b, c)>"""
    schema = parse_dtd(text, Catalog.open(tmp_path / "catalog.xml"))
    assert sorted(schema.elements) == ["a", "b", "c"]
    assert schema.missing == ("http://example.org/far.mod",)


@pytest.mark.parametrize("text", ["<catalog>", "<other/>"])
def test_malformed_catalogs_are_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "catalog.xml").write_text(text)
    with pytest.raises(SchemaError) as caught:
        Catalog.open(tmp_path / "catalog.xml")
    assert caught.value.kind == "catalog"


def test_unreadable_catalogs_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as caught:
        Catalog.open(tmp_path / "none.xml")
    assert caught.value.kind == "unreadable"
    assert os.path.basename(str(tmp_path)) in caught.value.message
