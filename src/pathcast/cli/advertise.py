"""`pathcast advertise`: what a publisher will send, from its DTD or from what it has sent.

Expressions in the paper's notation are for people, so there is a limit to how many are shown and how long they are; what counts for
brokers is the automaton, which `--json` writes in the form that travels in messages.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, plural, progress, say
from pathcast.cli.options import NamespaceOption, parse_namespaces
from pathcast.cli.schema import CatalogOption, RootOption, load_schema
from pathcast.documents import Limits
from pathcast.errors import AdvertisementError, DocumentError, FormatError, SubscriptionError

if TYPE_CHECKING:
    from pathcast.routing.advertisement import Advertisement

__all__ = ["advertise"]

_WRITTEN = 10_000  # names of an expression that JSON has in full
_DEPTH = 10


def advertise(
    dtd: Annotated[
        str | None,
        typer.Argument(
            metavar="[DTD]",
            help="The file of a DTD, or the name of a bundled schema (./news is a file).",
        ),
    ] = None,
    samples: Annotated[
        list[str] | None,
        typer.Option(
            "--samples",
            metavar="DOCUMENT",
            help="In place of a DTD, a document or a folder of them to infer from; may be given several times.",
        ),
    ] = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    overlap: Annotated[
        list[str] | None,
        typer.Option(
            "--overlaps",
            metavar="XPATH",
            help="Say whether a document within the advertisement may match; may be given several times.",
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
            help=f"Only expressions of at most N names; with --paths, paths of at most N elements, {_DEPTH} if not given.",
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="Write at most so many."),
    ] = 1000,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write a JSON object, with the automaton; a line each for --overlaps."
        ),
    ] = False,
) -> None:
    """Say what a publisher with this DTD will send: the paths to the leaves of its documents.

    Each line is the class of an advertisement and the advertisement, in the notation of Li, Hou and Jacobsen: `/a(/b)+/c` has b once or more
    often. `(/b|/c)` has one of both, and what is too long to be read is `(... names ...)`.

    Exit code: 0; 1 if one of --overlaps does not, or a sample is no document; 2 for a bad call, a bad DTD or a bad XPath.

    Example: `pathcast advertise book`

    Example: `pathcast advertise news --overlaps '//hl1[em]' --overlaps '/news/em'`

    Example: `pathcast advertise --samples documents/ --paths --depth 4`
    """
    if (dtd is None) == (not samples):
        fail("give a DTD, or --samples DOCUMENT for a publisher without one")
    if samples and (root is not None or catalog is not None):
        fail("--root and --catalog are for a DTD")
    if overlap and (paths or depth):
        fail("--overlaps and --paths or --depth cannot be written at once")
    from pathcast.routing.advertisement import Advertisement

    if dtd is not None:
        schema = load_schema(dtd, root, catalog)
        name, found, bad = schema.name, Advertisement.of(schema), 0
    else:
        name = ", ".join(samples or ())
        found, bad = _inferred(samples or [])
    with Output() as output:
        if overlap:
            bad += _overlaps(output, found, overlap, parse_namespaces(namespace), as_json)
        elif paths:
            _paths(output, name, found, depth or _DEPTH, limit, as_json)
        else:
            _expressions(output, name, found, depth, limit, as_json)
    if bad:
        raise typer.Exit(FAILED)


def _inferred(arguments: list[str]) -> tuple[Advertisement, int]:
    """From all samples that are documents, and how many are not."""
    from pathcast.files import iter_documents
    from pathcast.routing.advertisement import infer, widen

    found = infer([])
    taken = bad = 0
    try:
        with progress("reading samples", None, with_data=False) as bar:
            for one in iter_documents(arguments, limit=Limits().size):
                try:
                    found = widen(found, one.read())
                    taken += 1
                except DocumentError as error:
                    bad += 1
                    say(f"{one.name}: {error}", "red", bar.console)
                bar.advance(bar.task_ids[0])
    except FormatError as error:
        fail(str(error))
    if not taken:
        fail("there is no document among the samples")
    say(f"{plural(taken, 'sample')} read, {plural(len(found.labels), 'element')} seen")
    return found, bad


def _overlaps(
    output: Output,
    found: Advertisement,
    xpaths: list[str],
    namespaces: dict[str, str] | None,
    as_json: bool,
) -> int:
    """Answer each; how many do not overlap."""
    from pathcast.routing.advertisement import overlaps
    from pathcast.xpath import parse

    try:
        patterns = [parse(text, namespaces) for text in xpaths]
    except SubscriptionError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    apart = 0
    for text, pattern in zip(xpaths, patterns, strict=True):
        answer = overlaps(found, pattern)
        apart += not answer
        if as_json:
            output.json({"xpath": text, "overlaps": answer})
        else:
            output.text(f"{'yes' if answer else 'no':<4}{text}")
    return apart


def _paths(
    output: Output, name: str, found: Advertisement, depth: int, limit: int, as_json: bool
) -> None:
    from pathcast.routing.advertisement import count_paths, leaf_paths

    counts = count_paths(found, depth)
    listed = ("/" + "/".join(path) for path in islice(leaf_paths(found, depth), limit))
    if as_json:
        output.json({"name": name, "counts": counts, "paths": list(listed)})
        return
    for path in listed:
        output.text(path)
    total = sum(counts)
    shown = f", the first {limit:,} of them shown (--limit)" if total > limit else ""
    say(f"{name}: {plural(total, 'leaf path')} up to depth {depth}{shown}")


def _expressions(
    output: Output, name: str, found: Advertisement, depth: int | None, limit: int, as_json: bool
) -> None:
    from pathcast.routing.advertisement import RecursionClass, expressions, tally

    try:
        kinds = tally(found, depth)
        shown = list(islice(expressions(found, depth), limit))
    except AdvertisementError as error:
        say(f"pathcast: {name}: {error.message}", "red")
        say("  hint: --paths --depth N lists the paths up to a depth; --overlaps works as ever")
        raise typer.Exit(BAD_CALL) from None
    total = kinds.total()
    if as_json:
        told = [
            {
                "class": one.kind.value,
                "text": str(one) if one.size <= _WRITTEN else None,
                "names": one.size,
            }
            for one in shown
        ]
        output.json(
            {
                "name": name,
                "count": total,
                "classes": {kind.value: kinds[kind] for kind in RecursionClass},
                "advertisements": told,
                "automaton": found.to_json(),
            }
        )
        return
    for one in shown:
        output.text(f"{one.kind.value:<20}{one.abbreviate()}")
    listed = ", ".join(f"{kinds[kind]:,} {kind.value}" for kind in RecursionClass if kinds[kind])
    cut = f"; the first {limit:,} are shown (--limit)" if total > limit else ""
    edges = sum(states.bit_count() for states in found.below)
    say(
        f"{name}: {plural(total, 'advertisement')}{f' ({listed})' if listed else ''}{cut};"
        f" as one automaton: {plural(len(found.labels), 'element')}, {plural(edges, 'edge')}"
    )
    if not total and depth is None:
        say("  no document of it would ever end: every element asks for another one in it")
