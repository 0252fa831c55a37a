"""The core function library of XPath 1.0 (recommendation, chapter 4): signatures.

There are no variables, so every expression has a static type. A call with wrong arguments is an
error when the subscription is parsed, not when libxml2 evaluates it on a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["FUNCTIONS", "UNSUPPORTED_FUNCTIONS", "Signature", "XPathType"]


class XPathType(Enum):
    """The four types of XPath 1.0."""

    NODES = "node-set"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's result type and arity; `nodes`: its arguments must be node-sets."""

    result: XPathType
    min_arguments: int
    max_arguments: int | None
    nodes: bool = False


FUNCTIONS: dict[str, Signature] = {
    "last": Signature(XPathType.NUMBER, 0, 0),
    "position": Signature(XPathType.NUMBER, 0, 0),
    "count": Signature(XPathType.NUMBER, 1, 1, nodes=True),
    "id": Signature(XPathType.NODES, 1, 1),
    "local-name": Signature(XPathType.STRING, 0, 1, nodes=True),
    "namespace-uri": Signature(XPathType.STRING, 0, 1, nodes=True),
    "name": Signature(XPathType.STRING, 0, 1, nodes=True),
    "string": Signature(XPathType.STRING, 0, 1),
    "concat": Signature(XPathType.STRING, 2, None),
    "starts-with": Signature(XPathType.BOOLEAN, 2, 2),
    "contains": Signature(XPathType.BOOLEAN, 2, 2),
    "substring-before": Signature(XPathType.STRING, 2, 2),
    "substring-after": Signature(XPathType.STRING, 2, 2),
    "substring": Signature(XPathType.STRING, 2, 3),
    "string-length": Signature(XPathType.NUMBER, 0, 1),
    "normalize-space": Signature(XPathType.STRING, 0, 1),
    "translate": Signature(XPathType.STRING, 3, 3),
    "boolean": Signature(XPathType.BOOLEAN, 1, 1),
    "not": Signature(XPathType.BOOLEAN, 1, 1),
    "true": Signature(XPathType.BOOLEAN, 0, 0),
    "false": Signature(XPathType.BOOLEAN, 0, 0),
    "lang": Signature(XPathType.BOOLEAN, 1, 1),
    "number": Signature(XPathType.NUMBER, 0, 1),
    "sum": Signature(XPathType.NUMBER, 1, 1, nodes=True),
    "floor": Signature(XPathType.NUMBER, 1, 1),
    "ceiling": Signature(XPathType.NUMBER, 1, 1),
    "round": Signature(XPathType.NUMBER, 1, 1),
}

UNSUPPORTED_FUNCTIONS: dict[str, str] = {
    "matches": "regular expressions are not part of XPath 1.0: use contains() or starts-with()",
    "ends-with": "XPath 1.0 has no ends-with(): use "
    "substring(s, string-length(s) - string-length(t) + 1) = t",
    "lower-case": "XPath 1.0 has no lower-case(): use translate(s, 'ABC...', 'abc...')",
    "upper-case": "XPath 1.0 has no upper-case(): use translate(s, 'abc...', 'ABC...')",
    "exists": "XPath 1.0 has no exists(): a path is true when it selects something",
    "empty": "XPath 1.0 has no empty(): write not(path)",
    "document": "a subscription sees only the document at hand",
    "doc": "a subscription sees only the document at hand",
    "max": "XPath 1.0 has no max(): write path[not(. < ../path)]",
    "min": "XPath 1.0 has no min(): write path[not(. > ../path)]",
    "current": "current() belongs to XSLT, not to XPath 1.0",
    "key": "key() belongs to XSLT, not to XPath 1.0",
}
