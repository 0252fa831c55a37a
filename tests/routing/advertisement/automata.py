"""Random small advertisements, and the dumb ways to ask them things: by listing words and by building trees.

Nothing here uses the product's machine: an automaton is walked state by state.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from random import Random

from pathcast.routing.advertisement import Advertisement
from pathcast.routing.advertisement.labels import ANY, ElementLabel
from tests.pools import chance, value

NAMES = ("a", "b", "c")
SPACES = ("", "urn:p", "urn:q")
PREFIXES = {"": "", "urn:p": "p:", "urn:q": "q:"}
Name = tuple[str, str]  # namespace and local name


def advertisement(
    rng: Random,
    states: int = 4,
    *,
    wild: float = 0.15,
    spaces: bool = False,
    twice: bool = True,
    names: tuple[str, ...] = NAMES,
) -> Advertisement:
    """Some automaton, perhaps with a label more than once; it may allow nothing at all."""
    labels = [_label(rng, wild, spaces, names) for _ in range(rng.randint(1, states))]
    if not twice:
        labels = list({label.local: label for label in labels}.values())
    many = len(labels)

    def some(share: float) -> int:
        return sum(1 << one for one in range(many) if chance(rng, share))

    return Advertisement.build(labels, [some(0.4) for _ in labels], some(0.5) | 1, some(0.4))


def _label(rng: Random, wild: float, spaces: bool, names: tuple[str, ...]) -> ElementLabel:
    if chance(rng, wild):
        return ANY
    name = rng.choice(names)
    if spaces and chance(rng, 0.4):
        kinds = (None, frozenset({"urn:p"}), frozenset({"", "urn:p"}), frozenset({"urn:q"}))
        return ElementLabel(name, rng.choice(kinds))
    return ElementLabel(name)


def numbers(states: int) -> list[int]:
    return [at for at in range(states.bit_length()) if states >> at & 1]


def instances(label: ElementLabel, *, spaces: bool = False) -> list[Name]:
    """Names that a label has: all that tests ask for, and one that none does."""
    return [
        (space, local)
        for space in (SPACES if spaces else SPACES[:1])
        for local in (*NAMES, "d", "z")
        if _has(label, (space, local))
    ]


def words(
    found: Advertisement, longest: int, names: tuple[str, ...] = (*NAMES, "z")
) -> set[tuple[Name, ...]]:
    """All words of the automaton up to a length, over a few names in no namespace."""

    def spelled(state: int) -> list[Name]:
        return [("", one) for one in names if _has(found.labels[state], ("", one))]

    accepted = set()
    level: set[tuple[tuple[Name, ...], int]] = {
        ((name,), state) for state in numbers(found.roots) for name in spelled(state)
    }
    for _ in range(longest):
        accepted |= {word for word, state in level if found.leaves >> state & 1}
        level = {
            ((*word, name), state)
            for word, before in level
            for state in numbers(found.below[before])
            for name in spelled(state)
        }
    return accepted


def _has(label: ElementLabel, name: Name) -> bool:
    space, local = name
    return label.local in (None, local) and (label.spaces is None or space in label.spaces)


def accepts(found: Advertisement, path: tuple[Name, ...]) -> bool:
    """Whether the automaton has a run over the path that ends in a leaf."""

    def runs(states: int, at: int) -> bool:
        return any(
            _has(found.labels[state], path[at])
            and (
                bool(found.leaves >> state & 1)
                if at + 1 == len(path)
                else runs(found.below[state], at + 1)
            )
            for state in numbers(states)
        )

    return runs(found.roots, 0)


def trie(found: Advertisement, depth: int, most: int = 4000) -> tuple[list[bytes], bool]:
    """For each root a document with every beginning of a word up to a depth, and whether none was left out."""
    left = [most]
    whole = True

    def written(state: int, name: Name, levels: int) -> str:
        nonlocal whole
        left[0] -= 1
        if levels == 1:
            return f"<{name[1]}/>"
        inner = []
        for one in numbers(found.below[state]):
            for child in instances(found.labels[one]):
                if left[0] <= 0:
                    whole = False
                    break
                inner.append(written(one, child, levels - 1))
        return f"<{name[1]}>{''.join(inner)}</{name[1]}>"

    bodies = [
        written(root, name, depth).encode()
        for root in numbers(found.roots)
        for name in instances(found.labels[root])
    ]
    return bodies, whole


def document(found: Advertisement, rng: Random, levels: int = 6) -> bytes | None:
    """A document within the advertisement, with values and attributes; None if none was found."""

    def written(states: set[int], name: Name, left: int) -> str | None:
        children = []
        may_end = any(found.leaves >> state & 1 for state in states)
        if left > 1:
            for _ in range(rng.choice((0, 1, 2, 3)) if may_end else rng.choice((1, 2, 3))):
                child = element(
                    {one for state in states for one in numbers(found.below[state])}, left
                )
                if child is not None:
                    children.append(child)
        if not children and not may_end:
            return None
        qualified = PREFIXES[name[0]] + name[1]
        declared = ' xmlns:p="urn:p" xmlns:q="urn:q"' if left == levels else ""
        attributes = "".join(f' {one}="{escape(value(rng))}"' for one in "xy" if chance(rng, 0.3))
        text = escape(value(rng)) if chance(rng, 0.4) else ""
        noise = rng.choice(("<!--5-->", "<?i 5?>")) if chance(rng, 0.1) else ""
        return f"<{qualified}{declared}{attributes}>{text}{noise}{''.join(children)}</{qualified}>"

    def element(states: set[int], left: int) -> str | None:
        names = sorted(
            {name for one in states for name in instances(found.labels[one], spaces=True)}
        )
        if not names:
            return None
        name = rng.choice(names)
        after = {one for one in states if name in instances(found.labels[one], spaces=True)}
        return written(after, name, left if left == levels + 1 else left - 1)

    def start() -> str | None:
        states = set(numbers(found.roots))
        names = sorted(
            {name for one in states for name in instances(found.labels[one], spaces=True)}
        )
        if not names:
            return None
        name = rng.choice(names)
        return written(
            {one for one in states if name in instances(found.labels[one], spaces=True)},
            name,
            levels,
        )

    text = start()
    return None if text is None else text.encode()


def linear(rng: Random, longest: int = 4) -> str:
    """A path of names, * and //, absolute or relative."""
    steps = "".join(
        rng.choice(("/", "/", "//")) + rng.choice((*NAMES, "*"))
        for _ in range(rng.randint(1, longest))
    )
    return steps.lstrip("/") if chance(rng, 0.2) else steps


def tree_paths(body: bytes) -> Iterator[tuple[Name, ...]]:
    """The leaf paths of a document, asked of lxml."""
    from lxml import etree

    for one in etree.fromstring(body).iter("*"):
        if len(list(one.iterchildren("*"))) == 0:
            chain = [one, *one.iterancestors()][::-1]
            names = [etree.QName(each) for each in chain]
            yield tuple((name.namespace or "", name.localname) for name in names)


def twig(rng: Random, body: bytes) -> str:
    """A twig that the document matches: some of its elements, by name or by *, with branches from below them."""
    from lxml import etree

    root = etree.fromstring(body)

    def test(element: etree._Element) -> str:
        name = etree.QName(element)
        return "*" if chance(rng, 0.2) else PREFIXES[name.namespace or ""] + name.localname

    def conditions(element: etree._Element, left: int) -> str:
        found = []
        for child in element.iterchildren("*"):
            if left and chance(rng, 0.5):
                inner = walk(child, left - 1, rng.choice(("", ".//")))
                found.append(
                    rng.choice(
                        (
                            f"[{inner}]",
                            f"[{inner}]",
                            f"[{inner} or zebra]",
                            f"[{inner}][not(zebra)]",
                        )
                    )
                )
        return "".join(found)

    def walk(element: etree._Element, left: int, start: str) -> str:
        """Steps to an element and on to one below it."""
        text = start
        while True:
            text += test(element) + conditions(element, left)
            if chance(rng, 0.1):
                text += f"/descendant-or-self::{test(element)}"
            below = list(element.iterchildren("*"))
            if not below or chance(rng, 0.3):
                return text
            element = rng.choice(below)
            text += rng.choice(("/", "/", "//"))
            while text.endswith("//") and chance(rng, 0.4) and list(element.iterchildren("*")):
                element = rng.choice(list(element.iterchildren("*")))

    return walk(root, 2, rng.choice(("/", "/", "//", "")))
