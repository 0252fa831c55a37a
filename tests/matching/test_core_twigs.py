"""Twig joins against libxml2, on documents that repeat a few names at all depths.

Random twigs of two to four branches, nested, full of `//` and `*`, with attributes and values in
branches. On deep documents libxml2 is too slow for some of them; there the plain engine is the
oracle.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.matching.engine import EngineName
from tests.generate import NAMESPACES
from tests.oracle import document, expression, holds, oracle

OPS = ("=", "!=", "<", "<=", ">", ">=")
VALUES = ("5", "3", "0", "1.5", "'5'", "'abc'", "''", "10")
ENDS = ("@x", "@*", "@p:x", "text()", "comment()", "processing-instruction('i')", "node()")


class TwigGenerator:
    """Random twigs over a few names."""

    def __init__(self, rng: Random, names: str) -> None:
        self.rng = rng
        self.names = names

    def twig(self, depth: int = 2) -> str:
        steps = [
            self._axis() + self._test() + "".join(self._predicates(depth))
            for _ in range(self.rng.choice((1, 2, 2, 3)))
        ]
        if self.rng.random() < 0.2:
            steps.append(self._axis() + self.rng.choice(ENDS))
        return "".join(steps) + self._value()

    def _axis(self) -> str:
        return self.rng.choice(("/", "//", "//"))

    def _test(self) -> str:
        roll = self.rng.random()
        if roll < 0.3:
            return "*"
        if roll < 0.36:
            return f"p:{self.rng.choice((*self.names, chr(42)))}"
        return str(self.rng.choice(self.names))

    def _predicates(self, depth: int) -> list[str]:
        return [f"[{self._condition(depth)}]" for _ in range(self.rng.choice((0, 1, 1, 2)))]

    def _condition(self, depth: int) -> str:
        count = self.rng.choice((1, 1, 2, 3))
        return " and ".join(self._branch(depth) for _ in range(count))

    def _branch(self, depth: int) -> str:
        text = self.rng.choice(("", "", ".//"))
        count = self.rng.choice((1, 1, 2, 3))
        for place in range(count):
            text += self._axis() if place else ""
            if place + 1 == count and self.rng.random() < 0.25:
                text += self.rng.choice(ENDS)
                break
            text += self._test()
            if depth and self.rng.random() < 0.35:
                text += f"[{self._condition(depth - 1)}]"
        if self.rng.random() < 0.2:
            text += f" {self._comparison()}"
        return text

    def _comparison(self) -> str:
        operand = self.rng.choice(VALUES)
        return f"{self.rng.choice(OPS[:2] if operand[0] == chr(39) else OPS)} {operand}"

    def _value(self) -> str:
        return f"[. {self._comparison()}]" if self.rng.random() < 0.25 else ""


def tree(rng: Random, names: str, size: int, levels: int) -> bytes:
    """Return nested elements of few names, with attributes, texts, comments and instructions."""
    parts: list[str] = []
    remaining = size

    def element(level: int) -> None:
        nonlocal remaining
        remaining -= 1
        name = ("p:" if rng.random() < 0.1 else "") + rng.choice(names)
        parts.append(f"<{name}" if parts else f"<{name} xmlns:p='urn:p'")
        if rng.random() < 0.3:
            parts.append(f" {rng.choice(('x', 'y', 'p:x'))}='{rng.choice('135')}'")
        parts.append(">")
        if rng.random() < 0.3:
            parts.append(rng.choice(("5", "3", "abc", "0", "<!--5-->", "<?i 5?>", "1.5")))
        for _ in range(rng.choice((1, 1, 2, 3)) if level else 0):
            if remaining > 0:
                element(level - 1)
        parts.append(f"</{name}>")

    element(levels)
    return "".join(parts).encode()


def deep_chain(rng: Random, names: str, depth: int) -> bytes:
    """Return a chain of `depth` nested elements with random leaves."""
    chain = [rng.choice(names) for _ in range(depth)]
    leaves = ("", "", "", "<a/>", "<b x='5'/>", "<c>5</c>", "5", "<b><c/></b>")
    opened = "".join(f"<{name} x='{rng.choice('135')}'>{rng.choice(leaves)}" for name in chain[:-1])
    return (f"{opened}<{chain[-1]}>5" + "".join(f"</{name}>" for name in reversed(chain))).encode()


def matcher_of(texts: list[str], engine: EngineName = "core") -> Matcher:
    matcher = Matcher(engine=engine)
    matcher.add_many((number, text, NAMESPACES) for number, text in enumerate(texts))
    return matcher


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
@pytest.mark.parametrize("count", [3, 120])
def test_twigs_against_libxml2(names: str, count: int, deep: bool) -> None:
    hits = pairs = 0
    for seed in range(60 if deep else 6):
        rng = Random(f"{names} {count} {seed}")
        generator = TwigGenerator(rng, names)
        texts = [generator.twig() for _ in range(count)]
        matcher = matcher_of(texts)
        questions = [expression(text, NAMESPACES) for text in texts]
        for _ in range(25):
            body = tree(rng, names, rng.choice((4, 12, 30)), rng.choice((3, 6, 10)))
            where = document(body)
            expected = [place for place, query in enumerate(questions) if holds(query, where)]
            matches = list(matcher.match(body))
            assert matches == expected, (
                [texts[int(id)] for id in set(matches).symmetric_difference(expected)][:3],
                body,
            )
            hits += len(expected)
            pairs += count
    assert 0.02 < hits / pairs < 0.7


@pytest.mark.parametrize("depth", [58, 59, 60, 61, 62, 64, 65, 100, 250])
def test_deep_documents_equal_the_plain_engine(depth: int) -> None:
    """Depths around 64 and far beyond: the joins do not depend on the width of a word."""
    rng = Random(depth)
    texts = [TwigGenerator(rng, rng.choice(("a", "ab", "abc"))).twig(1) for _ in range(60)]
    core, plain = matcher_of(texts), matcher_of(texts, "plain")
    for _ in range(8):
        body = deep_chain(rng, rng.choice(("a", "ab", "abc")), depth)
        assert list(core.match(body)) == list(plain.match(body)), body
        shallow = tree(rng, "abc", 12, 5)
        assert list(core.match(shallow)) == list(plain.match(shallow)), shallow


@given(st.randoms(use_true_random=False), st.sampled_from(["a", "ab", "abc"]))
def test_a_single_twig(rng: Random, names: str) -> None:
    text = TwigGenerator(rng, names).twig()
    body = tree(rng, names, 10, 5)
    assert (len(matcher_of([text]).match(body)) == 1) is oracle(text, NAMESPACES, body)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        # both branches occur, but not at one node
        ("//a[b][c]", "<r><a><b/></a><a><c/></a></r>"),
        ("//a[b][c]", "<r><a><b/><a><c/></a></a></r>"),
        ("//a[b]//c", "<a><b/><x><c/></x></a>"),
        ("//a[b]/a/c", "<a><a><b/><a><c/></a></a></a>"),
        ("//a[b]/a/c", "<a><b/><a><a><c/></a></a></a>"),
        ("//a[.//b][.//c]", "<r><a><b/></a><a><c/></a></r>"),
        ("//a[.//b][.//c]", "<a><a><b/></a><a><c/></a></a>"),
        ("/*[*/a]/*/b", "<r><x><a/></x><y><b/></y></r>"),
        ("/*/*[a]/b", "<r><x><a/></x><y><b/></y></r>"),
        ("//*[@x = 5]/*[. = 3]", "<r><a x='5'><b>3</b></a></r>"),
        ("//*[@x = 5]/*[. = 3]", "<r><a x='5'/><a><b>3</b></a></r>"),
        ("//a[@x = 5][@x != 5]", "<a x='5'/>"),
        ("//a[@* = 5][@* != 5]", "<a x='5' y='3'/>"),
        ("//a[. = 5][. > 4]", "<a>5</a>"),
        ("//a[b = 1][b = 2]", "<a><b>1</b><b>2</b></a>"),
        ("//a[b[. = 1][c]]", "<a><b>1</b><b><c/></b></a>"),
        ("//a[text() = 5]/b[comment()]", "<a>5<b><!--c--></b></a>"),
        ("//a[a[a[a]]][b]", "<a><a><a><a><b/></a></a></a></a>"),
        ("//a[a/a/a]//b[c]", "<a><a><a><a/></a></a><x><b><c/></b></x></a>"),
        ("/a[.//a[b]//a[c]]", "<a><a><b/><z><a><c/></a></z></a></a>"),
        ("//node()[b]/node()[c]", "<r><b/><x><c/></x></r>"),
        ("//p:*[@p:x]/p:b", "<p:a xmlns:p='urn:p' p:x='1'><p:b/></p:a>"),
        ("//p:*[@p:x]/p:b", "<q:a xmlns:q='urn:p' x='1'><q:b/></q:a>"),
    ],
)
def test_hand_written_cases(text: str, body: str) -> None:
    matches = len(matcher_of([text]).match(body.encode())) == 1
    assert matches is oracle(text, NAMESPACES, body.encode())


def test_twigs_share_equal_branches() -> None:
    """A hundred twigs with one expensive branch join it once."""
    work = []
    for count in (1, 100):
        matcher = matcher_of([f"//a[.//b][.//c]/n{number}" for number in range(count)])
        body = "<a><c/>" + "<a><b/></a>" * 200 + "".join(f"<n{n}/>" for n in range(100)) + "</a>"
        assert len(matcher.match(body.encode())) == count
        work.append(matcher.stats().join_work)
    assert 0 < work[1] < work[0] + 100 * 10
