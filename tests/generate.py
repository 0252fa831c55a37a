"""Seeded random documents and subscriptions, made fast: the bulk comparison needs millions.

Labels, attributes and values come from the same small pools on both sides, so that a match is
neither rare nor certain. `Knobs` sets the shares of constructs outside tree patterns, of relative
paths and of odd spellings. Every expression is valid XPath 1.0 without type errors, so libxml2 has
a result for each pair. The generator builds token lists and joins them with random white space.

>>> import random
>>> expression(random.Random(7), NATIVE) == expression(random.Random(7), NATIVE)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from random import Random

from tests.grammar import ExpressionMaker
from tests.pools import ATTRIBUTES, LABELS, LANGUAGES, NATIVE, SIDEWAYS, WHOLE, Knobs, chance, value

__all__ = ["NAMESPACES", "NATIVE", "SIDEWAYS", "WHOLE", "Knobs", "document", "expression", "join"]

NAMESPACES = {"p": "urn:p", "q": "urn:q", "other": "urn:p"}


def document(rng: Random, size: int = 14, levels: int = 6) -> bytes:
    """Return a document of about `size` elements and at most `levels` levels."""
    parts: list[str] = []
    if chance(rng, 0.1):
        parts.append(
            '<!DOCTYPE a [<!ENTITY e "5"><!ENTITY f "a<b>5</b>c"><!ATTLIST b y CDATA "5">'
            "<!ATTLIST a z ID #IMPLIED>]>"
        )
    entities = bool(parts)
    if chance(rng, 0.1):
        parts.append(rng.choice(("<!--5-->", "<?i 5?>", "<?x?>")))
    budget = [rng.randint(1, 2 * size)]
    root = rng.choice(("a", "a", "a", "b", "p:a"))
    default = ' xmlns="urn:q"' if chance(rng, 0.08) else ""
    _element(rng, parts, root, f' xmlns:p="urn:p"{default}', levels, budget, entities)
    if chance(rng, 0.05):
        parts.append(rng.choice(("<!---->", "<?i a?>", "<!--abc-->\n")))
    return "".join(parts).encode()


def _element(
    rng: Random,
    parts: list[str],
    name: str,
    declarations: str,
    levels: int,
    budget: list[int],
    entities: bool,
) -> None:
    budget[0] -= 1
    parts.append(f"<{name}{declarations}")
    for attribute in rng.sample(ATTRIBUTES, rng.choice((0, 0, 1, 1, 2, 3))):
        if attribute == "xml:lang":
            text = rng.choice(LANGUAGES)
        elif attribute == "xml:id":
            text = f"i{budget[0]}"  # a duplicate id is an error of the parser
        else:
            text = value(rng)
        parts.append(f' {attribute}="{escape(text)}"')
    children = rng.choice((0, 1, 1, 2, 3, 4)) if levels > 1 else 0
    if "xmlns:p" in declarations:  # the root element
        children += 2
    if children == 0 and chance(rng, 0.3):
        parts.append("/>")
        return
    parts.append(">")
    if children == 0 or chance(rng, 0.25):
        parts.append(_text(rng, entities))
    for _ in range(children):
        if budget[0] <= 0:
            break
        label = rng.choice(LABELS)
        if chance(rng, 0.12):
            label = "p:" + label
        inner = rng.choice((' xmlns="urn:q"', ' xmlns=""')) if chance(rng, 0.06) else ""
        _element(rng, parts, label, inner, levels - 1, budget, entities)
        if chance(rng, 0.2):
            parts.append(_text(rng, entities))
        if chance(rng, 0.08):
            parts.append(rng.choice(("<!--5-->", "<!--abc-->", "<?i 5?>", "<?j?>")))
            if chance(rng, 0.5):
                parts.append(_text(rng, entities))
    parts.append(f"</{name}>")


def _text(rng: Random, entities: bool) -> str:
    text = value(rng)
    if entities and chance(rng, 0.4):
        return rng.choice(("&e;", "&f;", f"1&e;{escape(text)}", "&#53;"))
    if chance(rng, 0.12):
        before = escape(value(rng)) if chance(rng, 0.4) else ""
        return f"{before}<![CDATA[{text}]]>"
    return escape(text)


def expression(rng: Random, knobs: Knobs) -> str:
    """Return a random expression; its prefixes are those of NAMESPACES."""
    return join(rng, ExpressionMaker(rng, knobs).top(), knobs.odd)


def join(rng: Random, tokens: Sequence[str], odd: float) -> str:
    """Join tokens with white space where it is required, and at random where it is allowed."""
    parts: list[str] = []
    previous = ""
    spaced = chance(rng, odd)
    for token in tokens:
        needed = (
            previous
            and _is_word_character(previous[-1])
            and _is_word_character(token[0])
            and previous != "-"
        )
        if spaced and chance(rng, 0.5):
            parts.append(rng.choice((" ", "  ", "\n", "\t", " \r\n")))
        elif needed:
            parts.append(" ")
        parts.append(token)
        previous = token
    if spaced:
        parts.append(rng.choice(("", " ")))
    return "".join(parts)


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character in "_-."
