"""Random small DTDs: all forms of content, recursion, attributes of all types.

A name occurs at most once in a content model, so every model is deterministic, as XML requires and
libxml2 checks.
"""

from __future__ import annotations

from hypothesis import strategies as st

from pathcast.schema import Child, Choice, Content, Occurs, Sequence

__all__ = ["contents", "dtds"]

_OCCURS = st.sampled_from(
    [Occurs.ONCE, Occurs.ONCE, Occurs.OPTIONAL, Occurs.ANY, Occurs.SOME],
)
_ATTRIBUTES = (
    "CDATA #IMPLIED",
    "CDATA #REQUIRED",
    "CDATA #FIXED 'a &lt; &quot;b&quot; &amp; c'",
    "CDATA 'usual'",
    "NMTOKEN #IMPLIED",
    "NMTOKEN #REQUIRED",
    "NMTOKENS #IMPLIED",
    "NMTOKENS 'x y'",
    "ID #IMPLIED",
    "ID #REQUIRED",
    "IDREF #IMPLIED",
    "IDREF #REQUIRED",
    "IDREFS #IMPLIED",
    "ENTITY #IMPLIED",
    "(red | green | blue) #IMPLIED",
    "(red | green) #REQUIRED",
    "(yes | no) 'no'",
    "NOTATION (gif | png) #IMPLIED",
)


@st.composite
def contents(draw: st.DrawFn, names: list[str], depth: int = 2) -> Content:
    """Draw a content model with each of the names at most once."""
    if len(names) == 1 or depth == 0:
        return Child(names[0], draw(_OCCURS))
    size = draw(st.integers(1, min(3, len(names))))
    groups: list[list[str]] = [names[start::size] for start in range(size)]
    parts = tuple(draw(contents(group, depth - 1)) for group in groups)
    occurs = draw(_OCCURS)
    return Choice(parts, occurs) if draw(st.booleans()) else Sequence(parts, occurs)


@st.composite
def dtds(draw: st.DrawFn) -> str:
    """Draw the text of a DTD whose root is e0."""
    names = [f"e{number}" for number in range(draw(st.integers(1, 6)))]
    lines = ['<!NOTATION gif SYSTEM "g">', '<!NOTATION png SYSTEM "p">']
    for name in names:
        children = draw(st.lists(st.sampled_from(names), unique=True, max_size=4))
        kind = draw(st.sampled_from(["children", "children", "children", "mixed", "EMPTY", "ANY"]))
        model = kind
        if kind == "mixed" or (kind == "children" and not children):
            model = f"(#PCDATA{''.join(f' | {child}' for child in children)})*"
        elif kind == "children":
            model = str(draw(contents(children)))
            model = model if model.startswith("(") else f"({model})"
        lines.append(f"<!ELEMENT {name} {model}>")
        seen: set[str] = set()
        for number, declaration in enumerate(
            draw(st.lists(st.sampled_from(_ATTRIBUTES), max_size=3))
        ):
            word = declaration.split()[0]
            once = word in ("ID", "NOTATION")
            if (once and word in seen) or (word == "NOTATION" and model == "EMPTY"):
                continue
            seen.add(word)
            lines.append(f"<!ATTLIST {name} a{number} {declaration}>")
    return "\n".join(lines)
