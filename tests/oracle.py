"""The oracle of matching: libxml2, on one expression and one document at a time.

A document matches E when `boolean(/self::node()[boolean(E)])` is true, with every relative location
path of E outside predicates made absolute by `/descendant-or-self::node()/`. The rewrite works on
tokens of its own tokenizer, so that a mistake in the parser of `pathcast` cannot occur in both.
Nothing of `pathcast` is imported.

Where libxml2 accepts more than XPath 1.0 (`///a`, `a orb` for `a or b`), the tokenizer rejects it.

A location path starts where an operand may start (at the beginning, after `(`, `[`, `,` or an
operator) with a name, `*`, `@`, `.` or `..`, unless the name calls a function. A token after `/`
continues a path.

>>> absolute("count(a) > 1 and id('x')/a[b]")
"count(/descendant-or-self::node()/a) > 1 and id('x')/a[b]"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

__all__ = ["Refused", "absolute", "document", "expression", "holds", "oracle", "refuses", "tokens"]

ANYWHERE = "/descendant-or-self::node()/"

_START = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NCNAME = f"[{_START}][-.0-9\u00b7\u0300-\u036f\u203f\u2040{_START}]*"
_EXPONENT = "(?:[eE][-+]?[0-9]*)?"  # libxml2's extension of the grammar, `1e` included
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
    |(?P<literal>"[^"]*"|'[^']*')
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT})
    |(?P<name>{_NCNAME}(?::(?:{_NCNAME}|\*))?)
    |(?P<variable>\${_NCNAME}(?::{_NCNAME})?)
    |(?P<symbol>//|::|\.\.|!=|<=|>=|[-/.@,()\[\]|+=<>*])""",
    re.VERBOSE,
)
_OPERATORS = frozenset(["|", "+", "-", "=", "!=", "<", "<=", ">", ">="])
_NAMED_OPERATORS = frozenset(["and", "or", "div", "mod"])
_NODE_TYPES = frozenset(["comment", "text", "processing-instruction", "node"])
_FUNCTIONS = frozenset(
    "boolean ceiling concat contains count false floor id lang last local-name name namespace-uri "
    "normalize-space not number position round starts-with string string-length substring "
    "substring-after substring-before sum translate true".split()
)
_PARSER = etree.XMLParser(
    resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False
)


class Refused(Exception):
    """libxml2, or the token rules of XPath 1.0, reject the expression."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token after disambiguation: `role` separates operators from names, calls from tests."""

    role: str  # literal number variable operator function type axis name symbol
    text: str
    start: int
    operand: bool  # an operand may start here


def tokens(text: str) -> list[Token]:
    """Return the tokens of an expression, with their roles by section 3.7 of XPath 1.0."""
    raw = list(_raw(text))
    result: list[Token] = []
    for index, (kind, word, start) in enumerate(raw):
        previous = result[-1] if result else None
        operand = (
            previous is None or previous.role == "operator" or previous.text in ("(", "[", ",")
        )
        step = previous is not None and previous.text in ("/", "//", "@", "::") and not operand
        following = raw[index + 1][1] if index + 1 < len(raw) else ""
        if previous is not None and previous.text in ("/", "//") and word in ("/", "//"):
            raise Refused("a slash after a slash")  # libxml2 accepts several
        if kind == "name" and not (operand or step):
            if word not in _NAMED_OPERATORS:
                raise Refused(f"{word!r} where an operator belongs")
            role = "operator"
        elif kind == "name" and following == "(":
            role = "type" if word in _NODE_TYPES else "function"
        elif kind == "name":
            role = "axis" if following == "::" else "name"
        elif kind == "symbol" and (word in _OPERATORS or (word == "*" and not (operand or step))):
            role = "operator"
        else:
            role = kind
        result.append(Token(role, word, start, operand))
    return result


def _raw(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Refused(f"no token at {position}")
        if match.lastgroup != "space":
            yield str(match.lastgroup), match.group(), position
        position = match.end()


def absolute(text: str) -> str:
    """Return the expression with its relative paths outside predicates made absolute."""
    parts: list[str] = []
    done = depth = 0
    for token in tokens(text):
        if token.text == "[" and token.role == "symbol":
            depth += 1
        elif token.text == "]" and token.role == "symbol":
            depth -= 1
        elif depth == 0 and token.operand and _opens_path(token):
            parts += (text[done : token.start], ANYWHERE)
            done = token.start
    return "".join([*parts, text[done:]])


def _opens_path(token: Token) -> bool:
    if token.role == "symbol":
        return token.text in ("*", "@", ".", "..")
    return token.role in ("name", "type", "axis")


def expression(text: str, namespaces: Mapping[str, str] | None = None) -> etree.XPath:
    """Return the compiled query that decides `text`; raise Refused if libxml2 rejects it."""
    return _expression(text, tuple(sorted((namespaces or {}).items())))


@lru_cache(maxsize=20_000)
def _expression(text: str, namespaces: tuple[tuple[str, str], ...]) -> etree.XPath:
    prefixes = dict(namespaces) or None
    try:
        # On its own first: `a)][(b` would become balanced inside the query.
        etree.XPath(text, namespaces=prefixes, regexp=False)
        query = f"boolean(/self::node()[boolean({absolute(text)})])"
        return etree.XPath(query, namespaces=prefixes, regexp=False, smart_strings=False)
    except (etree.XPathError, ValueError) as error:
        raise Refused(str(error)) from error


@lru_cache(maxsize=256)
def document(body: bytes) -> etree._ElementTree:
    """Return the document, parsed by lxml with its default options, without its DOCTYPE.

    XPath has no node for a DOCTYPE, but libxml2's descendant axes and string(/) include it.
    """
    tree = etree.fromstring(body, _PARSER).getroottree()
    tree.docinfo.clear()
    return tree


def holds(query: etree.XPath, tree: etree._ElementTree) -> bool:
    """Whether a compiled query is true of a parsed document."""
    try:
        return bool(query(tree))
    except etree.XPathError as error:
        raise Refused(str(error)) from error


def oracle(text: str, namespaces: Mapping[str, str] | None, body: bytes) -> bool:
    """Whether the document matches the subscription, by libxml2."""
    return holds(expression(text, namespaces), document(body))


def refuses(
    text: str, namespaces: Mapping[str, str] | None, trees: Iterable[etree._ElementTree]
) -> bool:
    """Whether libxml2 rejects the expression, at compilation or during evaluation.

    Functions, variables and prefixes are checked here: libxml2 resolves them only where evaluation
    reaches them.
    """
    try:
        query = expression(text, namespaces)
        for token in tokens(text):
            if token.role == "variable" or (
                token.role == "function" and token.text not in _FUNCTIONS
            ):
                return True
            prefix, colon, _ = token.text.partition(":")
            if colon and token.role == "name" and prefix not in {"xml", *(namespaces or {})}:
                return True
        for tree in trees:
            holds(query, tree)
    except Refused:
        return True
    return False
