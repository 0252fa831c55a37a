"""Comparison with lxml's XPath: a loop over compiled expressions, and the time to compile them.

The part `load` also compares snapshots of mixed subscriptions with snapshots of paths.

- `loop`: parse a document and evaluate every compiled expression. This takes so long that few
  documents must suffice; our matcher repeats them in its turn to be measurable. Both must find the
  same matches. The note gives the bound for a matcher that needs no time beyond parsing.
- `load`: from texts to the first answer, so that lazily built structures are included. The
  reference compiles each text and drops it; our matcher is dropped within the measured time too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lxml import etree

from pathcast.bench.filter.context import FilterContext, join_notes, load_matcher, match_all
from pathcast.bench.filter.sizes import TargetSize
from pathcast.bench.measure import Ratio, compare
from pathcast.bench.report import ReportLine
from pathcast.documents import new_parser
from pathcast.matching import Matcher

__all__ = ["load", "loop"]

_LOOP = {1_000: 50.0, 10_000: 300.0, 100_000: 2_000.0}
_LOAD = {100_000: 0.3, 1_000_000: 0.3}
_TEMPLATES = {10_000: 0.3}
_SHAPES = {10_000: 0.15}
_SNAPSHOTS = {100_000: 3.0, 1_000_000: 3.0}
_LOOP_ROUNDS = _LOAD_ROUNDS = 3  # each takes seconds
_REPETITIONS = 20  # of our matching for one pass of the loop
_MAX_DOCUMENTS = 50

compile_xpath = partial(etree.XPath, regexp=False, smart_strings=False)


def loop(bench: FilterContext) -> Iterator[ReportLine]:
    for size in bench.sizes.of(_LOOP):
        label = f"a loop of XPath(), linear, {size.count:,}"
        bench.progress(label)
        texts = bench.inputs.linear(size.count)
        bodies = bench.bodies()[: max(1, min(_MAX_DOCUMENTS, bench.sizes.looped // size.count))]
        matcher, expressions = load_matcher(texts), [compile_xpath(text) for text in texts]
        answers: list[list[int]] = []
        ratio = compare(
            partial(match_all, matcher, bodies * _REPETITIONS),
            partial(_evaluate, expressions, bodies, answers),
            rounds=_LOOP_ROUNDS,
        )
        for body, answer in zip(bodies, answers, strict=True):
            assert list(matcher.match(body).numbers) == answer, "both must find the same"
        ratio = Ratio(
            tuple(_REPETITIONS * figure for figure in ratio.ratios),
            ratio.ours / _REPETITIONS,
            ratio.theirs,
        )
        each = f"{ratio.theirs / len(bodies):.3g} s a document; {len(bodies)} documents"
        parsing = compare(
            partial(_parse, bodies * _REPETITIONS),
            partial(match_all, matcher, bodies * _REPETITIONS),
            rounds=_LOOP_ROUNDS,
        )
        bound = f"parsing alone would be {ratio.figure * parsing.figure:,.0f} x"
        note = join_notes(f"the loop takes {each}", bound, size.note)
        yield ReportLine(
            label, ratio.figure, "x", target=size.target, spread=ratio.spread, note=note
        )


def _parse(bodies: list[bytes]) -> None:
    """Parse the documents, which every matcher on lxml must do."""
    settings = new_parser()
    for body in bodies:
        etree.fromstring(body, settings)


def _evaluate(
    expressions: list[etree.XPath], bodies: list[bytes], answers: list[list[int]]
) -> None:
    """Evaluate every expression on every document; `answers` gets the matches of this pass."""
    settings = new_parser()
    answers.clear()
    for body in bodies:
        tree = etree.fromstring(body, settings)
        answers.append([number for number, xpath in enumerate(expressions) if bool(xpath(tree))])


def load(bench: FilterContext) -> Iterator[ReportLine]:
    inputs = bench.inputs
    for size in bench.sizes.of(_LOAD):
        yield _load_line(bench, "linear", inputs.linear(size.count), size)
    for size in bench.sizes.of(_TEMPLATES):
        yield _load_line(bench, "predicates, templates", inputs.templates(size.count), size)
    for size in bench.sizes.of(_SHAPES):
        yield _load_line(bench, "predicates, distinct", inputs.distinct_shapes(size.count), size)
    for size in bench.sizes.of(_SNAPSHOTS):
        yield _snapshot_line(bench, size)


def _load_line(
    bench: FilterContext, kind: str, texts: Sequence[str], size: TargetSize
) -> ReportLine:
    label = f"loading {kind}, {size.count:,} / XPath()"
    bench.progress(label)
    body = bench.bodies()[0]
    match_all(load_matcher(texts[:100]), [body])  # loads modules, and nothing else
    ratio = compare(
        partial(_load_and_match, texts, body),
        partial(_compile, texts),
        rounds=_LOAD_ROUNDS,
        warm=False,
    )
    ours, theirs = size.count / ratio.ours, size.count / ratio.theirs
    note = join_notes(f"{ours:,.0f}/s, XPath() {theirs:,.0f}/s", size.note)
    return ReportLine(label, ratio.figure, "x", target=size.target, spread=ratio.spread, note=note)


def _snapshot_line(bench: FilterContext, size: TargetSize) -> ReportLine:
    """Compare the times to load snapshots and match one document."""
    label = f"loading a snapshot, mixed / linear, {size.count:,}"
    bench.progress(label)
    body = bench.bodies()[0]
    with TemporaryDirectory(prefix="pathcast-") as folder:
        linear, mixed = Path(folder, "linear"), Path(folder, "mixed")
        load_matcher(bench.inputs.linear(size.count)).save(linear)
        load_matcher(bench.inputs.mixed_set(size.count)).save(mixed)
        ratio = compare(
            partial(_load_snapshot, linear, body),
            partial(_load_snapshot, mixed, body),
            rounds=_LOAD_ROUNDS,
            warm=False,
        )
    note = join_notes(f"{ratio.theirs:.2f} s, linear {ratio.ours:.2f} s", size.note)
    return ReportLine(
        label,
        ratio.figure,
        "x",
        target=size.target,
        at_least=False,
        spread=ratio.spread,
        note=note,
    )


def _load_snapshot(path: Path, body: bytes) -> None:
    match_all(Matcher.load(path), [body])


def _load_and_match(texts: Sequence[str], body: bytes) -> None:
    match_all(load_matcher(texts), [body])


def _compile(texts: Sequence[str]) -> None:
    for text in texts:
        compile_xpath(text)
