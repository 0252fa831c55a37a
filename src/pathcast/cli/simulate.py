"""`pathcast simulate`: run a scenario and report the result.

The summary is for people. --json writes one object with all of it. --trace writes every message,
delivery and fault, in the order of virtual time.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import FAILED, Output, fail, plural, say
from pathcast.cli.simulate_tables import table_lines, tables_dict, why_dict, why_lines
from pathcast.errors import FormatError, PathcastError
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.sim import Simulation
    from pathcast.sim.scenario import Outcome

__all__ = ["simulate"]

_SHOWN_REFUSALS = 3  # in the summary
_MAX_SCENARIO_SIZE = 16 * 2**20  # bytes


def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A file with a scenario, or - for stdin.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Write all events to a file; - is standard output, before the summary.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="Another seed than the scenario's."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="Another strategy than the scenario's, such as no-Adv-no-Cov or "
            "with-Adv-with-CovIPM(0.1).",
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            "--costs",
            metavar="NAME",
            help="How long brokers take for a message: recorded costs by name (li2008), or a file.",
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="FILE.svg",
            help="Draw the overlay as it is at the end, with tables and traffic.",
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables",
            metavar="DIR",
            help="Write the table of each broker for documents submitted there, as subscriptions "
            "whose subscribers are the next hops; `here` are its own. `pathcast run --hops` takes "
            "them.",
        ),
    ] = None,
    inspect: Annotated[
        list[str] | None,
        typer.Option(
            "--inspect",
            metavar="BROKER",
            help="Show the tables of a broker at the end, and why each entry is there; may be "
            "repeated.",
        ),
    ] = None,
    why: Annotated[
        list[str] | None,
        typer.Option(
            "--why",
            metavar="DOCUMENT",
            help="Show why a document takes a link or not, at each broker that it reached, by the "
            "tables of the end; may be repeated.",
        ),
    ] = None,
) -> None:
    """Run an overlay of brokers in virtual time, as a scenario describes it.

    A scenario is a text: a topology, publishers and subscribers, documents, faults, and what is
    expected. The same seed gives the same trace, byte for byte. The guide docs/guide/overlay.md
    explains it. `--draw`, `--inspect` and `--why` show the overlay as it is at the end.

    Exit code: 0 if all expectations hold; 1 if some do not (each is shown with its line); 2 for a
    bad call or a bad scenario.

    Example: `pathcast simulate scenario.txt --trace -`

    Example: `printf 'topology line 2\\nsubscribe s at b2 /a\\nuntil idle\\n' | pathcast simulate -`
    """
    from pathcast.sim.scenario import Overrides, run_scenario

    _check_arguments(scenario, trace, draw, strategy, costs)
    text, folder = _read(scenario)
    try:
        outcome = run_scenario(text, folder, overrides=Overrides(seed, strategy, costs))
    except PathcastError as error:
        fail(f"{scenario}: {error}")
    details: dict[str, Any] = {}
    unknown = ""
    try:
        details = _details(outcome.simulation, inspect or [], why or [], as_json)
    except PathcastError as error:  # reported last, after the summary
        unknown = str(error)
    with Output() as output:
        if trace is not None:
            _write_trace(outcome, trace, output)
        if as_json:
            output.json({**_as_dict(outcome), **details})
        else:
            for line in (*_summary_lines(outcome), *details.get("lines", ())):
                output.text(line)
    if draw is not None:
        _draw(outcome, draw)
    if tables is not None:
        _write_tables(outcome, tables)
    for failure in outcome.failures:
        say(f"pathcast: {scenario}: {failure}", "red")
    if unknown:
        fail(unknown)
    if outcome.failures:
        raise typer.Exit(FAILED)


def _check_arguments(
    scenario: Path, trace: Path | None, draw: Path | None, strategy: str | None, costs: str | None
) -> None:
    """Fail on a bad call before anything runs."""
    from pathcast.routing.strategy import strategy as strategy_by_name
    from pathcast.sim.costs import read_costs

    if draw is not None and draw.suffix.lower() != ".svg":
        fail(f"--draw: {draw} should end with .svg: that is what is written")
    files = {"the scenario": scenario, "--trace": trace, "--draw": draw}
    given = [(role, path) for role, path in files.items() if path is not None and str(path) != "-"]
    for (first_role, first), (role, path) in itertools.combinations(given, 2):
        if first.resolve() == path.resolve():
            fail(f"{role}: {path} is {first_role}, and would be overwritten")
    try:
        if strategy is not None:
            strategy_by_name(strategy)
        if costs is not None:
            read_costs(costs)
    except PathcastError as error:
        fail(f"{'--costs' if error.kind == 'costs' else '--strategy'}: {error}")


def _details(
    run: Simulation, brokers: list[str], documents: list[str], as_json: bool
) -> dict[str, Any]:
    """Return the output of --inspect and --why: JSON values, or `lines` of text."""
    if as_json:
        details: dict[str, Any] = {"tables": tables_dict(run, brokers)} if brokers else {}
        if documents:
            details["why"] = [row for document in documents for row in why_dict(run, document)]
        return details
    lines = list(table_lines(run, brokers))
    for document in documents:
        lines += why_lines(run, document)
    return {"lines": lines}


def _draw(outcome: Outcome, path: Path) -> None:
    from pathcast.sim.drawing import write_picture

    try:
        write_picture(outcome.simulation, path)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")


def _write_tables(outcome: Outcome, folder: Path) -> None:
    from pathcast.sim.tables import write_tables

    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = write_tables(outcome.simulation, folder, local="here")
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror}")
    except PathcastError as error:
        fail(str(error))
    for name in outcome.simulation.hosts:
        if name not in written:
            say(f"pathcast: {name} is down, and has no table", "yellow")


def _read(scenario: Path) -> tuple[str, Path]:
    """Return the text of a scenario, and the folder of the files that it names."""
    try:
        if str(scenario) == "-":
            if sys.stdin is None:  # `pathcast simulate - <&-`
                fail("standard input is closed")
            data = sys.stdin.buffer.read(_MAX_SCENARIO_SIZE + 1)
            folder = Path()
        else:
            with scenario.open("rb") as stream:
                data = stream.read(_MAX_SCENARIO_SIZE + 1)
            folder = scenario.parent
        if len(data) > _MAX_SCENARIO_SIZE:
            fail(f"{scenario}: a scenario has at most {_MAX_SCENARIO_SIZE:,} bytes")
        return data.decode("utf-8-sig"), folder
    except OSError as error:
        fail(f"{scenario} cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        fail(f"{scenario} is not UTF-8: {error.reason} at byte {error.start}")


def _write_trace(outcome: Outcome, trace: Path, output: Output) -> None:
    if str(trace) == "-":
        for line in outcome.trace:
            output.text(line)
        return
    try:
        with atomic_file(trace) as stream:
            stream.writelines(f"{line}\n".encode() for line in outcome.trace)
    except FormatError as error:
        fail(str(error))


def _as_dict(outcome: Outcome) -> dict[str, object]:
    failures = [
        {"line": failure.line, "statement": failure.statement, "found": failure.actual}
        for failure in outcome.failures
    ]
    run = outcome.simulation
    return {
        "strategy": str(run.settings.strategy),
        "topology": run.topology.name,
        "brokers": len(run.topology.brokers),
        "links": len(run.topology.links),
        "seed": outcome.seed,
        "down": run.brokers_down(),
        "expectations": outcome.expectation_count,
        "passed": outcome.passed,
        "failures": failures,
        "refusals": run.metrics.refusals,
        **outcome.summary.as_dict(),
    }


def _summary_lines(outcome: Outcome) -> list[str]:
    """Return the summary for people, without the rows of things that did not happen."""
    run, summary = outcome.simulation, outcome.summary
    brokers, links = len(run.topology.brokers), len(run.topology.links)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in summary.received.items())
    entries, adverts = summary.entries, summary.advertisements
    rows = [
        ("overlay", f"{run.topology.name}: {plural(brokers, 'broker')}, {plural(links, 'link')}"),
        ("strategy", str(run.settings.strategy)),
        ("messages", f"{sum(summary.received.values()):,}" + (f": {kinds}" if kinds else "")),
        ("bytes", f"{summary.bytes:,}" + _busiest(*summary.busiest_link)),
        ("documents", _documents(outcome)),
        *_refusals(outcome),
        ("deliveries", _deliveries(outcome)),
        ("table entries", _sizes(entries)),
        ("advertisements", _sizes(adverts)),
        ("wasted", f"{summary.wasted:,}" if summary.wasted else ""),
        ("duplicates", f"{summary.duplicates:,}" if summary.duplicates else ""),
        ("frames", _frames(summary.lost_frames, summary.resent_frames)),
        ("brokers down", " ".join(run.brokers_down())),
        ("time", f"{summary.time:.6f} s"),
    ]
    if outcome.expectation_count or outcome.failures:
        failed = len(outcome.failures)
        rows.append(
            (
                "expectations",
                f"{outcome.expectation_count:,}, "
                + (f"{failed:,} failed" if failed else "all met"),
            )
        )
    width = max(len(name) for name, value in rows if value)
    return [f"{name:<{width}}  {value}" for name, value in rows if value]


def _busiest(link: str, size: int) -> str:
    return f", most on {link}: {size:,}" if size else ""


def _documents(outcome: Outcome) -> str:
    summary = outcome.summary
    if not outcome.simulation.published:
        return ""
    parts = [f"{summary.accepted:,} accepted"]
    if summary.refused:
        parts.append(f"{summary.refused:,} refused")
    if summary.outside:
        parts.append(f"{summary.outside:,} outside their advertisement")
    parts.append(f"{summary.stress:.2f} links each")
    return ", ".join(parts)


def _refusals(outcome: Outcome) -> list[tuple[str, str]]:
    """Return rows with the first refused documents and the reasons."""
    refused = outcome.simulation.metrics.refusals
    reasons = [
        f"{id}: {reason}" for id, reason in itertools.islice(refused.items(), _SHOWN_REFUSALS)
    ]
    if len(refused) > _SHOWN_REFUSALS:
        reasons.append(f"and {len(refused) - _SHOWN_REFUSALS:,} more; --trace has them all")
    return list(itertools.zip_longest(["refused"], reasons, fillvalue="")) if reasons else []


def _deliveries(outcome: Outcome) -> str:
    summary = outcome.summary
    if not summary.deliveries:
        return "none" if outcome.simulation.published else ""
    mean, longest = summary.delay * 1000, summary.longest * 1000
    hops = f"{summary.hops:.2f} links"
    return (
        f"{summary.deliveries:,}, after {mean:.3f} ms on average, {longest:.3f} ms at most, {hops}"
    )


def _sizes(sizes: dict[str, int]) -> str:
    largest = max(sizes, key=lambda name: sizes[name], default=None)
    if largest is None or not sizes[largest]:
        return "none"
    return f"{sum(sizes.values()):,}, most at {largest}: {sizes[largest]:,}"


def _frames(lost: int, resent: int) -> str:
    return f"{lost:,} lost, {resent:,} retransmitted" if lost or resent else ""
