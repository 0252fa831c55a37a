"""`pathcast simulate`: run a scenario, and say what it came to.

The summary is for people; --json is one object with all of it; --trace has every message, delivery and fault, in the order in which they happened.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import FAILED, Output, fail, many, say
from pathcast.cli.simulate_tables import table_lines, tables_dict, why_dict, why_lines
from pathcast.errors import FormatError, PathcastError
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.sim import Simulation
    from pathcast.sim.scenario import Outcome

__all__ = ["simulate"]

_REFUSALS = 3  # that the summary names
_MOST_TEXT = 16 * 2**20  # bytes of a scenario


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
            help="Write down all that happens; - writes it to standard output, before the summary.",
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
            help="Another strategy than the scenario's, such as no-Adv-no-Cov or with-Adv-with-CovIPM(0.1).",
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            "--costs",
            metavar="NAME",
            help="How long brokers take over a message: recorded costs by name (li2008), or a file.",
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
            help="Write the table of each broker for documents submitted there, as subscriptions whose subscribers are the next hops; `here` are its own. `pathcast run --hops` takes them.",
        ),
    ] = None,
    inspect: Annotated[
        list[str] | None,
        typer.Option(
            "--inspect",
            metavar="BROKER",
            help="Show the tables of a broker at the end, and why each entry is there; may be repeated.",
        ),
    ] = None,
    why: Annotated[
        list[str] | None,
        typer.Option(
            "--why",
            metavar="DOCUMENT",
            help="Show why a document takes a link or not, at each broker it has come to, by the tables of the end; may be repeated.",
        ),
    ] = None,
) -> None:
    """Run an overlay of brokers in virtual time, as a scenario tells it.

    A scenario is a text: a topology, publishers and subscribers, documents, faults, and what is expected. The same seed gives the
    same trace, byte for byte. The guide docs/guide/overlay.md tells the language. `--draw`, `--inspect` and `--why` show the overlay as it is at the end.

    Exit code: 0 if all is as the scenario expects; 1 if something is not (each told with its line); 2 for a bad call or a bad scenario.

    Example: `printf 'topology line 3\\npublisher P at b1 advertises anything\\nsubscribe s1 at b3 /a/b\\nquiet\\npublish d1 by P <a><b/></a>\\nquiet\\nexpect d1 reaches s1\\n' | pathcast simulate - --trace -`
    """
    from pathcast.sim.scenario import Changes, run_scenario

    _check(scenario, trace, draw, strategy, costs)
    text, folder = _read(scenario)
    try:
        outcome = run_scenario(text, folder, changes=Changes(seed, strategy, costs))
    except PathcastError as error:
        fail(f"{scenario}: {error}")
    shown: dict[str, Any] = {}
    unknown = ""
    try:
        shown = _shown(outcome.simulation, inspect or [], why or [], as_json)
    except PathcastError as error:  # told last: what has been found is worth more
        unknown = str(error)
    with Output() as output:
        if trace is not None:
            _write_trace(outcome, trace, output)
        if as_json:
            output.json({**_as_dict(outcome), **shown})
        else:
            for line in (*_lines(outcome), *shown.get("lines", ())):
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


def _check(
    scenario: Path, trace: Path | None, draw: Path | None, strategy: str | None, costs: str | None
) -> None:
    """What is wrong with the call can be said before anything runs."""
    from pathcast.routing.strategy import strategy as named
    from pathcast.sim.costs import read_costs

    if draw is not None and draw.suffix.lower() != ".svg":
        fail(f"--draw: {draw} should end with .svg: that is what is written")
    files = {"the scenario": scenario, "--trace": trace, "--draw": draw}
    given = [(what, one) for what, one in files.items() if one is not None and str(one) != "-"]
    for (what, one), (other, file) in itertools.combinations(given, 2):
        if one.resolve() == file.resolve():
            fail(f"{other}: {file} is {what}, and would be overwritten")
    try:
        if strategy is not None:
            named(strategy)
        if costs is not None:
            read_costs(costs)
    except PathcastError as error:
        fail(f"{'--costs' if error.kind == 'costs' else '--strategy'}: {error}")


def _shown(
    run: Simulation, brokers: list[str], documents: list[str], as_json: bool
) -> dict[str, Any]:
    """What is asked for besides the summary."""
    if as_json:
        found: dict[str, Any] = {"tables": tables_dict(run, brokers)} if brokers else {}
        if documents:
            found["why"] = [way for one in documents for way in why_dict(run, one)]
        return found
    lines = list(table_lines(run, brokers))
    for one in documents:
        lines += why_lines(run, one)
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
        made = write_tables(outcome.simulation, folder, local="here")
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror}")
    except PathcastError as error:
        fail(str(error))
    for name in outcome.simulation.hosts:
        if name not in made:
            say(f"pathcast: {name} is down, and has no table", "yellow")


def _read(scenario: Path) -> tuple[str, Path]:
    """The text, and the folder in which its files are."""
    try:
        if str(scenario) == "-":
            if sys.stdin is None:  # `pathcast simulate - <&-`
                fail("standard input is closed")
            data = sys.stdin.buffer.read(_MOST_TEXT + 1)
            folder = Path()
        else:
            with scenario.open("rb") as stream:
                data = stream.read(_MOST_TEXT + 1)
            folder = scenario.parent
        if len(data) > _MOST_TEXT:
            fail(f"{scenario}: a scenario has at most {_MOST_TEXT:,} bytes")
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
        {"line": one.line, "statement": one.statement, "found": one.found}
        for one in outcome.failures
    ]
    run = outcome.simulation
    return {
        "strategy": str(run.settings.strategy),
        "topology": run.topology.name,
        "brokers": len(run.topology.brokers),
        "links": len(run.topology.links),
        "seed": outcome.seed,
        "down": [name for name, host in run.hosts.items() if host.broker is None],
        "expectations": outcome.checked,
        "passed": outcome.passed,
        "failures": failures,
        "refusals": run.metrics.refusals,
        **outcome.summary.as_dict(),
    }


def _lines(outcome: Outcome) -> list[str]:
    """The summary for people; what did not happen is left out."""
    run, summary = outcome.simulation, outcome.summary
    brokers, links = len(run.topology.brokers), len(run.topology.links)
    kinds = ", ".join(f"{kind} {many:,}" for kind, many in summary.received.items())
    entries, adverts = summary.entries, summary.advertisements
    rows = [
        ("overlay", f"{run.topology.name}: {many(brokers, 'broker')}, {many(links, 'link')}"),
        ("strategy", str(run.settings.strategy)),
        ("messages", f"{sum(summary.received.values()):,}" + (f": {kinds}" if kinds else "")),
        ("bytes", f"{summary.bytes:,}" + _busiest(*summary.busiest_link)),
        ("documents", _documents(outcome)),
        *_refusals(outcome),
        ("deliveries", _deliveries(outcome)),
        ("table entries", _sizes(entries)),
        ("advertisements", _sizes(adverts)),
        ("received in vain", f"{summary.wasted:,}" if summary.wasted else ""),
        ("dropped as doubles", f"{summary.duplicates:,}" if summary.duplicates else ""),
        ("frames", _frames(summary.lost_frames, summary.resent_frames)),
        ("brokers down", " ".join(n for n, host in run.hosts.items() if host.broker is None)),
        ("time", f"{summary.time:.6f} s"),
    ]
    if outcome.checked or outcome.failures:
        failed = len(outcome.failures)
        rows.append(
            (
                "expectations",
                f"{outcome.checked:,}, " + (f"{failed:,} failed" if failed else "all met"),
            )
        )
    width = max(len(name) for name, value in rows if value)
    return [f"{name:<{width}}  {value}" for name, value in rows if value]


def _busiest(link: str, many: int) -> str:
    return f", most on {link}: {many:,}" if many else ""


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
    """Some of the documents that were refused, and why."""
    refused = outcome.simulation.metrics.refusals
    told = [f"{id}: {why}" for id, why in itertools.islice(refused.items(), _REFUSALS)]
    if len(refused) > _REFUSALS:
        told.append(f"and {len(refused) - _REFUSALS:,} more; --trace tells of them")
    return list(itertools.zip_longest(["refused"], told, fillvalue="")) if told else []


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
    return f"{lost:,} lost, {resent:,} sent again" if lost or resent else ""
