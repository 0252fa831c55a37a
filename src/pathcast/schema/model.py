"""Declarations of a DTD as frozen values: elements, content models, attributes.

Names are spelt as in the DTD, prefix included (`mml:math`), since DTDs have no namespaces. A
content model is a regular expression over names:

>>> model = Sequence((Child("title"), Child("author", Occurs.SOME)))
>>> str(model), list(names_of(model))
('(title, author+)', ['title', 'author'])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

__all__ = [
    "Attribute",
    "AttributeType",
    "Child",
    "Choice",
    "Content",
    "ContentKind",
    "Default",
    "Element",
    "Occurs",
    "Sequence",
    "names_of",
]


class Occurs(Enum):
    """Occurrence indicator of a part of a content model."""

    ONCE = ""
    OPTIONAL = "?"
    ANY = "*"
    SOME = "+"

    @property
    def may_be_absent(self) -> bool:
        return self in (Occurs.OPTIONAL, Occurs.ANY)

    @property
    def may_repeat(self) -> bool:
        return self in (Occurs.ANY, Occurs.SOME)


@dataclass(frozen=True, slots=True)
class Child:
    """A child element, by name."""

    name: str
    occurs: Occurs = Occurs.ONCE

    def __str__(self) -> str:
        return self.name + self.occurs.value


@dataclass(frozen=True, slots=True)
class Sequence:
    """All parts, in this order."""

    parts: tuple[Content, ...]
    occurs: Occurs = Occurs.ONCE

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))}){self.occurs.value}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of the parts."""

    parts: tuple[Content, ...]
    occurs: Occurs = Occurs.ONCE

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.parts))}){self.occurs.value}"


Content = Child | Sequence | Choice


def names_of(content: Content | None) -> Iterator[str]:
    """Yield the names in a content model, in order, one for each occurrence."""
    waiting: list[Content] = [] if content is None else [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Child):
            yield part.name
        else:
            waiting += reversed(part.parts)


class ContentKind(Enum):
    """Kind of an element's content."""

    EMPTY = "EMPTY"
    ANY = "ANY"
    MIXED = "mixed"
    CHILDREN = "children"

    @property
    def allows_text(self) -> bool:
        """Whether the element may contain text other than white space."""
        return self in (ContentKind.ANY, ContentKind.MIXED)


class AttributeType(Enum):
    """Attribute types of XML 1.0, section 3.3.1; the values are lxml's names."""

    CDATA = "cdata"
    ID = "id"
    IDREF = "idref"
    IDREFS = "idrefs"
    ENTITY = "entity"
    ENTITIES = "entities"
    NMTOKEN = "nmtoken"
    NMTOKENS = "nmtokens"
    ENUMERATION = "enumeration"
    NOTATION = "notation"


class Default(Enum):
    """Default declaration of an attribute."""

    REQUIRED = "required"
    IMPLIED = "implied"
    FIXED = "fixed"
    VALUE = "none"  # lxml's name for a plain default value


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute; `value` is its default or fixed value.

    `values` are the choices of an enumeration or a notation.
    """

    name: str
    type: AttributeType
    default: Default
    value: str | None = None
    values: tuple[str, ...] = ()

    @property
    def declares_namespace(self) -> bool:
        """Whether it is xmlns or xmlns:prefix, which is no attribute in XPath."""
        return self.name == "xmlns" or self.name.startswith("xmlns:")


@dataclass(frozen=True, slots=True)
class Element:
    """A declared element.

    `content` is the model of CHILDREN, or the repeated choice of MIXED if it allows children.
    """

    name: str
    kind: ContentKind
    content: Content | None = None
    attributes: tuple[Attribute, ...] = ()

    @property
    def model(self) -> str:
        """The content model in DTD syntax."""
        match self.kind:
            case ContentKind.MIXED:
                inner = "".join(f" | {name}" for name in names_of(self.content))
                return f"(#PCDATA{inner})" + ("*" if inner else "")
            case ContentKind.CHILDREN:
                text = str(self.content)
                return text if text.startswith("(") else f"({text})"
            case _:
                return str(self.kind.value)
