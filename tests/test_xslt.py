"""Style sheets: transformation of rows and documents, confinement, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.errors import StylesheetError
from pathcast.xslt import Stylesheet, row_xml, rows_xml

XSL = "http://www.w3.org/1999/XSL/Transform"


def sheet(inside: str, before: str = "", spaces: str = "") -> bytes:
    start = f'<xsl:stylesheet version="1.0" xmlns:xsl="{XSL}"{spaces}>'
    return f"{before}{start}\n{inside}\n</xsl:stylesheet>".encode()


def body(inside: str, spaces: str = "") -> bytes:
    return sheet(f'<xsl:template match="/">\n{inside}\n</xsl:template>', spaces=spaces)


def run(text: bytes) -> bytes:
    return Stylesheet.load(text).transform_rows(("city",), [("Ottawa",)])


def test_stylesheet_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.xsl"
    path.write_bytes(body('<m n="{count(rows/row)}"><xsl:value-of select="//row[2]/@a"/></m>'))
    result = Stylesheet.load(path).transform_rows(("a",), [("1",), ("2",)])
    assert result == b'<?xml version="1.0"?>\n<m n="2">2</m>\n'


def test_parameters_are_strings_with_any_quotes() -> None:
    stylesheet = Stylesheet.load(
        sheet(
            '<xsl:param name="p"/>'
            '<xsl:template match="/"><m><xsl:value-of select="$p"/></m></xsl:template>'
        )
    )
    result = stylesheet.transform_rows((), [], p="""it's "quoted" <&""")
    assert etree.fromstring(result).text == """it's "quoted" <&"""


@pytest.mark.parametrize(
    ("name", "value"), [("p", "\0"), ("p", "\ud800"), ("_input", "x"), ("profile_run", "x")]
)
def test_invalid_parameters(name: str, value: str) -> None:
    with pytest.raises(StylesheetError, match=f"the parameter '{name}': "):
        Stylesheet.load(body("<m/>")).transform_rows((), [], **{name: value})


def test_rows_and_their_document_have_the_same_result() -> None:
    stylesheet = Stylesheet.load(body('<m n="{count(//row)}"><xsl:value-of select="//@a"/></m>'))
    rows = [("1", "<&>"), ("2", "\n\t\r\"'")]
    document = rows_xml(("a", "b"), rows)
    assert stylesheet.transform(etree.fromstring(document)) == stylesheet.transform_rows(
        ("a", "b"), rows
    )
    row_elements = b"".join(row_xml({"a": a, "b": b}) for a, b in rows)
    assert document == b"<rows>" + row_elements + b"</rows>"
    parsed = [dict(row.attrib) for row in etree.fromstring(document)]
    assert parsed == [{"a": a, "b": b} for a, b in rows]


def test_result_over_max_bytes() -> None:
    stylesheet = Stylesheet.load(body("<m>0123456789</m>"), name="own.xsl")
    tree = etree.fromstring("<a/>")
    size = len(stylesheet.transform(tree))
    assert len(stylesheet.transform(tree, max_bytes=size)) == size
    with pytest.raises(
        StylesheetError, match=rf"own.xsl makes {size} bytes, more than {size - 1}"
    ) as e:
        stylesheet.transform(tree, max_bytes=size - 1)
    assert e.value.kind == "size"


def test_errors_name_a_stylesheet_of_bytes() -> None:
    with pytest.raises(StylesheetError, match=r"mine\.xsl, line 1: "):
        Stylesheet.load(b"<a", name="mine.xsl")


@pytest.mark.parametrize("kind", ["import", "include"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_import_and_include_are_refused(kind: str, scheme: str, tmp_path: Path) -> None:
    """libxslt would load them in spite of its access control."""
    secret = tmp_path / "other.xsl"
    secret.write_bytes(body("<secret/>"))
    with pytest.raises(StylesheetError, match=f"line 2: xsl:{kind} is refused"):
        Stylesheet.load(sheet(f'<xsl:{kind} href="{scheme}{secret}"/>'))


@pytest.mark.parametrize("address", ["{path}", "file://{path}", "http://localhost:9/", ""])
def test_stylesheets_cannot_read(address: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<secret/>")
    where = address.format(path=secret)
    with pytest.raises(StylesheetError, match="line 3: "):
        run(body(f"""<m><xsl:copy-of select="document('{where}')"/></m>"""))


@pytest.mark.parametrize(
    ("space", "element"),
    [
        ("http://exslt.org/common", "document"),
        ("http://www.jclark.com/xt", "document"),
        ("http://icl.com/saxon", "output"),
        ("org.apache.xalan.xslt.extensions.Redirect", "write"),
    ],
)
def test_stylesheets_cannot_write(space: str, element: str, tmp_path: Path) -> None:
    target = tmp_path / "written.xml"
    names = f'href="{target}" file="{target}" select="\'{target}\'"'
    spaces = f' xmlns:e="{space}" extension-element-prefixes="e"'
    with pytest.raises(StylesheetError, match=r"denied|refused"):
        run(body(f"<m><e:{element} {names}><q/></e:{element}></m>", spaces))
    assert not target.exists()


def test_xsl_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StylesheetError, match="line 3: xsl:document is no element"):
        run(body(f'<xsl:document href="{tmp_path}/x"><q/></xsl:document>'))


@pytest.mark.parametrize("name", ["dates-and-times", "math", "random", "crypto", "dynamic"])
def test_nondeterministic_extensions_are_refused(name: str) -> None:
    with pytest.raises(StylesheetError, match=r"extension .* is refused"):
        Stylesheet.load(body("<m/>", spaces=f' xmlns:e="http://exslt.org/{name}"'))


def test_regular_expressions_are_not_available() -> None:
    with pytest.raises(StylesheetError):
        run(
            body(
                """<m><xsl:value-of select="e:test('a', 'a')"/></m>""",
                ' xmlns:e="http://exslt.org/regular-expressions"',
            )
        )


def test_entities_are_refused() -> None:
    before = '<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/hostname">]>'
    with pytest.raises(StylesheetError, match="document type is refused"):
        Stylesheet.load(sheet('<xsl:template match="/"><m>&e;</m></xsl:template>', before))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<m><xsl:value-of select="a["/></m>', "line 3: .*could not compile"),
        ("<m><xsl:nope/></m>", "line 3: xsl:nope"),
        ('<m><xsl:value-of select="nope()"/></m>', "line 3: "),
        ('<m><xsl:value-of select="$nope"/></m>', "line 3: .*nope"),
        ('<xsl:apply-templates select="/"/>', "line 3: .*recursion"),
        ('<xsl:message terminate="yes">not like this</xsl:message>', "not like this"),
        ("text only", "makes no XML document"),
        ("<m/><m/>", "makes no XML document"),
        ("", "makes no XML document"),
    ],
)
def test_errors_give_line_and_reason(inside: str, message: str) -> None:
    with pytest.raises(StylesheetError, match=message) as caught:
        run(body(inside))
    assert caught.value.kind == "sheet"


@pytest.mark.parametrize("text", [b"", b"<html/>", b"\xff\xfe", b"<a", sheet("<xsl:template")])
def test_not_a_stylesheet(text: bytes) -> None:
    with pytest.raises(StylesheetError):
        Stylesheet.load(text)


@given(st.binary(max_size=60))
def test_any_bytes_give_a_stylesheet_or_a_stylesheet_error(data: bytes) -> None:
    for text in (data, sheet("").replace(b"\n", data)):
        try:
            run(text)
        except StylesheetError:
            pass


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(StylesheetError, match="No such file"):
        Stylesheet.load(tmp_path / "none.xsl")
    with pytest.raises(StylesheetError, match="null byte"):
        Stylesheet.load(f"{tmp_path}/\0.xsl")


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (("a b",), ("1",)),
        (("a",), ("1", "2")),
        (("a",), ("\x01",)),
        (("a",), ("\ud800",)),
        (("",), ("1",)),
        (("xmlns",), ("u",)),
        (("xmlns:a",), ("u",)),
        (("{u}a",), ("1",)),
    ],
)
def test_rows_that_cannot_be_xml(fields: tuple[str, ...], values: tuple[str, ...]) -> None:
    with pytest.raises(StylesheetError, match="a row cannot be XML"):
        Stylesheet.load(body("<m/>")).transform_rows(fields, [values])
