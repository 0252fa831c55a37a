"""Cost classes of subscriptions, and the form for libxml2."""

from __future__ import annotations

import pytest

from pathcast.xpath import Cost, parse
from pathcast.xpath.libxml2_form import nest_steps
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.text import expression_text

INDEXED = [
    "/a/b",
    "//a[@x = 1][b > 2 and not(c)]/text()",
    "//a[2]/b[last()]",
    "count(//a) > 3 or contains(//b, 'x')",
    "//a/../b",
    "//a[../@x = 'y']",
    "//a[/b/c]",
    "//a | /b/@c",
    "//comment()",
    "//a/following-sibling::b[2]/c",
    "//a[preceding-sibling::*[1][self::b]]",
    "//a[count(following-sibling::a) > 2]",
    "//a[string(following-sibling::b/c) = 'x']",
    "//a/following::b[last()]",
    "//a[preceding::b[position() < 3 and c]]",
    "//a[ancestor::b[2]/@x]",
    "//a[ancestor::r[c]]",
    "//a[following-sibling::*[1]/b]",
    "//a[parent::*[normalize-space() = 'x']]",
    "//a[(.. | @x) > 5]",
    "//p[normalize-space(text()) = 'x']",
    "//a[contains(translate(normalize-space(b), 'ABC', 'abc'), 'x')]",
    "//a[number(translate(., ',', '')) > 1000]",
    "count(//a/following::b/..) > 3",
    "//a[count(b/following-sibling::c) > 2]",
    "//a[count(following-sibling::b//c) > 2]",
    "//a[count(preceding::b/c) > 2]",
    "//a[string(b/preceding-sibling::c) = 'x']",
    "//a[string(@x/ancestor::c/@y) = 'x']",
    "(//a)[2]/b",
    "//a[(.//b)[last()]/c]",
    "//a[string((following::b)[2]) = 'x']",
    "//a[count(b) = '2'][contains(c, 'x') = true()]",
    "string-length(normalize-space(//a/preceding-sibling::b)) > 3",
]
LINEAR = [
    "//a/following-sibling::*[1][. + 1 > 6]",
    "//a[ancestor::r[@x]/@y = 1 + 1]",
    "//a[concat(b, ' ', c) = 'x y']",
    "//a[b + 1] | //c[d + 1]",
    "//a[b + 1 > 3]",
    "//a//b[sum(c) > 3]",
    "//a[sum(.//b) > 3]",
    "id('x')",
    "//a[lang('en')]",
    "//*[name() = 'x']",
    "//*[@a = @b]",
    "sum(//a) > 3",
    "//a/@x/ancestor-or-self::node()",
    "//a[position() mod 2 = 0]",
]
EXPENSIVE = [
    # from many nodes: ancestors, siblings, or their string-values
    "//a[ancestor::*[. > 5 + 1]]",
    "//a[(preceding-sibling::b)[1] > 5]",
    "//a[string-length(../following-sibling::*[1]) = 3 + 1]",
    "//b/..//c[. * 1 = 2]",
    "//b/../following-sibling::c[. * 1 = 2]",
    "//comment()[following-sibling::*[1][. + 1 = 5]]",
    # from many nodes: the entire document, or all namespaces
    "//a[id('k') > 5]",
    "//a[count(id('k')/b) = 5]",
    "id(//l)",
    "//a[namespace::* = 'x']",
    # node-sets that libxml2 merges by comparing all pairs
    "count(//@x/..) * 2 = 3",
    "count(//b[. + 1 > 0]/..) = 3",
    # comparisons of texts of the document
    "//t[contains(., @x)]",
    "//t[translate(., @x, '') = 'q']",
    "//r[* > concat(., 'x')]",
    "string-length(concat(" + ", ".join(["/"] * 20) + ")) = 3",
    "//*[//* = //*]",
    # along other axes: from each of many nodes, the nodes of several steps
    "//a[count(.//b/following-sibling::c) > 2]",
    "//a[count(following::b//c) > 2]",
    "//a[string(following::b/c) = 'x']",
    "//a[following-sibling::b[position() = 1 or c]]",
    "//a[count(//b) > sum(c)]",
    "//a[string(..) = 'x' and name() = 'a']",
    "//a[b = c]",
    "count(//a | //b) > 2",
    "//a//b//c[sum(d) > 3]",
    "//a[.//b[.//c + 1 > 2]]",
    "//a[../b + 1 > 3 or c]",
]


@pytest.mark.parametrize("text", INDEXED)
def test_indexed(text: str) -> None:
    assert parse(text).cost is Cost.INDEXED


@pytest.mark.parametrize("text", LINEAR)
def test_linear(text: str) -> None:
    assert parse(text).cost is Cost.LINEAR


@pytest.mark.parametrize("text", EXPENSIVE)
def test_expensive(text: str) -> None:
    assert parse(text).cost is Cost.EXPENSIVE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a//b[c + 1]", "//a[descendant-or-self::node()/b[c + 1]]"),
        ("//a/ancestor::b/c", "//a[ancestor::b/c]"),
        ("//a/..//b[c + 1]", "//a[parent::node()[descendant-or-self::node()/b[c + 1]]]"),
        ("//a/following-sibling::*[1][b]/c", "//a[following-sibling::*[1]/self::node()[b]/c]"),
        ("//a | //b[c | d]", "//a or //b[c or d]"),
        ("//a/b", "//a/b"),
        ("count(//a//b)", "count(//a//b)"),
    ],
)
def test_steps_from_many_nodes_become_predicates(text: str, expected: str) -> None:
    assert expression_text(nest_steps(parse_expression(text, {}))) == expected
