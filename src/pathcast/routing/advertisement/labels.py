"""Labels of advertisement states: each is a set of element names.

A name is a namespace and a local name. Three kinds of labels occur:

- exact names, in inferred advertisements: `{urn:p}a` only;
- names as a DTD writes them. A DTD has prefixes and no namespaces, so `cap:alert` may be in every
  namespace that the DTD allows for the prefix, and in every namespace at all if the DTD declares
  none (see `schema.satisfiability.namespaces`, which never returns too few);
- the wildcard of the paper's notation, which contains every name.

>>> alert = ElementLabel("alert", None, "cap")
>>> ElementLabel("a").has("", "a"), alert.has("urn:oasis:cap", "alert"), str(alert)
(True, True, 'cap:alert')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pathcast.errors import FormatError
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["ANY", "ElementLabel", "split_clark_name"]

_NO_NAMESPACE: Final = frozenset({""})


@dataclass(frozen=True, slots=True)
class ElementLabel:
    """A set of element names: the product of local names and namespaces."""

    local: str | None  # None: every local name
    spaces: frozenset[str] | None = _NO_NAMESPACE  # None: every namespace; "": no namespace
    prefix: str = ""  # as in the DTD, for display

    def has(self, space: str, local: str) -> bool:
        """Return whether the label contains a name."""
        return self.local in (None, local) and (self.spaces is None or space in self.spaces)

    def passes(self, test: Test) -> bool:
        """Return whether some name of the label passes a node test."""
        match test.kind:
            case TestKind.ANY | TestKind.NODE:
                return True
            case TestKind.ANY_IN:
                return self.spaces is None or test.name in self.spaces
            case TestKind.NAME:
                return self.has(*split_clark_name(test.name))
            case _:
                return False

    @property
    def order(self) -> tuple[bool, str, str, bool, tuple[str, ...]]:
        """The sort key: local name first."""
        spaces = tuple(sorted(self.spaces or ()))
        return (self.local is None, self.local or "", self.prefix, self.spaces is None, spaces)

    def __str__(self) -> str:
        """Return the name with its DTD prefix, or in Clark notation."""
        local = self.local or "*"
        if self.prefix:
            return f"{self.prefix}:{local}"
        if self.spaces is not None and self.spaces != _NO_NAMESPACE and len(self.spaces) == 1:
            return f"{{{next(iter(self.spaces))}}}{local}"
        return local

    @property
    def exact(self) -> str:
        """The name, preceded by its namespaces unless `str` implies them."""
        implied = None if self.prefix or self.local is None else _NO_NAMESPACE
        if self.spaces == implied or (not self.prefix and str(self).startswith("{")):
            return str(self)
        spaces = "*" if self.spaces is None else " ".join(sorted(self.spaces))
        return f"{{{spaces}}}{self}"

    def to_json(self) -> object:
        """Return a string for an exact name, else a list: local name, prefix, namespaces."""
        if self.local is not None and not self.prefix and self.spaces and len(self.spaces) == 1:
            return str(self)
        spaces = None if self.spaces is None else sorted(self.spaces)
        return [self.local, self.prefix, spaces]

    @classmethod
    def from_json(cls, value: object) -> ElementLabel:
        """Return the label of a value from `to_json`; raise FormatError."""
        match value:
            case str() if value:
                space, local = split_clark_name(value)
                return cls(local, frozenset({space}))
            case [str() | None as local, str(prefix), None]:
                return cls(local, None, prefix)
            case [str() | None as local, str(prefix), list(spaces)] if spaces and all(
                isinstance(space, str) for space in spaces
            ):
                return cls(local, frozenset(spaces), prefix)
            case _:
                raise FormatError("advertisement", f"no name of an element: {value!r:.60}")


ANY: Final = ElementLabel(None, None)


def split_clark_name(clark: str) -> tuple[str, str]:
    """Return the namespace and the local name of a name in Clark notation."""
    space, _, local = clark.rpartition("}")
    return space[1:], local
