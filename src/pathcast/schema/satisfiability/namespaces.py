"""Which node tests an element or attribute of a DTD may pass, namespaces considered.

A DTD has spelled names; XPath has namespaces. They meet in the xmlns attributes that the DTD declares: a
valid document may bind a prefix only where such an attribute is declared, to its fixed value or to whatever it
likes. `may_match` is never wrongly False, `must_match` never wrongly True:

* an unprefixed element is in no namespace, unless the DTD declares an xmlns attribute somewhere: then it may be in
  those as well (where exactly is not followed up);
* a prefixed name is in a namespace that some xmlns:prefix attribute allows, in any at all if none is declared.
"""

from __future__ import annotations

from collections.abc import Iterable

from pathcast.schema.model import Attribute, Default, Element
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["DtdNamespaces"]


class DtdNamespaces:
    """What is known of the namespaces of one DTD's names."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._uris: dict[str, set[str] | None] = {}  # prefix -> namespaces; None: any
        self._uris["xml"] = {XML_NAMESPACE}
        for element in elements:
            for one in element.attributes:
                if one.declares_namespace:
                    self._declare(one)

    def _declare(self, one: Attribute) -> None:
        prefix = one.name.partition(":")[2]
        known = self._uris.setdefault(prefix, set())
        if one.default is Default.FIXED and known is not None:
            known.add(one.value or "")
        else:
            self._uris[prefix] = None

    def may_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        """Whether an element (or attribute) of this name can pass the test in some document."""
        prefix, _, local = name.rpartition(":")
        match test.kind:
            case TestKind.ANY | TestKind.NODE:
                return True
            case TestKind.ANY_IN:
                return self._may_be_in(test.name, prefix, attribute)
            case TestKind.NAME:
                uri, wanted = _split(test.name)
                return wanted == local and self._may_be_in(uri, prefix, attribute)
            case _:
                return False

    def must_match(self, test: Test, name: str, *, attribute: bool = False) -> bool:
        """Whether an element (or attribute) of this name passes the test in every document."""
        if test.kind in (TestKind.ANY, TestKind.NODE):
            return True
        if test.kind is not TestKind.NAME or test.name.startswith("{") or ":" in name:
            return False
        return test.name == name and (attribute or "" not in self._uris)

    def namespaces_of(self, name: str) -> frozenset[str] | None:
        """The namespaces in which an element of this name may be, "" for none; None: in any."""
        prefix = name.rpartition(":")[0]
        known = self._uris.get(prefix, None if prefix else set())
        return None if known is None else frozenset(known if prefix else {"", *known})

    def _may_be_in(self, uri: str, prefix: str, attribute: bool) -> bool:
        if not prefix and (not uri or attribute):
            return not uri
        known = self._uris.get(prefix, None if prefix else set())
        return known is None or uri in known


def _split(clark: str) -> tuple[str, str]:
    uri, _, local = clark.rpartition("}")
    return uri[1:], local
