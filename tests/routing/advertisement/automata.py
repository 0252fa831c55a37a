"""Random small advertisements, and brute-force oracles for them.

The oracles list words and build documents state by state. They do not use `AdvertisementNfa`.
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


def random_advertisement(
    rng: Random,
    states: int = 4,
    *,
    wildcards: float = 0.15,
    spaces: bool = False,
    repeat_labels: bool = True,
    names: tuple[str, ...] = NAMES,
) -> Advertisement:
    """Return a random automaton, which may have repeated labels and may accept no path."""
    labels = [_random_label(rng, wildcards, spaces, names) for _ in range(rng.randint(1, states))]
    if not repeat_labels:
        labels = list({label.local: label for label in labels}.values())
    count = len(labels)

    def random_states(share: float) -> int:
        return sum(1 << state for state in range(count) if chance(rng, share))

    return Advertisement.build(
        labels, [random_states(0.4) for _ in labels], random_states(0.5) | 1, random_states(0.4)
    )


def _random_label(
    rng: Random, wildcards: float, spaces: bool, names: tuple[str, ...]
) -> ElementLabel:
    if chance(rng, wildcards):
        return ANY
    name = rng.choice(names)
    if spaces and chance(rng, 0.4):
        namespaces = (None, frozenset({"urn:p"}), frozenset({"", "urn:p"}), frozenset({"urn:q"}))
        return ElementLabel(name, rng.choice(namespaces))
    return ElementLabel(name)


def states_in(states: int) -> list[int]:
    return [state for state in range(states.bit_length()) if states >> state & 1]


def names_of(label: ElementLabel, *, spaces: bool = False) -> list[Name]:
    """Return names of a label: all that tests use, and one that no test uses."""
    return [
        (space, local)
        for space in (SPACES if spaces else SPACES[:1])
        for local in (*NAMES, "d", "z")
        if _has(label, (space, local))
    ]


def words(
    advertisement: Advertisement, longest: int, names: tuple[str, ...] = (*NAMES, "z")
) -> set[tuple[Name, ...]]:
    """Return all words of the automaton up to a length, over a few names in no namespace."""

    def names_at(state: int) -> list[Name]:
        return [("", name) for name in names if _has(advertisement.labels[state], ("", name))]

    accepted = set()
    level: set[tuple[tuple[Name, ...], int]] = {
        ((name,), state) for state in states_in(advertisement.roots) for name in names_at(state)
    }
    for _ in range(longest):
        accepted |= {word for word, state in level if advertisement.leaves >> state & 1}
        level = {
            ((*word, name), state)
            for word, before in level
            for state in states_in(advertisement.below[before])
            for name in names_at(state)
        }
    return accepted


def _has(label: ElementLabel, name: Name) -> bool:
    space, local = name
    return label.local in (None, local) and (label.spaces is None or space in label.spaces)


def accepts(advertisement: Advertisement, path: tuple[Name, ...]) -> bool:
    """Return whether the automaton has a run over the path that ends in a leaf."""

    def has_run(states: int, at: int) -> bool:
        return any(
            _has(advertisement.labels[state], path[at])
            and (
                bool(advertisement.leaves >> state & 1)
                if at + 1 == len(path)
                else has_run(advertisement.below[state], at + 1)
            )
            for state in states_in(states)
        )

    return has_run(advertisement.roots, 0)


def trie(
    advertisement: Advertisement, depth: int, max_elements: int = 4000
) -> tuple[list[bytes], bool]:
    """Return a document per root with every prefix of a word up to a depth.

    The flag says whether all prefixes are in the documents, within `max_elements`.
    """
    budget = max_elements
    complete = True

    def write(state: int, name: Name, levels: int) -> str:
        nonlocal budget, complete
        budget -= 1
        if levels == 1:
            return f"<{name[1]}/>"
        inner = []
        for child_state in states_in(advertisement.below[state]):
            for child in names_of(advertisement.labels[child_state]):
                if budget <= 0:
                    complete = False
                    break
                inner.append(write(child_state, child, levels - 1))
        return f"<{name[1]}>{''.join(inner)}</{name[1]}>"

    bodies = [
        write(root, name, depth).encode()
        for root in states_in(advertisement.roots)
        for name in names_of(advertisement.labels[root])
    ]
    return bodies, complete


def random_document(advertisement: Advertisement, rng: Random, levels: int = 6) -> bytes | None:
    """Return a document within the advertisement, with values and attributes, or None.

    None means that the random walk did not end in leaves.
    """

    def write(states: set[int], name: Name, left: int) -> str | None:
        children = []
        may_end = any(advertisement.leaves >> state & 1 for state in states)
        if left > 1:
            for _ in range(rng.choice((0, 1, 2, 3)) if may_end else rng.choice((1, 2, 3))):
                child = element(
                    {child for state in states for child in states_in(advertisement.below[state])},
                    left,
                )
                if child is not None:
                    children.append(child)
        if not children and not may_end:
            return None
        qualified = PREFIXES[name[0]] + name[1]
        declared = ' xmlns:p="urn:p" xmlns:q="urn:q"' if left == levels else ""
        attributes = "".join(
            f' {attribute}="{escape(value(rng))}"' for attribute in "xy" if chance(rng, 0.3)
        )
        text = escape(value(rng)) if chance(rng, 0.4) else ""
        noise = rng.choice(("<!--5-->", "<?i 5?>")) if chance(rng, 0.1) else ""
        return f"<{qualified}{declared}{attributes}>{text}{noise}{''.join(children)}</{qualified}>"

    def element(states: set[int], left: int) -> str | None:
        names = sorted(
            {
                name
                for state in states
                for name in names_of(advertisement.labels[state], spaces=True)
            }
        )
        if not names:
            return None
        name = rng.choice(names)
        after = {
            state for state in states if name in names_of(advertisement.labels[state], spaces=True)
        }
        return write(after, name, left if left == levels + 1 else left - 1)

    def start() -> str | None:
        states = set(states_in(advertisement.roots))
        names = sorted(
            {
                name
                for state in states
                for name in names_of(advertisement.labels[state], spaces=True)
            }
        )
        if not names:
            return None
        name = rng.choice(names)
        return write(
            {
                state
                for state in states
                if name in names_of(advertisement.labels[state], spaces=True)
            },
            name,
            levels,
        )

    text = start()
    return None if text is None else text.encode()


def random_path(rng: Random, longest: int = 4) -> str:
    """Return a path of names, * and //, absolute or relative."""
    steps = "".join(
        rng.choice(("/", "/", "//")) + rng.choice((*NAMES, "*"))
        for _ in range(rng.randint(1, longest))
    )
    return steps.lstrip("/") if chance(rng, 0.2) else steps


def tree_paths(body: bytes) -> Iterator[tuple[Name, ...]]:
    """Yield the leaf paths of a document, by lxml."""
    from lxml import etree

    for element in etree.fromstring(body).iter("*"):
        if len(list(element.iterchildren("*"))) == 0:
            chain = [element, *element.iterancestors()][::-1]
            names = [etree.QName(ancestor) for ancestor in chain]
            yield tuple((name.namespace or "", name.localname) for name in names)


def random_twig(rng: Random, body: bytes) -> str:
    """Return a twig that the document matches.

    Its steps are some of the document's elements, by name or *, with branches from below them.
    """
    from lxml import etree

    root = etree.fromstring(body)

    def test(element: etree._Element) -> str:
        name = etree.QName(element)
        return "*" if chance(rng, 0.2) else PREFIXES[name.namespace or ""] + name.localname

    def conditions(element: etree._Element, left: int) -> str:
        predicates = []
        for child in element.iterchildren("*"):
            if left and chance(rng, 0.5):
                inner = walk(child, left - 1, rng.choice(("", ".//")))
                predicates.append(
                    rng.choice(
                        (
                            f"[{inner}]",
                            f"[{inner}]",
                            f"[{inner} or zebra]",
                            f"[{inner}][not(zebra)]",
                        )
                    )
                )
        return "".join(predicates)

    def walk(element: etree._Element, left: int, start: str) -> str:
        """Return steps to an element and on to one of its descendants."""
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
