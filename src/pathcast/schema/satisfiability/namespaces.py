"""Namespaces of a DTD's names: which node tests can an element or attribute pass?

A DTD has spelt names, XPath has namespaces; the xmlns attributes that the DTD declares connect
them. A valid document may bind a prefix only where such an attribute is declared: to its fixed
value, or to any value if it is not fixed. `may_match` is never wrongly False, `must_match` never
wrongly True:

- An unprefixed element is in no namespace. If the DTD declares an xmlns attribute anywhere, it may
  also be in that namespace (the place of the declaration is ignored).
- A prefixed name is in a namespace that some xmlns:prefix attribute allows, or in any if none is
  declared.
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.schema.model import Attribute, Default, Element
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["DtdNamespaces"]


class DtdNamespaces:
    """Namespaces that the prefixes of one DTD may be bound to."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._uris: dict[str, set[str] | None] = {}  # prefix -> namespaces; None: any
        self._uris["xml"] = {XML_NAMESPACE}
        for element in elements:
            for attribute in element.attributes:
                if attribute.declares_namespace:
                    self._declare(attribute)

    def _declare(self, declaration: Attribute) -> None:
        prefix = declaration.name.partition(":")[2]
        uris = self._uris.setdefault(prefix, set())
        if declaration.default is Default.FIXED and uris is not None:
            uris.add(declaration.value or "")
        else:
            self._uris[prefix] = None

    def may_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        """Return whether an element (or attribute) of this name can pass the test.

        A test may also have a name in the DTD's spelling, with its prefix.
        """
        if test.name == name:
            return True
        prefix, _, local = name.rpartition(":")
        match test.kind:
            case TestKind.ANY | TestKind.NODE:
                return True
            case TestKind.ANY_IN:
                return self._may_be_in(test.name, prefix, attribute)
            case TestKind.NAME:
                uri, local_test = _split_clark(test.name)
                return local_test == local and self._may_be_in(uri, prefix, attribute)
            case _:
                return False

    def must_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        """Return whether an element (or attribute) of this name always passes the test."""
        if test.kind in (TestKind.ANY, TestKind.NODE):
            return True
        if test.kind is not TestKind.NAME or test.name.startswith("{") or ":" in name:
            return False
        return test.name == name and (attribute or "" not in self._uris)

    def namespaces_of(self, name: str) -> frozenset[str] | None:
        """Return the namespaces that such an element may have, "" for none; None for any."""
        prefix = name.rpartition(":")[0]
        uris = self._uris.get(prefix, None if prefix else set())
        return None if uris is None else frozenset(uris if prefix else {"", *uris})

    def _may_be_in(self, uri: str, prefix: str, attribute: bool) -> bool:
        if not prefix and (not uri or attribute):
            return not uri
        uris = self._uris.get(prefix, None if prefix else set())
        return uris is None or uri in uris


def _split_clark(clark: str) -> tuple[str, str]:
    uri, _, local = clark.rpartition("}")
    return uri[1:], local
