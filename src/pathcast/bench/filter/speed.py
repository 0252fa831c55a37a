"""E/F: the rate of matching as a part of the rate of parsing alone.

`linear` and `mixed` match to subscriptions, `hops` only to the union of where they go next, `cold` sees documents that the matcher
has not seen: whatever it remembers of documents, it has it from 2,000 others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from pathcast.bench.filter.bench import (
    Bench,
    ids_each,
    loaded,
    matched,
    parsed,
    rates,
    share_line,
)
from pathcast.bench.measure import Ratio, compared
from pathcast.bench.report import Line
from pathcast.documents import new_parser
from pathcast.matching import Matcher

__all__ = ["cold", "hops", "linear", "mixed"]

_LINEAR = {1_000: 0.75, 10_000: 0.65, 100_000: 0.40, 1_000_000: 0.10}
_HOPS = dict.fromkeys(_LINEAR, 0.70)
_MIXED = {10_000: 0.35, 100_000: 0.05}
_COLD = {100_000: 0.20}
_NEXT = 64  # hops
_UNSEEN = 1_000_000  # the number of the first document that no other line uses


def linear(bench: Bench) -> Iterator[Line]:
    bodies = bench.bodies()
    mean = f"{fmean(map(len, bodies)):,.0f} bytes each"
    for size in bench.sizes.of(_LINEAR):
        what = f"linear, {size.count:,}"
        bench.tell(what)
        matcher = loaded(bench.inputs.linear(size.count))
        found = bench.against_parsing(partial(matched, matcher, bodies), bodies)
        yield _line(f"{what}: E/F", found, size.target, rates(found, len(bodies), size, mean))
        yield share_line(f"{what}: matched", ids_each(matcher, bodies), size.count)


def hops(bench: Bench) -> Iterator[Line]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_HOPS):
        what = f"hops, linear, {size.count:,}"
        bench.tell(what)
        matcher = _with_hops(bench.inputs.linear(size.count))
        found = bench.against_parsing(partial(_hopped, matcher, bodies), bodies)
        each = [_checked_hops(matcher, body) for body in bodies]
        note = rates(found, len(bodies), size, f"{fmean(each):,.0f} of {_NEXT} hops a document")
        yield _line(f"{what}: E/F", found, size.target, note)


def mixed(bench: Bench) -> Iterator[Line]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_MIXED):
        what = f"mixed, {size.count:,}"
        bench.tell(what)
        matcher = loaded(bench.inputs.mixed(size.count))
        found = bench.against_parsing(partial(matched, matcher, bodies), bodies)
        ids = f"{fmean(ids_each(matcher, bodies)):,.0f} ids a document"
        yield _line(f"{what}: E/F", found, size.target, rates(found, len(bodies), size, ids))


def cold(bench: Bench) -> Iterator[Line]:
    rounds, block = bench.sizes.rounds, bench.sizes.block
    others = bench.inputs.documents(bench.sizes.others, _UNSEEN)
    bodies = bench.inputs.documents(rounds * block, _UNSEEN + bench.sizes.others)
    assert not {*others} & {*bodies}, "they are to be new"
    for size in bench.sizes.of(_COLD):
        what = f"never seen, linear, {size.count:,}"
        bench.tell(what)
        matcher = loaded(bench.inputs.linear(size.count))
        matched(matcher, others)
        found = _block_by_block(matcher, bodies, block)
        ids = f"{fmean(ids_each(matcher, bodies)):,.0f} ids a document"
        note = rates(found, block, size, ids, f"after {len(others):,} others")
        yield _line(f"{what}: E/F", found, size.target, note)


def _block_by_block(matcher: Matcher, bodies: Sequence[bytes], block: int) -> Ratio:
    """No document comes twice to either."""
    blocks = [bodies[at : at + block] for at in range(0, len(bodies), block)]
    settings = new_parser()
    parsed(bodies[:1], settings)  # it loads what it needs at its first document
    ours, theirs = iter(blocks), iter(blocks)
    return compared(
        lambda: matched(matcher, next(ours)),
        lambda: parsed(next(theirs), settings),
        rounds=len(blocks),
        warm=False,
    )


def _with_hops(texts: Sequence[str]) -> Matcher:
    matcher = Matcher()
    matcher.add_many((number, text, None, number % _NEXT) for number, text in enumerate(texts))
    return matcher


def _hopped(matcher: Matcher, bodies: Sequence[bytes]) -> None:
    for body in bodies:
        list(matcher.match_hops(body))  # all of them, whether or not they are made one by one


def _checked_hops(matcher: Matcher, body: bytes) -> int:
    found = set(matcher.match_hops(body))
    assert found == {number % _NEXT for number in matcher.match(body).numbers}, "hops are a union"
    return len(found)


def _line(what: str, found: Ratio, target: float, note: str) -> Line:
    return Line(what, found.figure, "x", target=target, spread=found.spread, note=note)
