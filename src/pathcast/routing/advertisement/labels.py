"""Labels: which elements a state of an advertisement stands for.

A label is a set of element names, each a namespace and a local name. Three sorts occur:

- exact ones, of advertisements that were inferred: `{urn:p}a` and nothing else;
- names as a DTD writes them. A DTD has prefixes and no namespaces, so `cap:alert` may be in any namespace that the DTD allows for its prefix,
  and in any at all where it says nothing (as `schema.satisfiability.namespaces` has it: never too few);
- the wildcard of the paper's notation, for every name.

Two names that a label has are never told apart: whoever asks whether an element may be there asks `has` or `passes`.

>>> Label("a").has("", "a"), Label("alert", None, "cap").has("urn:oasis:cap", "alert"), str(Label("alert", None, "cap"))
(True, True, 'cap:alert')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pathcast.errors import FormatError
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["ANY", "ElementLabel", "split"]

_NONE: Final = frozenset({""})  # no namespace, and only that


@dataclass(frozen=True, slots=True)
class ElementLabel:
    """`local` None: every name; `spaces` None: every namespace ("" is none). `prefix` is how a DTD writes it."""

    local: str | None
    spaces: frozenset[str] | None = _NONE
    prefix: str = ""

    def has(self, space: str, local: str) -> bool:
        """Whether an element of this name may be there."""
        return self.local in (None, local) and (self.spaces is None or space in self.spaces)

    def passes(self, test: Test) -> bool:
        """Whether some element of this label passes a node test."""
        match test.kind:
            case TestKind.ANY | TestKind.NODE:
                return True
            case TestKind.ANY_IN:
                return self.spaces is None or test.name in self.spaces
            case TestKind.NAME:
                return self.has(*split(test.name))
            case _:
                return False

    @property
    def order(self) -> tuple[bool, str, str, bool, tuple[str, ...]]:
        """By this, labels are sorted: by name first."""
        spaces = tuple(sorted(self.spaces or ()))
        return (self.local is None, self.local or "", self.prefix, self.spaces is None, spaces)

    def __str__(self) -> str:
        """The name as a DTD, or Clark, would write it."""
        local = self.local or "*"
        if self.prefix:
            return f"{self.prefix}:{local}"
        if self.spaces is not None and self.spaces != _NONE and len(self.spaces) == 1:
            return f"{{{next(iter(self.spaces))}}}{local}"
        return local

    @property
    def exact(self) -> str:
        """The name with its namespaces in front, where it does not say them itself."""
        usual = None if self.prefix or self.local is None else _NONE
        if self.spaces == usual or (not self.prefix and str(self).startswith("{")):
            return str(self)
        spaces = "*" if self.spaces is None else " ".join(sorted(self.spaces))
        return f"{{{spaces}}}{self}"

    def to_json(self) -> object:
        """A string for an exact name, else a list: local name, prefix, namespaces."""
        if self.local is not None and not self.prefix and self.spaces and len(self.spaces) == 1:
            return str(self)
        spaces = None if self.spaces is None else sorted(self.spaces)
        return [self.local, self.prefix, spaces]

    @classmethod
    def from_json(cls, value: object) -> ElementLabel:
        """What `to_json` gave; raises FormatError."""
        match value:
            case str() if value:
                space, local = split(value)
                return cls(local, frozenset({space}))
            case [str() | None as local, str(prefix), None]:
                return cls(local, None, prefix)
            case [str() | None as local, str(prefix), list(spaces)] if spaces and all(
                isinstance(one, str) for one in spaces
            ):
                return cls(local, frozenset(spaces), prefix)
            case _:
                raise FormatError("advertisement", f"no name of an element: {value!r:.60}")


ANY: Final = ElementLabel(None, None)


def split(clark: str) -> tuple[str, str]:
    """The namespace and the local name of `{uri}local`."""
    space, _, local = clark.rpartition("}")
    return space[1:], local
