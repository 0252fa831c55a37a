"""`pathcast generate subscriptions`: XPath subscriptions from a DTD, as a subscription file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.generate_common import (
    GenerateOptions,
    WorkloadOptions,
    fail_on_error,
    format_distribution,
    load_preset,
    percentage,
    show_progress,
)
from pathcast.cli.generate_subscription_options import (
    PathShapeOptions,
    PredicateOptions,
    SelectionOptions,
    change_options,
)
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import format_name
from pathcast.files import FORMATS, Format, Subscription, format_of, line_of, write_subscriptions

if TYPE_CHECKING:
    from pathcast.generators.statistics import SubscriptionStatistics

__all__ = ["generate_subscriptions"]

DEFAULT_COUNT = 1000


@with_option_groups
def generate_subscriptions(
    *,
    workload: WorkloadOptions,
    count: Annotated[
        str | None,
        typer.Option(
            "--count",
            "-n",
            metavar="N|all",
            help=f"How many subscriptions; default {DEFAULT_COUNT}, or the preset's number.",
        ),
    ] = None,
    shape: PathShapeOptions,
    predicate_options: PredicateOptions,
    selection: SelectionOptions,
    file_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            parser=format_name,
            help="The format of --out; default: by its suffix.",
        ),
    ] = None,
    common: GenerateOptions,
) -> None:
    """Generate subscriptions that documents of a DTD can match.

    They are written to a .txt, .tsv, .jsonl or .parquet file (optionally .gz), or to stdout as
    lines of text. Statistics of the subscriptions follow.

    Exit code: 0; 2 for a bad call, a bad DTD or parameters that cannot be satisfied.

    Example: `pathcast generate subscriptions news -n 100000 --wildcard 0.1 -o subscriptions.txt`

    Example: `pathcast generate subscriptions --preset miliaraki2008-nitf -o subscriptions.parquet`
    """
    number = _parse_count(count)
    output_format = _choose_format(common.path, file_format)
    with Output() as output, fail_on_error():
        from pathcast.generators.statistics import SubscriptionStatistics
        from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions

        preset = load_preset(workload.preset)
        schemas = workload.load_schemas(preset)
        defaults = preset.subscriptions if preset else SubscriptionOptions()
        options = change_options(defaults, shape, predicate_options, selection)
        if count is None:
            number = preset.subscription_count if preset else DEFAULT_COUNT
        if number is None and not options.distinct:
            fail("--count all needs --distinct: duplicates have no end")
        statistics = SubscriptionStatistics()
        sample_options = preset.documents if preset else None
        texts = subscriptions(schemas, options, common.seed, number, documents=sample_options)
        with show_progress(texts, number, with_data=common.path is None) as counted_texts:
            _write(output, common.path, output_format, _add_ids(counted_texts, statistics))
        figures = _figures(statistics)
        if texts.achieved_ratio is not None:
            figures["match_ratio"] = round(texts.achieved_ratio, 4)
        parameters = {
            "schemas": [schema.name for schema in schemas],
            "preset": workload.preset,
            "seed": common.seed,
        }
        common.report(output, parameters | figures, _table(statistics, figures))


def _parse_count(count: str | None) -> int | None:
    """Return the number of `--count`, None if it is `all` or not given."""
    if count is None or count == "all":
        return None
    if not (count.isascii() and count.isdigit()):
        raise typer.BadParameter(f"{count!r} is neither a number nor 'all'", param_hint="--count")
    return int(count)


def _choose_format(path: str | None, option: Format | None) -> Format:
    """Return the format by `--format` or by the path; end the command if neither is usable."""
    if path is None:
        if option == "parquet":
            fail("parquet is not for standard output\n  hint: give --out FILE")
        return option or "txt"
    file_format = option or format_of(path)
    if file_format is None:
        hint = "name it .txt, .tsv, .jsonl or .parquet (optionally .gz), or give --format"
        fail(f"the format of {path!r} is not known\n  hint: {hint}")
    return file_format


def _add_ids(texts: Iterable[str], statistics: SubscriptionStatistics) -> Iterator[Subscription]:
    for number, text in enumerate(texts, 1):
        statistics.add(text)
        yield Subscription(number, text)


def _write(
    output: Output, path: str | None, file_format: Format, rows: Iterable[Subscription]
) -> None:
    """Write subscriptions to the path, or to stdout as lines."""
    if path is not None:
        write_subscriptions(path, rows, file_format=file_format)
        return
    assert file_format != "parquet"
    for number, row in enumerate(rows):
        output.text(line_of(file_format, row, number).removesuffix("\n"))


def _figures(statistics: SubscriptionStatistics) -> dict[str, object]:
    """Return the statistics as JSON values."""
    return {
        "subscriptions": statistics.count,
        "distinct": statistics.distinct,
        "steps": statistics.steps,
        "wildcards": statistics.wildcards,
        "descendants": statistics.descendants,
        "relative": statistics.relative,
        "branched": statistics.branched,
        "with_predicates": statistics.predicated,
        "predicates": statistics.predicates,
        "depths": dict(sorted(statistics.depths.items())),
        "characters": statistics.lengths.as_dict(),
    }


def _table(statistics: SubscriptionStatistics, figures: Mapping[str, Any]) -> dict[str, str]:
    """Return the statistics as the rows of a table."""
    count, steps = statistics.count, statistics.steps
    duplicates = count - figures["distinct"]
    predicated = percentage(statistics.predicated, count)
    table = {
        "subscriptions": f"{count:,}",
        "duplicates": f"{duplicates:,} ({percentage(duplicates, count)})",
        "depths": format_distribution(statistics.depths),
        "steps": f"{steps:,}",
        "  with *": percentage(statistics.wildcards, steps),
        "  with //": percentage(statistics.descendants, steps),
        "relative": percentage(statistics.relative, count),
        "branched": percentage(statistics.branched, count),
        "with predicates": f"{predicated} ({statistics.predicates:,} predicates)",
        "characters": str(statistics.lengths),
    }
    if "match_ratio" in figures:
        table["match ratio"] = f"{figures['match_ratio']} (of sample documents)"
    return table
