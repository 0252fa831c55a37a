"""Checks of the namespace declarations of subscribers."""

from __future__ import annotations

from pathcast.errors import SubscriptionError
from pathcast.xpath.lexer import FORBIDDEN_CHARACTER, is_ncname

__all__ = ["XML_NAMESPACE", "check_namespace"]

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"


def check_namespace(prefix: object, uri: object) -> None:
    """Raise SubscriptionError if a declaration is invalid; the arguments may be any objects."""
    if not isinstance(prefix, str) or not is_ncname(prefix):
        raise SubscriptionError(
            "namespace",
            f"{prefix!r} cannot be a prefix",
            hint="XPath 1.0 has no default namespace: declare a prefix and write prefix:name",
        )
    if not isinstance(uri, str) or not uri:
        message = f"prefix {prefix!r} needs a namespace, not {uri!r}"
        raise SubscriptionError("namespace", message)
    if (bad := FORBIDDEN_CHARACTER.search(uri)) is not None:
        message = f"no namespace can hold the character U+{ord(bad.group()):04X}"
        raise SubscriptionError("namespace", message)
    if (prefix == "xml") is not (uri == XML_NAMESPACE):
        message = f"the prefix xml and the namespace {XML_NAMESPACE} belong together, always"
        raise SubscriptionError("namespace", message)
