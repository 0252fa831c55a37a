"""Lexer: XPath text to tokens with positions.

Regular expressions alone cannot tokenize XPath 1.0. `*` is a wildcard or a multiplication, and
`and`, `or`, `div`, `mod` are names or operators, depending on the token before (recommendation,
section 3.7). So the lexer looks at the previous token, and at the text after a name: an opening
parenthesis makes it a function or a node type, two colons make it an axis.

Numbers may have an exponent (`1e6`), as in libxml2. Names have the characters that libxml2 accepts
(`name_characters`). Everything else follows XPath 1.0.

>>> [f"{token.kind}:{token.text}" for token in tokenize("div div *")]
['name:div', 'operator:div', 'wildcard:*', 'end:']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from pathcast.errors import SubscriptionError
from pathcast.xpath.name_characters import CONTINUATION_CLASS, START_CLASS

__all__ = ["FORBIDDEN_CHARACTER", "Token", "is_ncname", "tokenize"]

_NCNAME = f"[{START_CLASS}][{CONTINUATION_CLASS}]*"
_SPACE = " \t\r\n"
_TOKEN = re.compile(
    rf"(?P<space>[{_SPACE}]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]*)?)"
    r"""|(?P<literal>"[^"]*"|'[^']*')"""
    rf"|(?P<name>{_NCNAME}(?::(?:{_NCNAME}|\*))?(?!:[^:]))"
    r"|(?P<symbol>\.\.|::|//|!=|<=|>=|[()\[\].@,/|+=<>*$-])"
)
FORBIDDEN_CHARACTER = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
)  # XML 1.0, 2.2
_NCNAME_ONLY = re.compile(rf"{_NCNAME}\Z")
_OPERATOR_NAMES = frozenset({"and", "or", "div", "mod"})
_OPERATORS = frozenset({"/", "//", "|", "+", "-", "=", "!=", "<", "<=", ">", ">="})
_BEFORE_OPERAND = frozenset({"@", "::", "(", "[", ","})
_ANY_PREFIX = re.compile(rf"\*:({_NCNAME})")
_AFTER_NAME = re.compile(rf"[{_SPACE}]*(\(|::)")

_WRONG_OPERATORS = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">="}
_HINTS = {
    "!": "not equal is written !=, negation is written not(...)",
    "&": "conjunction is written 'and'",
    ";": "one subscription is one expression: take the semicolon out",
    "{": "names in braces are not XPath 1.0: declare a prefix and write prefix:name",
    '"': "close the string with the quote that opened it",
    "'": "close the string with the quote that opened it",
    "\u201c": "write straight quotes, \" or '",
    "\u201d": "write straight quotes, \" or '",
    "\u2018": "write straight quotes, \" or '",
    "\u2019": "write straight quotes, \" or '",
    "\u2264": "write <=",
    "\u2265": "write >=",
    "\u2260": "write !=",
}


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is one of name, wildcard, function, axis, number, literal, operator, symbol, end."""

    kind: str
    text: str
    at: int


def is_ncname(text: str) -> bool:
    """Whether `text` is an NCName, and so may be a prefix."""
    return _NCNAME_ONLY.match(text) is not None


def tokenize(text: str) -> list[Token]:
    """Return all tokens of `text`, followed by one of kind `end`."""
    result: list[Token] = []
    at = 0
    while at < len(text):
        lexed = _TOKEN.match(text, at)
        if lexed is None:
            _refuse(text, at)
        kind, lexeme = str(lexed.lastgroup), lexed.group()
        if kind == "literal" and (bad := FORBIDDEN_CHARACTER.search(lexeme)) is not None:
            raise SubscriptionError(
                "syntax",
                f"no document can hold the character U+{ord(bad.group()):04X}",
                text=text,
                position=at + bad.start(),
            )
        if kind != "space":
            result.append(_classify(text, kind, lexeme, at, result[-1] if result else None))
        at = lexed.end()
    result.append(Token("end", "", len(text)))
    return result


def _classify(text: str, kind: str, lexeme: str, at: int, before: Token | None) -> Token:
    """Classify a name or a star by its neighbours (recommendation, section 3.7)."""
    operand_before = before is not None and not (
        before.kind == "operator" or (before.kind == "symbol" and before.text in _BEFORE_OPERAND)
    )
    if kind == "symbol":
        if lexeme == "*":
            return Token("operator" if operand_before else "wildcard", "*", at)
        correct = _WRONG_OPERATORS.get(text[at : at + 2])
        if correct is not None:
            raise SubscriptionError(
                "syntax",
                f"{lexeme}{text[at + 1]} is not an operator",
                text=text,
                position=at,
                expected="one of = != < <= > >=",
                hint=f"write {correct} instead",
            )
        if lexeme == "|" and text[at + 1 : at + 2] == "|":
            raise SubscriptionError(
                "syntax",
                "|| is not an operator",
                text=text,
                position=at,
                hint="a choice of conditions is written 'or', a union of paths with one |",
            )
        return Token("operator" if lexeme in _OPERATORS else "symbol", lexeme, at)
    if kind == "name":
        if operand_before and lexeme in _OPERATOR_NAMES:
            return Token("operator", lexeme, at)
        follows = _AFTER_NAME.match(text, at + len(lexeme))
        if follows is not None:
            return Token("function" if follows.group(1) == "(" else "axis", lexeme, at)
    return Token(kind, lexeme, at)


def _refuse(text: str, at: int) -> NoReturn:
    character = text[at]
    unclosed = "string without its closing quote"
    message = unclosed if character in "\"'" else f"unexpected {character!r}"
    hint = _HINTS.get(character)
    wildcard = _ANY_PREFIX.match(text, max(at - 1, 0))
    if wildcard is not None:
        hint = (
            f"{wildcard[0]} is XPath 2.0: write *[local-name() = '{wildcard[1]}'], "
            "or declare a prefix"
        )
    elif character.isdigit():
        hint = "write numbers with the digits 0 to 9"
    elif character.isalnum():
        hint = "libxml2 has no such letter in names: write *[local-name() = '...'] for the element"
    raise SubscriptionError("syntax", message, text=text, position=at, hint=hint)
