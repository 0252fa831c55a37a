"""Exhaustive small combinations of path, test and context, compared with libxml2.

Random expressions seldom combine a rare path with a rare function in a rare context. This test
combines each path with each test in each context, on documents that distinguish them.
"""

from __future__ import annotations

from itertools import islice, product
from random import Random

from pathcast.matching.engine import EngineName
from tests.matching.engines import each_engine
from tests.matching.test_against_lxml import MAX_DIFFERENCES, differences


def split_pool(pool: str) -> list[str]:
    return [item.strip() for line in pool.strip().splitlines() for item in line.split("  ; ")]


PATHS = split_pool("""
    a  ; b  ; *  ; @x  ; @*  ; .  ; ..  ; text()  ; node()  ; b/c  ; */b  ; .//b  ; .//@x  ; //b
    /a  ; b[1]  ; b[2]  ; b[last()]  ; *[b]  ; b[. = 5]  ; @x[1]  ; self::a  ; self::*
    descendant::b[2]  ; ../b  ; ../@x  ; ../..  ; ../a/b  ; ancestor::a  ; following-sibling::b
    parent::b  ; ./b/..  ; descendant-or-self::b  ; descendant-or-self::node()  ; .//.  ; @x/.
    @x/..  ; a | b  ; p:b  ; (b)[2]  ; (.//b)[2]  ; b/text()  ; *[1]/b
    @x/descendant-or-self::node()[. = 5]  ; /.  ; comment()  ; self::p:*  ; self::text()
    preceding-sibling::*[1]  ; @p:*
""")
TESTS = split_pool("""
    {}  ; not({})  ; {} = 5  ; {} != 5  ; {} > 2  ; 2 >= {}  ; {} = '5'  ; {} != ''  ; {} < '7'
    count({}) = 1  ; count({}) > 1  ; count({})  ; contains({}, '5')  ; starts-with({}, '')
    string-length({}) > 0  ; string-length({}) = 0  ; string({}) = '5'  ; number({}) = 5
    boolean({})  ; {} and b  ; b or {}  ; not({} = 5)  ; {} = {}  ; {} = true()  ; sum({}) = 5
    string({})  ; {} + 1 = 6
""")
CONTEXTS = split_pool("""
    /a[{}]  ; //a[{}]  ; //*[{}]  ; //b[{}]/c  ; //@x[{}]  ; //@*[{}]  ; //text()[{}]
    /*[{}]/b  ; //b[{}][1]  ; //b[1][{}]  ; //b[2][{}]  ; //a[not({})]  ; //a[b[{}]]
    //a[@x][{}]/..  ; //c[{}]  ; //a[c or {}]  ; not(//b[{}])  ; count(//b[{}]) = 1
    /a[({})]//b  ; //node()[{}]  ; /self::node()[{}]/*  ; //a//b[{}]
    /a/descendant-or-self::*[{}]  ; //b[{} and position() = 1]  ; (//b)[{}]  ; /a[{}] | /b[{}]
""")
DOCUMENTS = (
    b"<a/>",
    b"<a x='5'>5</a>",
    b"<a><b>5</b></a>",
    b"<a><b>5</b><b x='5'>6</b><c/></a>",
    b"<b x='1'><a x='5'><b><c>5</c></b></a>5<b/></b>",
    b"<a x='7' y='5'><c>5</c><b><b>5</b><b x='5'>1<c/></b></b><a/></a>",
    b"<a>1<b/>5<a>5<b>5</b><c><b x='2'/></c></a></a>",
    b"<p:a xmlns:p='urn:p' x=''><p:b>5</p:b><b> 5 </b><!--5--></p:a>",
    b"<c><a><b x='5'/><b>5</b></a><a x='5'><c/></a>text</c>",
)


def combinations() -> list[str]:
    tests = [test.replace("{}", path) for path, test in product(PATHS, TESTS)]
    inside = [context.replace("{}", test) for test, context in product(tests, CONTEXTS)]
    return list(dict.fromkeys([*tests, *inside]))


@each_engine
def test_small_combinations_equal_libxml2(engine: EngineName, deep: bool) -> None:
    texts = combinations()
    assert len(texts) > 30_000
    Random(1).shuffle(texts)
    if not deep:
        texts = texts[:10_000] if engine == "core" else texts[10_000:12_000]
    hits = [0]
    reports: list[str] = []
    for start in range(0, len(texts), 500):
        chunk = texts[start : start + 500]
        reports += islice(differences(chunk, list(DOCUMENTS), hits, engine), MAX_DIFFERENCES)
        assert len(reports) < MAX_DIFFERENCES, "\n".join(reports)
    assert not reports, "\n".join(reports)
    assert 0.1 < hits[0] / (len(texts) * len(DOCUMENTS)) < 0.6
