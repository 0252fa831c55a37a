"""Tests of the oracle against results worked out by hand."""

from __future__ import annotations

import random

import pytest

from tests import generate
from tests.oracle import ANYWHERE, Refused, absolute, document, expression, holds, oracle, refuses

# `~` stands for the prefix that makes a relative path absolute.
REWRITES = [
    ("a", "~a"),
    ("/a", "/a"),
    ("//a", "//a"),
    ("/", "/"),
    ("*", "~*"),
    ("@x", "~@x"),
    (".", "~."),
    ("..", "~.."),
    (".//a", "~.//a"),
    ("text()", "~text()"),
    ("comment ( )", "~comment ( )"),
    ("child::a", "~child::a"),
    ("attribute :: x", "~attribute :: x"),
    ("p:a/p:*", "~p:a/p:*"),
    ("count(a)", "count(~a)"),
    ("count( a | /b )", "count( ~a | /b )"),
    ("string(.)", "string(~.)"),
    ("concat(a, 'b', @c)", "concat(~a, 'b', ~@c)"),
    ("a|b", "~a|~b"),
    ("(a)[1]", "(~a)[1]"),
    ("(a)/b", "(~a)/b"),
    ("(a | b)[c]//d", "(~a | ~b)[c]//d"),
    ("a and not(@x)", "~a and not(~@x)"),
    ("id('x')/a", "id('x')/a"),
    ("id(a)/b", "id(~a)/b"),
    ("-a", "-~a"),
    ("- - a", "- - ~a"),
    ("a*b", "~a*~b"),
    ("a * 2", "~a * 2"),
    ("* * *", "~* * ~*"),
    ("***", "~**~*"),
    ("div div div", "~div div ~div"),
    ("and and and", "~and and ~and"),
    ("or", "~or"),
    ("/or", "/or"),
    ("mod mod 2", "~mod mod 2"),
    ("a[b]", "~a[b]"),
    ("a[b or c[d]]/e", "~a[b or c[d]]/e"),
    ("a[count(b) > 1] = c", "~a[count(b) > 1] = ~c"),
    ("a[')('] | b['[']", "~a[')('] | ~b['[']"),
    ("a-b", "~a-b"),
    ("a - b", "~a - ~b"),
    ("a -b", "~a -~b"),
    ("a < b", "~a < ~b"),
    ("2 div a", "2 div ~a"),
    ("1.5 + .5 - 1.", "1.5 + .5 - 1."),
    ("text/node", "~text/node"),
    ("processing-instruction('i')", "~processing-instruction('i')"),
    ("self::node()/a", "~self::node()/a"),
    ("position() = last()", "position() = last()"),
    ("'a' = \"b\"", "'a' = \"b\""),
    ("$v/a", "$v/a"),
    ("\n a \t| b", "\n ~a \t| ~b"),
    ("é/ü", "~é/ü"),
    ("a.b-c/d_e", "~a.b-c/d_e"),
]


@pytest.mark.parametrize(("text", "expected"), REWRITES, ids=[text for text, _ in REWRITES])
def test_relative_paths_become_absolute(text: str, expected: str) -> None:
    assert absolute(text) == expected.replace("~", ANYWHERE)


BODY = b"""<?i k?><a x="1" xmlns:p="urn:p"><b>5</b><b y="">6<c/></b><p:d>t<!--n--></p:d></a>"""
RESULTS = [
    ("a", True),
    ("b", True),
    ("/b", False),
    ("/a/b/c", True),
    ("b/c", True),
    ("e", False),
    ("count(b) = 2", True),
    ("count(b) = 1", False),
    ("count(*) = 5", True),
    ("@x", True),
    ("@y", True),
    ("@z", False),
    ("/@x", False),
    (".", True),
    ("..", True),
    ("/..", False),
    ("text()", True),
    ("/text()", False),
    ("processing-instruction()", True),
    ("comment()", True),
    ("/comment()", False),
    ("p:d", True),
    ("d", False),
    ("string(b) = '5'", True),
    ("string(.) = '56t'", True),
    ("(b)[2]", True),
    ("(b)[3]", False),
    ("b[2]", True),
    ("b - 5", False),
    ("-b = -5", True),
    ("b * b = 25", True),
    ("not(e) and b", True),
    ("not(b)", False),
    ("position() = 1 and last() = 1", True),
    ("self::node()", True),
    ("/self::a", False),
    ("self::a", True),
    ("''", False),
    ("0", False),
    ("'x'", True),
]


@pytest.mark.parametrize(("text", "expected"), RESULTS, ids=[text for text, _ in RESULTS])
def test_result(text: str, expected: bool) -> None:
    assert oracle(text, {"p": "urn:p"}, BODY) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a[",
        "a)][(b",
        "a b",
        "a orb",
        "1 div2",
        ".[1]",
        "a//",
        "///a",
        "/ / a",
        "f()",
        "$v",
        "z:a",
        "count(1)",
        "\0",
    ],
)
def test_invalid_expressions_are_refused(text: str) -> None:
    assert refuses(text, {"p": "urn:p"}, [document(BODY)])


def test_unreached_errors_are_refused() -> None:
    assert refuses("/nothing[f()]", None, [document(BODY)])
    assert refuses("/nothing[z:a]", None, [document(BODY)])
    assert not refuses("/nothing[@xml:lang]", None, [document(BODY)])


def test_unbalanced_brackets_are_refused() -> None:
    with pytest.raises(Refused):
        expression("a)]) or boolean(/self::node()[boolean(b")


@pytest.mark.parametrize("knobs", [generate.NATIVE, generate.WHOLE, generate.Knobs(residual=0.7)])
def test_generated_pairs_are_valid_and_selective(knobs: generate.Knobs) -> None:
    rng = random.Random(1)
    trees = [document(generate.document(rng)) for _ in range(30)]
    hits = 0
    for _ in range(600):
        query = expression(generate.expression(rng, knobs), generate.NAMESPACES)
        hits += sum(holds(query, tree) for tree in trees)
    assert 0.15 < hits / (600 * 30) < 0.6
