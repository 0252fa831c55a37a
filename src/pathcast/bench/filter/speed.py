"""E/F: the rate of matching as a share of the rate of parsing.

`linear` and `mixed` match to subscription numbers, `hops` to the union of next hops. `cold` matches
documents that the matcher has not seen; its lazy DFA has learnt from 2,000 others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from pathcast.bench.filter.context import (
    FilterContext,
    load_matcher,
    match_all,
    match_counts,
    parse_all,
    rate_note,
    share_line,
)
from pathcast.bench.measure import Ratio, compare
from pathcast.bench.report import ReportLine
from pathcast.documents import new_parser
from pathcast.matching import Matcher

__all__ = ["cold", "fixed_cost", "hops", "linear", "mixed_kinds", "selective"]

_FIXED_COST = {"news": 0.90, "145 bytes": 0.60}
_LINEAR = {1_000: 0.82, 10_000: 0.78, 100_000: 0.60, 1_000_000: 0.30}
_HOPS = {1_000: 0.80, 10_000: 0.78, 100_000: 0.77, 1_000_000: 0.75}
_MIXED = {10_000: 0.50, 100_000: 0.20}
_SELECTIVE = {10_000: 0.75, 100_000: 0.65, 1_000_000: 0.50}
_COLD = {"linear": {100_000: 0.40}, "mixed": {100_000: 0.10}}
_SMALL_DOCUMENT = (
    b"<item id='%d'><title>Rain in May</title><price>12.50</price>"
    b"<link href='urn:x-news:item:4711'/><date>2026-05-04</date><lang>en</lang></item>"
)
_HOP_COUNT = 64
_FIRST_UNSEEN = 1_000_000  # the number of the first document that no other part uses


def fixed_cost(bench: FilterContext) -> Iterator[ReportLine]:
    """Measure one subscription that never matches: the cost of a document beyond parsing."""
    matcher = load_matcher(["/never/matches"])
    small = [_SMALL_DOCUMENT % number for number in range(10_000, 10_000 + 10 * bench.sizes.block)]
    for name, bodies in (("news", bench.bodies()), ("145 bytes", small)):
        label = f"fixed cost, {name}: E/F"
        bench.progress(label)
        ratio = bench.against_parsing(partial(match_all, matcher, bodies), bodies)
        note = f"{1e6 * (ratio.ours - ratio.theirs) / len(bodies):.2f} us beyond parsing"
        yield _line(label, ratio, _FIXED_COST[name], note)


def linear(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.bodies()
    mean = f"{fmean(map(len, bodies)):,.0f} bytes each"
    for size in bench.sizes.of(_LINEAR):
        label = f"linear, {size.count:,}"
        bench.progress(label)
        matcher = load_matcher(bench.inputs.linear(size.count))
        ratio = bench.against_parsing(partial(match_all, matcher, bodies), bodies)
        yield _line(f"{label}: E/F", ratio, size.target, rate_note(ratio, len(bodies), size, mean))
        yield share_line(f"{label}: matched", match_counts(matcher, bodies), size.count)


def hops(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_HOPS):
        label = f"hops, linear, {size.count:,}"
        bench.progress(label)
        matcher = _with_hops(bench.inputs.linear(size.count))
        ratio = bench.against_parsing(partial(_match_hops, matcher, bodies), bodies)
        hop_counts = [_check_hops(matcher, body) for body in bodies]
        note = rate_note(
            ratio, len(bodies), size, f"{fmean(hop_counts):,.0f} of {_HOP_COUNT} hops a document"
        )
        yield _line(f"{label}: E/F", ratio, size.target, note)


def mixed_kinds(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_MIXED):
        label = f"mixed, {size.count:,}"
        bench.progress(label)
        matcher = load_matcher(bench.inputs.mixed_set(size.count))
        ratio = bench.against_parsing(partial(match_all, matcher, bodies), bodies)
        ids = f"{fmean(match_counts(matcher, bodies)):,.0f} ids a document"
        yield _line(f"{label}: E/F", ratio, size.target, rate_note(ratio, len(bodies), size, ids))


def selective(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.inputs.alert_documents(bench.sizes.documents)
    for size in bench.sizes.of(_SELECTIVE):
        label = f"selective, {size.count:,}"
        bench.progress(label)
        matcher = load_matcher(bench.inputs.alerts(size.count))
        ratio = bench.against_parsing(partial(match_all, matcher, bodies), bodies)
        mean = fmean(match_counts(matcher, bodies))
        ids = f"{mean:,.1f} ids a document, {100 * mean / size.count:.3f} %"
        yield _line(f"{label}: E/F", ratio, size.target, rate_note(ratio, len(bodies), size, ids))


def cold(bench: FilterContext) -> Iterator[ReportLine]:
    rounds, block = bench.sizes.rounds, bench.sizes.block
    others = bench.inputs.documents(bench.sizes.others, _FIRST_UNSEEN)
    bodies = bench.inputs.documents(rounds * block, _FIRST_UNSEEN + bench.sizes.others)
    assert not {*others} & {*bodies}, "the documents must be unseen"
    sets = {"linear": bench.inputs.linear, "mixed": bench.inputs.mixed_set}
    for kind, make_texts in sets.items():
        for size in bench.sizes.of(_COLD[kind]):
            label = f"never seen, {kind}, {size.count:,}"
            bench.progress(label)
            matcher = load_matcher(make_texts(size.count))
            match_all(matcher, others)
            ratio = _compare_blocks(matcher, bodies, block)
            ids = f"{fmean(match_counts(matcher, bodies)):,.0f} ids a document"
            note = rate_note(ratio, block, size, ids, f"after {len(others):,} others")
            yield _line(f"{label}: E/F", ratio, size.target, note)


def _compare_blocks(matcher: Matcher, bodies: Sequence[bytes], block: int) -> Ratio:
    """Compare on blocks of documents, so that neither side sees a document twice."""
    blocks = [bodies[at : at + block] for at in range(0, len(bodies), block)]
    settings = new_parser()
    parse_all(bodies[:1], settings)  # load modules before the first measurement
    ours, theirs = iter(blocks), iter(blocks)
    return compare(
        lambda: match_all(matcher, next(ours)),
        lambda: parse_all(next(theirs), settings),
        rounds=len(blocks),
        warm=False,
    )


def _with_hops(texts: Sequence[str]) -> Matcher:
    matcher = Matcher()
    matcher.add_many((number, text, None, number % _HOP_COUNT) for number, text in enumerate(texts))
    return matcher


def _match_hops(matcher: Matcher, bodies: Sequence[bytes]) -> None:
    for body in bodies:
        list(matcher.match_hops(body))  # consume them all


def _check_hops(matcher: Matcher, body: bytes) -> int:
    """Return the number of hops; they must be the union over the matching subscriptions."""
    hops = set(matcher.match_hops(body))
    assert hops == {number % _HOP_COUNT for number in matcher.match(body).numbers}, (
        "hops are a union"
    )
    return len(hops)


def _line(label: str, ratio: Ratio, target: float, note: str) -> ReportLine:
    return ReportLine(label, ratio.figure, "x", target=target, spread=ratio.spread, note=note)
