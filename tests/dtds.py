"""Random small DTDs and random valid documents of them, independent of `pathcast.schema`.

Element names and values are those of `tests.pools`, so that random subscriptions match some random
documents. A DTD may be recursive, may refer to undeclared elements, and may declare elements that
no finite tree satisfies; then `document` may return None. lxml confirms that a document is valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from io import StringIO
from random import Random

from lxml import etree

from tests.pools import value

__all__ = ["RandomDtd", "large_recursive_dtd", "random_dtd"]

NAMES = ("a", "b", "c", "d")
Model = tuple[str, tuple["Model", ...] | str, str]  # kind (name, seq, or), parts or name, suffix


@dataclass(frozen=True, slots=True)
class RandomDtd:
    """A DTD as text and as tuples: the content and attributes (name, kind, default) of elements."""

    text: str
    content: dict[str, Model | str | None]
    attributes: dict[str, list[tuple[str, tuple[str, ...], str]]]
    root: str

    def document(self, rng: Random, levels: int = 5) -> bytes | None:
        """Return a random valid document, None if this attempt produced none."""
        try:
            text = self._element(rng, self.root, levels)
        except RecursionError:
            return None
        if text is None:
            return None
        body = text.encode()
        validator = etree.DTD(StringIO(self.text))
        return body if validator.validate(etree.fromstring(body)) else None

    def _element(self, rng: Random, name: str, levels: int) -> str | None:
        if levels == 0 or name not in self.content:
            return None
        parts = [f"<{name}"]
        for attribute, choices, default in self.attributes[name]:
            if default == "#REQUIRED" or rng.random() < 0.5:
                text = rng.choice(choices) if choices else value(rng)
                parts.append(f' {attribute}="{escape(text)}"')
        parts.append(">")
        content = self.content[name]
        if content == "EMPTY":
            return "".join(parts) + f"</{name}>"
        mixed = (
            content is None
            or content == "ANY"
            or (isinstance(content, tuple) and content[0] == "mixed")
        )
        if content is None:
            word: list[str] | None = []
        elif content == "ANY":
            word = (
                [rng.choice(NAMES) for _ in range(rng.choice((0, 0, 1, 2)))] if levels > 1 else []
            )
        else:
            assert isinstance(content, tuple)
            word = _word(rng, content, levels)
        if word is None:
            return None
        for child in word:
            if mixed and rng.random() < 0.4:
                parts.append(escape(value(rng)))
            elif not mixed and rng.random() < 0.1:
                parts.append(rng.choice((" ", "\n")))
            inner = self._element(rng, child, levels - 1)
            if inner is None:
                return None
            parts.append(inner)
        if mixed and rng.random() < 0.6:
            parts.append(escape(value(rng)))
        if rng.random() < 0.05:
            parts.append(rng.choice(("<!--5-->", "<?i 5?>")))
        return "".join(parts) + f"</{name}>"


def _word(rng: Random, model: Model, levels: int) -> list[str] | None:
    """Return a random word of a content model, None if it is too long."""
    kind, inner, suffix = model
    repetitions = {
        "": 1,
        "?": rng.choice((0, 1)),
        "*": rng.choice((0, 1, 2)),
        "+": rng.choice((1, 2)),
    }[suffix]
    if levels == 1 and suffix in "?*" and suffix:
        repetitions = 0
    word: list[str] = []
    for _ in range(repetitions):
        if kind == "name":
            assert isinstance(inner, str)
            word.append(inner)
        elif kind == "seq":
            for part in inner:
                assert isinstance(part, tuple)
                subword = _word(rng, part, levels)
                if subword is None:
                    return None
                word += subword
        else:
            choice = rng.choice([part for part in inner if isinstance(part, tuple)])
            subword = _word(rng, choice, levels)
            if subword is None:
                return None
            word += subword
    return word if len(word) < 12 else None


def random_dtd(rng: Random) -> RandomDtd:
    """Return a random DTD over `NAMES`, with the root element a."""
    lines = []
    content: dict[str, Model | str | None] = {}
    attributes: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}
    for name in NAMES:
        if name != "a" and rng.random() < 0.08:
            continue  # left undeclared
        roll = rng.random()
        if roll < 0.25:
            content[name] = None
            declaration = "(#PCDATA)"
        elif roll < 0.33:
            content[name] = declaration = "EMPTY"
        elif roll < 0.36:
            content[name] = declaration = "ANY"
        elif roll < 0.55:
            inner = rng.sample(NAMES, rng.choice((1, 2, 3)))
            content[name] = ("mixed", tuple(("name", child, "") for child in inner), "*")
            declaration = f"(#PCDATA|{'|'.join(inner)})*"
        else:
            model = _model(rng, 2)
            content[name] = model
            declaration = _model_text(model)
            if not declaration.startswith("("):
                declaration = f"({declaration})"
        lines.append(f"<!ELEMENT {name} {declaration}>")
        attributes[name] = []
        for attribute in ("x", "y"):
            if rng.random() < 0.4:
                choices = ("5", "abc", "b") if rng.random() < 0.4 else ()
                default = rng.choice(("#REQUIRED", "#IMPLIED", "#IMPLIED"))
                kind = f"({'|'.join(choices)})" if choices else "CDATA"
                lines.append(f"<!ATTLIST {name} {attribute} {kind} {default}>")
                attributes[name].append((attribute, choices, default))
    return RandomDtd("\n".join(lines), content, attributes, "a")


def _model(rng: Random, depth: int) -> Model:
    suffix = rng.choice(("", "", "?", "*", "+"))
    if depth == 0 or rng.random() < 0.3:
        return ("name", rng.choice(NAMES), suffix)
    parts = tuple(_model(rng, depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))
    return (rng.choice(("seq", "or")), parts, suffix)


def _model_text(model: Model) -> str:
    kind, inner, suffix = model
    if kind == "name":
        assert isinstance(inner, str)
        return inner + suffix
    separator = ", " if kind == "seq" else " | "
    parts = [_model_text(part) for part in inner if isinstance(part, tuple)]
    return f"({separator.join(parts)}){suffix}"


def large_recursive_dtd(inline: int = 150, block: int = 60) -> str:
    """Return a DTD in the manner of TEI, root text: phrases in phrases, blocks in divisions.

    Nearly every element may contain nearly every other, so paths and twigs have very many cases.
    """
    phrases = "|".join([*(f"i{number}" for number in range(inline)), "p"])
    blocks = [f"b{number}" for number in range(block)]
    lines = [
        "<!ELEMENT text (front?, body, back?)>",
        "<!ELEMENT front (div*)> <!ELEMENT back (div*)>",
        f"<!ELEMENT body (div|{'|'.join(blocks)})*>",
        f"<!ELEMENT div (head?, (p|{'|'.join(blocks)})+, div*)>",
        f"<!ELEMENT head (#PCDATA|{phrases})*>",
    ]
    lines += [
        f"<!ELEMENT {name} (#PCDATA|{phrases}|{'|'.join(blocks)})*>" for name in phrases.split("|")
    ]
    lines += [
        f"<!ELEMENT {name} (head?, ({phrases})*, (p|{blocks[number - 1]})*)>"
        for number, name in enumerate(blocks)
    ]
    return "\n".join(lines)
