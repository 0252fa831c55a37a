"""Hypothesis strategies for documents as text, with all constructs of XML.

They write text rather than trees, because entities, CDATA and character references exist only in
text.
"""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["DOCTYPE", "documents", "encoded_documents"]

DOCTYPE = (
    '<!DOCTYPE a [<!ENTITY t "some &#38;amp; text"><!ENTITY z ""><!ENTITY q "&t;&t;">'
    '<!ENTITY m "x<b k=\'1\'>y</b><!--k--><?o u?>z"><!ENTITY c "<![CDATA[]]>">'
    "<!ENTITY n '&m;<c/>'>]>"
)
_NAMES = st.sampled_from(["a", "b", "c", "p:a", "q:b", "\u00e9t\u00e9", "a-b.c"])
_ATTRIBUTES = st.sampled_from(["k", "l", "p:k", "q:k", "xml:lang", "xml:space", "\u00e9"])
_DECLARATIONS = st.sampled_from(
    ['xmlns="urn:d"', 'xmlns=""', 'xmlns:p="urn:other"', 'xmlns:r="urn:r&amp;"', "xmlns:q='urn:p'"]
)
_LETTERS = [
    "x",
    " ",
    "\n",
    "\t",
    "0",
    "]",
    "&gt;",
    "-=",
    "\u00e9",
    "\u20ac",
    "&amp;",
    "&lt;",
    "&#65;",
]
_CHARACTERS = st.lists(st.sampled_from(_LETTERS), min_size=1, max_size=5).map("".join)
_ENTITIES = st.sampled_from(["&t;", "&z;", "&q;", "&m;", "&c;", "&n;"])
_CDATA = st.sampled_from(["", "x", "<b k='1' l='2'>", "]]", "&t;", "<!-- -->"]).map(
    "<![CDATA[{}]]>".format
)
_COMMENTS = st.sampled_from(
    ["", "x", "<b k='1' l='2' m=\"3\">", "<b", "</b>", "&t;", "<![CDATA["]
).map("<!--{}-->".format)
_INSTRUCTIONS = st.sampled_from(["t", "t ", "t x", "t <b k='1' l='2'>", "u k='>'"]).map(
    "<?{}?>".format
)


@st.composite
def _start_tags(draw: st.DrawFn, root: bool = False) -> tuple[str, str]:
    """Draw a name, and its start tag without the closing `>`."""
    name = draw(_NAMES)
    parts = draw(
        st.lists(
            st.tuples(
                _ATTRIBUTES,
                st.sampled_from(["", "x", "1=2", ">", "&t;", "&q;", "a  b\n", "&#10;"]),
            ),
            max_size=3,
            unique_by=lambda pair: pair[0].removeprefix("p:").removeprefix("q:"),
        )
    )
    attributes = [f' {key}="{value}"' for key, value in parts]
    if root:
        attributes.append(" xmlns:p='urn:p' xmlns:q='urn:q'")
    elif draw(st.integers(0, 3)) == 0:
        attributes.append(" " + draw(_DECLARATIONS))
    return name, f"<{name}{''.join(attributes)}"


def _content(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pieces = st.one_of(_CHARACTERS, inner, _ENTITIES, _CDATA, _COMMENTS, _INSTRUCTIONS)
    return st.lists(pieces, max_size=5).map("".join)


@st.composite
def _elements(draw: st.DrawFn, inner: st.SearchStrategy[str], root: bool = False) -> str:
    name, start = draw(_start_tags(root))
    content = draw(_content(inner))
    if not content and draw(st.booleans()):
        return f"{start}/>"
    return f"{start}>{content}</{name}>"


_SMALL = _elements(st.just("<c/>"))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a well-formed document that declares its internal entities."""
    beside = st.lists(st.one_of(_COMMENTS, _INSTRUCTIONS, st.just("\n")), max_size=2).map("".join)
    before, between, after = draw(beside), draw(beside), draw(beside)
    root = draw(_elements(st.recursive(_SMALL, _elements, max_leaves=6), root=True))
    doctype = DOCTYPE if "&" in root or draw(st.booleans()) else ""
    return f"{before}{doctype}{between}{root}{after}"


@st.composite
def encoded_documents(draw: st.DrawFn) -> bytes:
    """Draw a well-formed document in bytes, in a declared or detectable encoding."""
    text = draw(documents())
    encoding = draw(
        st.sampled_from(["", "utf-8", "utf-16", "utf-16-le", "utf-32", "iso-8859-15", "utf-7"])
    )
    if not encoding:
        return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])))
    declared = "utf-16" if encoding == "utf-16-le" else encoding
    head = f'<?xml version="1.0" encoding="{declared}"?>'
    if encoding == "utf-7":
        return head.encode() + text.encode("utf-7")
    return (head + text).encode(encoding)
