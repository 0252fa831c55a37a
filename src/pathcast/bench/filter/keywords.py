"""Keyword subscriptions: their cost relative to equalities on the same path.

Keywords are words that end with a space, so that none is part of another. Two kinds of documents: a
title alone (90 bytes), and the same title before 7 KB of text that no subscription reads. The other
forms of keyword search run on the short documents. Equalities are tests of the same values that
hardly ever hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean

from pathcast.bench.filter.context import (
    FilterContext,
    join_notes,
    load_matcher,
    match_all,
    match_counts,
)
from pathcast.bench.filter.sizes import TargetSize
from pathcast.bench.measure import compare
from pathcast.bench.report import ReportLine
from pathcast.rng import SeededRandom

__all__ = ["keywords"]

_KEYWORDS = {1_000: 3.0, 10_000: 4.0, 100_000: 6.0}
_SELECTED = {10_000: 1.5}
_FORMS_SIZE = {10_000: 4.0}
_SEED = 1
_WORDS = 200_000
_TITLE_WORDS = 5
_PADDING_WORDS = 1_000
_REPETITIONS = 5  # short documents take microseconds
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_FOLDED = f"translate(., '{_UPPER}', '{_LOWER}')"

# By form: the subscription to words {0} and {1}, and the equality that it is compared with.
_FORMS: dict[str, tuple[str, str]] = {
    "starts-with": ("//title[starts-with(., 'w{0} ')]", "//title[. = 'w{0}']"),
    "both of two": (
        "//title[contains(., 'w{0} ') and contains(., 'w{1} ')]",
        "//title[. = 'w{0}']",
    ),
    "one of two": ("//title[contains(., 'w{0} ') or contains(., 'w{1} ')]", "//title[. = 'w{0}']"),
    "folded case": (f"//title[contains({_FOLDED}, 'w{{0}} ')]", "//title[. = 'w{0}']"),
    "on an attribute": ("//item[contains(@words, 'w{0} ')]", "//item[@words = 'w{0}']"),
    "on a branch node": ("//item[contains(., 'w{0} ')]", "//item[. = 'w{0}']"),
    "on text nodes": ("//title/text()[contains(., 'w{0} ')]", "//title/text()[. = 'w{0}']"),
}


def keywords(bench: FilterContext) -> Iterator[ReportLine]:
    count = bench.sizes.documents
    documents = {
        kind: bench.inputs.record_documents(f"documents of {kind}", _documents(count, words))
        for kind, words in {"90 bytes": 0, "7 KB": _PADDING_WORDS}.items()
    }
    for size in bench.sizes.of(_KEYWORDS):
        for kind, bodies in documents.items():
            yield _line(
                bench,
                f"contains / equality, {kind}, {size.count:,}",
                bodies,
                size,
                ("//title[contains(., 'w{0} ')]", "//title[. = 'w{0}']"),
            )
    for size in bench.sizes.of(_SELECTED):
        yield _line(
            bench,
            f"equality and contains / equality, {size.count:,}",
            documents["90 bytes"],
            size,
            (
                "//item[@code = '{0}']//title[contains(., 'w{1} ')]",
                "//item[@code = '{0}']//title",
            ),
        )
    for size in bench.sizes.of(_FORMS_SIZE):
        for form, texts in _FORMS.items():
            label = f"contains, {form} / equality, {size.count:,}"
            yield _line(bench, label, documents["90 bytes"], size, texts)


def _line(
    bench: FilterContext,
    label: str,
    bodies: Sequence[bytes],
    size: TargetSize,
    texts: tuple[str, str],
) -> ReportLine:
    """Compare keyword subscriptions with equalities, by CPU time."""
    bench.progress(label)
    searching, comparing = (load_matcher(_fill(text, size.count)) for text in texts)
    ratio = compare(
        _repeat(partial(match_all, comparing, bodies)),
        _repeat(partial(match_all, searching, bodies)),
        rounds=bench.sizes.rounds,
    )
    ids = f"{fmean(match_counts(searching, bodies)):.2f} ids a document"
    each = 1e6 / (_REPETITIONS * len(bodies))  # microseconds of a document per second
    note = join_notes(
        f"{ratio.theirs * each:.1f} us a document, equality {ratio.ours * each:.1f}", ids, size.note
    )
    return ReportLine(
        label,
        ratio.figure,
        "x",
        target=size.target,
        at_least=False,
        spread=ratio.spread,
        note=note,
    )


def _repeat(work: Callable[[], object]) -> Callable[[], None]:
    """Return a function that does the work several times."""

    def run() -> None:
        for _ in range(_REPETITIONS):
            work()

    return run


def _fill(text: str, count: int) -> list[str]:
    """Return subscriptions to distinct words."""
    return [text.format(number, (number * 7 + 3) % _WORDS) for number in range(count)]


def _documents(count: int, padding: int) -> list[bytes]:
    rng = SeededRandom(_SEED, "keyword documents")
    return [_document(rng, padding) for _ in range(count)]


def _document(rng: SeededRandom, padding: int) -> bytes:
    words = " ".join([f"w{rng.below(_WORDS)}" for _ in range(_TITLE_WORDS)])
    text = f"<p>{'w ' * 3}</p>" * (padding // 3)
    code = rng.below(10_000)
    return f"<item code='{code}' words='{words} '><title>{words} .</title>{text}</item>".encode()
