from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled
from pathcast.generators.feeds import stock, stock_feed, weather, weather_feed
from pathcast.generators.feeds.station import READINGS
from pathcast.generators.feeds.stock import StockOptions
from pathcast.generators.feeds.weather import WeatherOptions, cities
from pathcast.xslt import SHEETS, Sheet, row_xml, rows_xml

XSL = "http://www.w3.org/1999/XSL/Transform"


def sheet(inside: str, before: str = "", spaces: str = "") -> bytes:
    return f'{before}<xsl:stylesheet version="1.0" xmlns:xsl="{XSL}"{spaces}>\n{inside}\n</xsl:stylesheet>'.encode()


def body(inside: str, spaces: str = "") -> bytes:
    return sheet(f'<xsl:template match="/">\n{inside}\n</xsl:template>', spaces=spaces)


def run(text: bytes) -> bytes:
    return Sheet.load(text).message(("city",), [("Ottawa",)])


@settings(max_examples=10)
@given(
    seed=st.integers(0, 1000),
    kind=st.floats(0, 1),
    month=st.integers(1, 12),
    timed=st.booleans(),
)
def test_weather_messages_are_valid_and_of_the_size_in_section_3_5(
    seed: int, kind: float, month: int, timed: bool
) -> None:
    start = weather.WeatherOptions().start.replace(month=month)
    options = WeatherOptions(cities=cities(5), days=(kind,), start=start, period=1000)
    for message in weather_feed(options, seed, timed=timed):
        assert bundled("weather").faults(message.body) == []
        assert 1400 < len(message.body) < 1700  # about 1580 bytes


@settings(max_examples=5)
@given(seed=st.integers(0, 1000), timed=st.booleans())
def test_stock_messages_are_valid(seed: int, timed: bool) -> None:
    options = StockOptions(symbols=40, period=7000)
    for message in stock_feed(options, seed, timed=timed):
        assert bundled("stock").faults(message.body) == []


def test_every_value_of_a_weather_row_is_in_the_message() -> None:
    (row,) = weather.rows(WeatherOptions(until=1), 1)
    values = dict(zip(weather.FIELDS, row.values, strict=True))
    root = etree.fromstring(Sheet.bundled("weather").message(weather.FIELDS, [row.values]))
    for name in READINGS:
        if name not in ("from", "trend", "code"):
            assert root.findtext(name) == values[name]
    found = {
        "city": root.get("city"),
        "country": root.get("country"),
        "station": root.xpath("string(station/@code)"),
        "name": root.findtext("station/name"),
        "latitude": root.findtext("station/position/latitude"),
        "longitude": root.findtext("station/position/longitude"),
        "elevation": root.findtext("station/position/elevation"),
        "from": root.xpath("string(wind/@from)"),
        "trend": root.xpath("string(pressure/@trend)"),
        "code": root.xpath("string(condition/@code)"),
    }
    assert found == {name: values[name] for name in found}
    assert root.get("observed") is None
    assert values["time"].encode() not in etree.tostring(root)


def test_every_value_of_the_stock_rows_is_in_the_message() -> None:
    rows = [row.values for row in stock.rows(StockOptions(symbols=60, period=30_000), 1)]
    root = etree.fromstring(Sheet.bundled("stock").message(stock.FIELDS, rows, timed="yes"))
    assert root.get("time") == rows[0][0]
    for element, row in zip(root, rows, strict=True):
        found = {child.tag: child.text for child in element}
        found |= {"time": rows[0][0], "sector": element.get("sector")}
        found |= {"move": element.xpath("string(last-trade/@move)")}
        wanted = dict(zip(stock.FIELDS, row, strict=True))
        assert found == {name: value for name, value in wanted.items() if value}


def test_timed_messages_tell_the_time() -> None:
    options = WeatherOptions(days=(0.0,), until=600)
    bodies = [message.body for message in weather_feed(options, 1, timed=True)]
    assert len(set(bodies)) == 20
    assert b'observed="2011-08-03T00:00:30"' in bodies[1]


def test_characters_that_mean_something_in_xml() -> None:
    options = WeatherOptions(cities=("<&\"> 'Zürich' 東京",), until=1)
    (message,) = weather_feed(options, 1)
    assert etree.fromstring(message.body).get("city") == options.cities[0]
    assert bundled("weather").faults(message.body) == []


def test_a_sheet_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.xsl"
    path.write_bytes(body('<m n="{count(rows/row)}"><xsl:value-of select="//row[2]/@a"/></m>'))
    made = Sheet.load(path).message(("a",), [("1",), ("2",)])
    assert made == b'<?xml version="1.0"?>\n<m n="2">2</m>\n'


def test_parameters_are_texts_whatever_they_hold() -> None:
    own = Sheet.load(
        sheet(
            '<xsl:param name="p"/><xsl:template match="/"><m><xsl:value-of select="$p"/></m></xsl:template>'
        )
    )
    made = own.message((), [], p="""it's "quoted" <&""")
    assert etree.fromstring(made).text == """it's "quoted" <&"""


@pytest.mark.parametrize(
    ("name", "value"), [("p", "\0"), ("p", "\ud800"), ("_input", "x"), ("profile_run", "x")]
)
def test_parameters_that_cannot_be(name: str, value: str) -> None:
    with pytest.raises(WorkloadError, match=f"the parameter '{name}': "):
        Sheet.load(body("<m/>")).message((), [], **{name: value})


def test_a_document_is_transformed_as_rows_are() -> None:
    own = Sheet.load(body('<m n="{count(//row)}"><xsl:value-of select="//@a"/></m>'))
    rows = [("1", "<&>"), ("2", "\n\t\r\"'")]
    document = rows_xml(("a", "b"), rows)
    assert own.transform(etree.fromstring(document)) == own.message(("a", "b"), rows)
    each = b"".join(row_xml({"a": a, "b": b}) for a, b in rows)
    assert document == b"<rows>" + each + b"</rows>"
    read = [dict(row.attrib) for row in etree.fromstring(document)]
    assert read == [{"a": a, "b": b} for a, b in rows]


def test_what_a_sheet_makes_may_be_too_much() -> None:
    own = Sheet.load(body("<m>0123456789</m>"), name="own.xsl")
    tree = etree.fromstring("<a/>")
    size = len(own.transform(tree))
    assert len(own.transform(tree, most=size)) == size
    with pytest.raises(
        WorkloadError, match=rf"own.xsl makes {size} bytes, more than {size - 1}"
    ) as e:
        own.transform(tree, most=size - 1)
    assert e.value.kind == "size"


def test_bytes_go_by_a_name() -> None:
    with pytest.raises(WorkloadError, match=r"mine\.xsl, line 1: "):
        Sheet.load(b"<a", name="mine.xsl")


@pytest.mark.parametrize("kind", ["import", "include"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_sheets_cannot_load_sheets(kind: str, scheme: str, tmp_path: Path) -> None:
    """libxslt would load it, access control or not."""
    secret = tmp_path / "other.xsl"
    secret.write_bytes(body("<secret/>"))
    with pytest.raises(WorkloadError, match=f"line 2: xsl:{kind} is refused"):
        Sheet.load(sheet(f'<xsl:{kind} href="{scheme}{secret}"/>'))


@pytest.mark.parametrize("address", ["{path}", "file://{path}", "http://localhost:9/", ""])
def test_sheets_cannot_read(address: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<secret/>")
    where = address.format(path=secret)
    with pytest.raises(WorkloadError, match="line 3: "):
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
def test_sheets_cannot_write(space: str, element: str, tmp_path: Path) -> None:
    target = tmp_path / "written.xml"
    names = f'href="{target}" file="{target}" select="\'{target}\'"'
    spaces = f' xmlns:e="{space}" extension-element-prefixes="e"'
    with pytest.raises(WorkloadError, match=r"denied|refused"):
        run(body(f"<m><e:{element} {names}><q/></e:{element}></m>", spaces))
    assert not target.exists()


def test_xsl_document_is_no_element_of_1_0(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="line 3: xsl:document is no element"):
        run(body(f'<xsl:document href="{tmp_path}/x"><q/></xsl:document>'))


@pytest.mark.parametrize("name", ["dates-and-times", "math", "random", "crypto", "dynamic"])
def test_sheets_have_no_clock_and_no_dice(name: str) -> None:
    with pytest.raises(WorkloadError, match=r"extension .* is refused"):
        Sheet.load(body("<m/>", spaces=f' xmlns:e="http://exslt.org/{name}"'))


def test_regular_expressions_are_not_there() -> None:
    with pytest.raises(WorkloadError):
        run(
            body(
                """<m><xsl:value-of select="e:test('a', 'a')"/></m>""",
                ' xmlns:e="http://exslt.org/regular-expressions"',
            )
        )


def test_entities_are_refused() -> None:
    before = '<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/hostname">]>'
    with pytest.raises(WorkloadError, match="document type is refused"):
        Sheet.load(sheet('<xsl:template match="/"><m>&e;</m></xsl:template>', before))


@pytest.mark.parametrize(
    ("inside", "said"),
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
def test_bad_sheets_say_what_and_where(inside: str, said: str) -> None:
    with pytest.raises(WorkloadError, match=said) as caught:
        run(body(inside))
    assert caught.value.kind == "sheet"


@pytest.mark.parametrize("text", [b"", b"<html/>", b"\xff\xfe", b"<a", sheet("<xsl:template")])
def test_what_is_no_sheet(text: bytes) -> None:
    with pytest.raises(WorkloadError):
        Sheet.load(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_sheet_or_an_error_of_ours(data: bytes) -> None:
    for text in (data, sheet("").replace(b"\n", data)):
        try:
            run(text)
        except WorkloadError:
            pass


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="No such file"):
        Sheet.load(tmp_path / "none.xsl")
    with pytest.raises(WorkloadError, match="null byte"):
        Sheet.load(f"{tmp_path}/\0.xsl")
    with pytest.raises(WorkloadError, match="there is no style sheet 'news'"):
        Sheet.bundled("news")


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
    with pytest.raises(WorkloadError, match="a row cannot be XML"):
        Sheet.load(body("<m/>")).message(fields, [values])


def test_bundled_sheets_are_read_once() -> None:
    for name in SHEETS:
        assert Sheet.bundled(name) is Sheet.bundled(name)
