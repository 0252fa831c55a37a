"""`pathcast simulate`: run a scenario, and say what it came to.

The summary is for people; --json is one object with all of it; --trace has every message, delivery and fault, in the order in which they happened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.simulate_tables import table_lines, tables_dict, why_dict, why_lines
from pathcast.cli.terminal import FAILED, Output, fail, say
from pathcast.errors import FormatError, PathcastError
from pathcast.formats.draft import file_draft

if TYPE_CHECKING:
    from pathcast.sim import Simulation
    from pathcast.sim.scenario import Outcome

__all__ = ["simulate"]

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
        str | None,
        typer.Option(
            "--why",
            metavar="DOCUMENT",
            help="Show why a document takes a link or not, at each broker it has come to, by the tables of the end.",
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

    text, folder = _read(scenario)
    try:
        outcome = run_scenario(text, folder, changes=Changes(seed, strategy, costs))
    except PathcastError as error:
        fail(f"{scenario}: {error}")
    try:
        shown = _shown(outcome.simulation, inspect or [], why, as_json)
    except PathcastError as error:
        fail(str(error))
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
    if outcome.failures:
        raise typer.Exit(FAILED)


def _shown(
    run: Simulation, brokers: list[str], document: str | None, as_json: bool
) -> dict[str, Any]:
    """What is asked for besides the summary."""
    if as_json:
        found: dict[str, Any] = {"tables": tables_dict(run, brokers)} if brokers else {}
        return found if document is None else {**found, "why": why_dict(run, document)}
    lines = list(table_lines(run, brokers))
    if document is not None:
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
        write_tables(outcome.simulation, folder, local="here")
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror}")
    except PathcastError as error:
        fail(str(error))


def _read(scenario: Path) -> tuple[str, Path]:
    """The text, and the folder in which its files are."""
    try:
        if str(scenario) == "-":
            data = typer.get_binary_stream("stdin").read(_MOST_TEXT + 1)
            folder = Path()
        else:
            with scenario.open("rb") as stream:
                data = stream.read(_MOST_TEXT + 1)
            folder = scenario.parent
        if len(data) > _MOST_TEXT:
            fail(f"{scenario}: a scenario has at most {_MOST_TEXT:,} bytes")
        return data.decode(), folder
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
        with file_draft(trace) as stream:
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
        "passed": outcome.passed,
        "failures": failures,
        **outcome.summary.as_dict(),
    }


def _lines(outcome: Outcome) -> list[str]:
    """The summary for people; what did not happen is left out."""
    run, summary = outcome.simulation, outcome.summary
    brokers, links = len(run.topology.brokers), len(run.topology.links)
    kinds = ", ".join(f"{kind} {many:,}" for kind, many in summary.received.items())
    entries, adverts = summary.entries, summary.advertisements
    rows = [
        ("overlay", f"{run.topology.name}: {_many(brokers, 'broker')}, {_many(links, 'link')}"),
        ("strategy", str(run.settings.strategy)),
        ("messages", f"{sum(summary.received.values()):,}" + (f": {kinds}" if kinds else "")),
        ("bytes", f"{summary.bytes:,}" + _busiest(*summary.busiest_link)),
        ("documents", _documents(outcome)),
        ("deliveries", _deliveries(outcome)),
        ("table entries", _sizes(entries)),
        ("advertisements", _sizes(adverts)),
        ("received in vain", f"{summary.vain:,}" if summary.vain else ""),
        ("dropped as doubles", f"{summary.doubled:,}" if summary.doubled else ""),
        ("frames", _frames(summary.lost_frames, summary.resent_frames)),
        ("brokers down", " ".join(n for n, host in run.hosts.items() if host.broker is None)),
        ("time", f"{summary.time:.6f} s"),
    ]
    checked = sum(str(one).startswith("expect") for one in outcome.scenario.body)
    if checked or outcome.failures:
        failed = len(outcome.failures)
        rows.append(
            ("expectations", f"{checked:,}, " + (f"{failed:,} failed" if failed else "all met"))
        )
    width = max(len(name) for name, value in rows if value)
    return [f"{name:<{width}}  {value}" for name, value in rows if value]


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


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
