"""Against lxml's own XPath: a loop over compiled expressions, and how long it takes to compile them.

- `loop`: parse a document and ask every expression, compiled beforehand, whether it selects anything. It takes so long that few documents
  must do; ours sees the same ones several times in its turn, so that there is enough of it to be timed. Both must find the same.
  The note says what a matcher would reach that takes no time beyond parsing: no figure can be above that.
- `load`: from texts to the first answer, so that whatever is built when it is needed is paid for. Theirs compiles each text and drops
  it at once; ours is dropped within its time too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from lxml import etree

from pathcast.bench.filter.bench import Bench, joined, loaded, matched
from pathcast.bench.measure import Ratio, compared
from pathcast.bench.report import Line
from pathcast.documents import new_parser

__all__ = ["load", "loop"]

_LOOP = {1_000: 50.0, 10_000: 300.0, 100_000: 2_000.0}
_LOAD = {100_000: 0.3, 1_000_000: 0.3}
_LOOP_ROUNDS = _LOAD_ROUNDS = 3  # each takes seconds
_AGAIN = 20  # times that we match what the loop goes through once
_MANY = 50  # documents are enough

compiled = partial(etree.XPath, regexp=False, smart_strings=False)


def loop(bench: Bench) -> Iterator[Line]:
    for size in bench.sizes.of(_LOOP):
        what = f"a loop of XPath(), linear, {size.count:,}"
        bench.tell(what)
        texts = bench.inputs.linear(size.count)
        bodies = bench.bodies()[: max(1, min(_MANY, bench.sizes.looped // size.count))]
        matcher, asked = loaded(texts), [compiled(text) for text in texts]
        answers: list[list[int]] = []
        found = compared(
            partial(matched, matcher, bodies * _AGAIN),
            partial(_asked, asked, bodies, answers),
            rounds=_LOOP_ROUNDS,
        )
        for body, answer in zip(bodies, answers, strict=True):
            assert list(matcher.match(body).numbers) == answer, "both are to find the same"
        ratios = tuple(_AGAIN * ratio for ratio in found.ratios)
        found = Ratio(ratios, found.ours / _AGAIN, found.theirs)
        each = f"{found.theirs / len(bodies):.3g} s a document; {len(bodies)} documents"
        parsing = compared(
            partial(_parsed, bodies * _AGAIN),
            partial(matched, matcher, bodies * _AGAIN),
            rounds=_LOOP_ROUNDS,
        )
        most = f"parsing alone would be {found.figure * parsing.figure:,.0f} x"
        note = joined(f"the loop takes {each}", most, size.note)
        yield Line(what, found.figure, "x", target=size.target, spread=found.spread, note=note)


def _parsed(bodies: list[bytes]) -> None:
    """What nobody can do without."""
    settings = new_parser()
    for body in bodies:
        etree.fromstring(body, settings)


def _asked(asked: list[etree.XPath], bodies: list[bytes], answers: list[list[int]]) -> None:
    """What the loop finds, document by document; the latest answers are kept."""
    settings = new_parser()
    answers.clear()
    for body in bodies:
        tree = etree.fromstring(body, settings)
        answers.append([number for number, xpath in enumerate(asked) if bool(xpath(tree))])


def load(bench: Bench) -> Iterator[Line]:
    for size in bench.sizes.of(_LOAD):
        what = f"loading linear, {size.count:,} / XPath()"
        bench.tell(what)
        texts = bench.inputs.linear(size.count)
        body = bench.bodies()[0]
        matched(loaded(texts[:100]), [body])  # modules, and nothing else, are loaded already
        found = compared(
            partial(_loaded, texts, body),
            partial(_compiled, texts),
            rounds=_LOAD_ROUNDS,
            warm=False,
        )
        ours, theirs = size.count / found.ours, size.count / found.theirs
        note = joined(f"{ours:,.0f}/s, XPath() {theirs:,.0f}/s", size.note)
        yield Line(what, found.figure, "x", target=size.target, spread=found.spread, note=note)


def _loaded(texts: Sequence[str], body: bytes) -> None:
    matched(loaded(texts), [body])


def _compiled(texts: Sequence[str]) -> None:
    for text in texts:
        compiled(text)
