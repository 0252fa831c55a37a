"""`pathcast advertise`: the advertisements of a publisher, from its DTD or from sample documents.

The expressions are in the notation of Li 2008, for people: at most `--limit` are shown, and long
ones are abbreviated. Brokers use the automaton, which `--json` writes in the form of messages.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, plural, progress, say
from pathcast.cli.dtd_options import DtdOptions, OptionalDtdArgument
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import BudgetOption, NamespaceOption, parse_namespaces
from pathcast.documents import Limits
from pathcast.errors import AdvertisementError, DocumentError, FormatError, SubscriptionError

if TYPE_CHECKING:
    from collections import Counter

    from pathcast.routing.advertisement import (
        Advertisement,
        AdvertisementExpression,
        RecursionClass,
    )

__all__ = ["advertise"]

_MAX_JSON_NAMES = 10_000  # an expression with more names has no text in JSON
_ANSWERS = {True: "yes", False: "no", None: "?"}
DEFAULT_PATH_DEPTH = 10


@with_option_groups
def advertise(
    dtd: OptionalDtdArgument = None,
    *,
    samples: Annotated[
        list[str] | None,
        typer.Option(
            "--samples",
            metavar="DOCUMENT",
            help="Instead of a DTD: a document, or a folder of documents, to infer the"
            " advertisement from; repeatable.",
        ),
    ] = None,
    dtd_options: DtdOptions,
    xpaths: Annotated[
        list[str] | None,
        typer.Option(
            "--overlaps",
            metavar="XPATH",
            help="Say whether a document within the advertisement can match; repeatable.",
        ),
    ] = None,
    namespace: NamespaceOption = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="List the leaf paths instead, shortest first.")
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            min=1,
            max=1000,
            help="Only expressions of at most N names; with --paths, paths of at most N elements,"
            f" default {DEFAULT_PATH_DEPTH}.",
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="Write at most N."),
    ] = 1000,
    budget: BudgetOption = DEFAULT_STEPS,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write a JSON object, with the automaton; with --overlaps, an object per line.",
        ),
    ] = False,
) -> None:
    """List the advertisements of a publisher: the paths to the leaves of its documents.

    Each line has the class of an advertisement and its expression, in the notation of Li, Hou and
    Jacobsen (2008). `/a(/b)+/c` has one or more b, `(/b|/c)` one of both. Long parts are
    abbreviated as `(... names ...)`. With --overlaps, ? means undecided within --budget, which
    brokers treat as yes. A list that exceeds the budget is an error, and nothing is written.

    Exit code: 0; 1 if an XPath of --overlaps does not overlap, or a sample is malformed; 2 for a
    bad call, a bad DTD, a bad XPath or a list beyond the budget.

    Example: `pathcast advertise book`

    Example: `pathcast advertise news --overlaps '//hl1[em]' --overlaps '/news/em'`

    Example: `pathcast advertise --samples documents/ --paths --depth 4`
    """
    if (dtd is None) == (not samples):
        fail("give a DTD, or --samples DOCUMENT for a publisher without one")
    if samples and dtd_options.has_values():
        fail("--root and --catalog are for a DTD")
    if xpaths and (paths or depth):
        fail("--overlaps and --paths or --depth cannot be written at once")
    from pathcast.routing.advertisement import Advertisement

    if dtd is not None:
        schema = dtd_options.load(dtd)
        name, advertisement, failed = schema.name, Advertisement.of(schema), 0
    else:
        name = ", ".join(samples or ())
        advertisement, failed = _infer(samples or [])
    with Output() as output:
        if xpaths:
            prefixes = parse_namespaces(namespace)
            failed += _write_overlaps(output, advertisement, xpaths, prefixes, budget, as_json)
        else:
            try:
                if paths:
                    depth = depth or DEFAULT_PATH_DEPTH
                    _write_paths(output, name, advertisement, depth, limit, budget, as_json)
                else:
                    _write_expressions(output, name, advertisement, depth, limit, budget, as_json)
            except AdvertisementError as error:
                say(f"pathcast: {name}: {error.message}", "red")
                say(
                    "  hint: --paths --depth N lists the paths up to a depth, --budget N allows"
                    " more work; --overlaps still works"
                )
                raise typer.Exit(BAD_CALL) from None
    if failed:
        raise typer.Exit(FAILED)


def _infer(arguments: list[str]) -> tuple[Advertisement, int]:
    """Return the advertisement of all well-formed samples, and the number of malformed ones."""
    from pathcast.files import iter_documents
    from pathcast.routing.advertisement import infer, widen

    advertisement = infer([])
    accepted = malformed = 0
    try:
        with progress("reading samples", None, with_data=False) as bar:
            for document in iter_documents(arguments, limit=Limits().size):
                try:
                    advertisement = widen(advertisement, document.read())
                    accepted += 1
                except DocumentError as error:
                    malformed += 1
                    say(f"{document.name}: {error}", "red", bar.console)
                bar.advance(bar.task_ids[0])
    except FormatError as error:
        fail(str(error))
    if not accepted:
        fail("there is no document among the samples")
    elements = plural(len(advertisement.labels), "element")
    say(f"{plural(accepted, 'sample')} read, {elements} seen")
    return advertisement, malformed


def _write_overlaps(
    output: Output,
    advertisement: Advertisement,
    xpaths: list[str],
    namespaces: dict[str, str] | None,
    budget: int,
    as_json: bool,
) -> int:
    """Write for each XPath whether it overlaps; return the number of those that do not."""
    from pathcast.routing.advertisement import decide_overlap
    from pathcast.xpath import parse

    try:
        patterns = [parse(text, namespaces) for text in xpaths]
    except SubscriptionError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    disjoint = undecided = 0
    for text, pattern in zip(xpaths, patterns, strict=True):
        answer = decide_overlap(advertisement, pattern, budget=WorkBudget(budget))
        disjoint += answer is False
        undecided += answer is None
        if as_json:
            output.json({"xpath": text, "overlaps": answer})
        else:
            output.text(f"{_ANSWERS[answer]:<4}{text}")
    if undecided:
        say(f"{undecided:,} undecided within {budget:,} steps (--budget)")
    return disjoint


def _write_paths(
    output: Output,
    name: str,
    advertisement: Advertisement,
    depth: int,
    limit: int,
    budget: int,
    as_json: bool,
) -> None:
    from pathcast.routing.advertisement import count_paths, leaf_paths

    counts = count_paths(advertisement, depth, budget=WorkBudget(budget))
    first_paths = islice(leaf_paths(advertisement, depth, budget=WorkBudget(budget)), limit)
    paths = ["/" + "/".join(path) for path in first_paths]
    if as_json:
        output.json({"name": name, "counts": counts, "paths": paths})
        return
    for path in paths:
        output.text(path)
    total = sum(counts)
    limited = f", the first {limit:,} of them shown (--limit)" if total > limit else ""
    say(f"{name}: {plural(total, 'leaf path')} up to depth {depth}{limited}")


def _write_expressions(
    output: Output,
    name: str,
    advertisement: Advertisement,
    depth: int | None,
    limit: int,
    budget: int,
    as_json: bool,
) -> None:
    from pathcast.routing.advertisement import RecursionClass, expressions, tally

    class_counts = tally(advertisement, depth, budget=WorkBudget(budget))
    every_expression = expressions(advertisement, depth, budget=WorkBudget(budget))
    first_expressions = list(islice(every_expression, limit))
    if as_json:
        output.json(_expressions_dict(name, advertisement, class_counts, first_expressions))
        return
    total = class_counts.total()
    for expression in first_expressions:
        output.text(f"{expression.kind.value:<20}{expression.abbreviate()}")
    classes = ", ".join(
        f"{class_counts[kind]:,} {kind.value}" for kind in RecursionClass if class_counts[kind]
    )
    limited = f"; the first {limit:,} are shown (--limit)" if total > limit else ""
    edges = sum(states.bit_count() for states in advertisement.below)
    say(
        f"{name}: {plural(total, 'advertisement')}{f' ({classes})' if classes else ''}{limited};"
        f" as one automaton: {plural(len(advertisement.labels), 'element')},"
        f" {plural(edges, 'edge')}"
    )
    if not total and depth is None:
        say("  there is no finite document: every element requires a child")


def _expressions_dict(
    name: str,
    advertisement: Advertisement,
    class_counts: Counter[RecursionClass],
    first_expressions: list[AdvertisementExpression],
) -> dict[str, object]:
    from pathcast.routing.advertisement import RecursionClass

    rows = [
        {
            "class": expression.kind.value,
            "text": str(expression) if expression.size <= _MAX_JSON_NAMES else None,
            "names": expression.size,
        }
        for expression in first_expressions
    ]
    return {
        "name": name,
        "count": class_counts.total(),
        "classes": {kind.value: class_counts[kind] for kind in RecursionClass},
        "advertisements": rows,
        "automaton": advertisement.to_json(),
    }
