"""`pathcast demo`: the main job on a small feed of our own, with a summary to look at.

The feed is generated before the clock starts, so that the rate is the matcher's alone.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathcast.cli.feed import feed, subscriptions
from pathcast.cli.terminal import Output, progress
from pathcast.errors import DocumentError
from pathcast.matching import Matcher

__all__ = ["demo"]

_BUSIEST = 8


@dataclass(frozen=True, slots=True)
class _Busy:
    """An XPath, how many documents matched it, and who asked for them."""

    xpath: str
    documents: int
    subscriptions: list[str | int]


@dataclass(frozen=True, slots=True)
class _Run:
    seed: int
    subscriptions: int
    documents: Counter[str]
    matches: int
    unmatched: int
    undecided: int
    busiest: list[_Busy]
    errors: list[tuple[str, DocumentError]]
    seconds: float

    @property
    def rate(self) -> float:
        return self.documents.total() / max(self.seconds, 1e-9)

    def as_dict(self) -> dict[str, object]:
        return {
            "seed": self.seed,
            "subscriptions": self.subscriptions,
            "documents": self.documents.total(),
            "kinds": dict(sorted(self.documents.items())),
            "matches": self.matches,
            "unmatched": self.unmatched,
            "undecided": self.undecided,
            "busiest": [asdict(one) for one in self.busiest],
            "errors": [{"document": name, "error": error.as_dict()} for name, error in self.errors],
            "seconds": round(self.seconds, 3),
            "documents_per_second": round(self.rate, 1),
        }


def demo(
    documents: Annotated[
        int, typer.Option("--documents", min=0, help="How many documents to generate.")
    ] = 1000,
    wanted: Annotated[
        int, typer.Option("--subscriptions", min=0, help="How many subscriptions to generate.")
    ] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another feed.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Match a small generated feed and sum up what happened.

    The feed has news, weather, stock quotes, alerts and invoices; a few of its documents are broken on purpose.
    Exit code: 0.

    Example: `pathcast demo --documents 2000 --seed 7`
    """
    with Output() as output:
        run = _run(documents, wanted, seed)
        if as_json:
            output.json(run.as_dict())
        else:
            output.text(_summary(run))


def _run(documents: int, wanted: int, seed: int) -> _Run:
    xpaths: dict[str | int, str] = {}
    matcher = Matcher()
    for one in subscriptions(wanted, seed):
        matcher.add(one.id, one.xpath, one.namespaces)
        xpaths[one.id] = one.xpath
    bodies = list(feed(documents, seed))
    kinds: Counter[str] = Counter()
    readers: Counter[str | int] = Counter()
    unmatched = undecided = 0
    errors: list[tuple[str, DocumentError]] = []
    start = time.perf_counter()
    with progress("matching", documents, with_data=False) as bar:
        for name, body in bodies:
            kinds[name.partition("-")[0]] += 1
            try:
                matches = matcher.match(body)
            except DocumentError as error:
                errors.append((name, error))
            else:
                readers.update(matches)
                unmatched += not len(matches)
                undecided += len(matches.errors)
            bar.advance(bar.task_ids[0])
    seconds = time.perf_counter() - start
    return _Run(
        seed=seed,
        subscriptions=len(xpaths),
        documents=kinds,
        matches=readers.total(),
        unmatched=unmatched,
        undecided=undecided,
        busiest=_busiest(xpaths, readers),
        errors=errors,
        seconds=seconds,
    )


def _busiest(xpaths: dict[str | int, str], readers: Counter[str | int]) -> list[_Busy]:
    """Equal subscriptions are one to the matcher, and one here."""
    sharing: dict[str, list[str | int]] = {}
    for key, xpath in xpaths.items():
        sharing.setdefault(xpath, []).append(key)
    found = [_Busy(xpath, readers[keys[0]], keys) for xpath, keys in sharing.items()]
    return sorted(found, key=lambda one: -one.documents)[:_BUSIEST]


def _summary(run: _Run) -> str:
    """The tables, with colours if stdout is a terminal."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(run.documents.items()))
    figures = Table(title="pathcast demo", box=box.SIMPLE, show_header=False, title_justify="left")
    figures.add_row("documents", f"{run.documents.total():,}" + (f" ({kinds})" if kinds else ""))
    figures.add_row("subscriptions", f"{run.subscriptions:,}")
    figures.add_row("matches", f"{run.matches:,}")
    figures.add_row("matched nobody", f"{run.unmatched:,}")
    if run.undecided:
        figures.add_row("not decided", f"{run.undecided:,}", style="red")
    figures.add_row("broken documents", f"{len(run.errors):,}")
    figures.add_row("documents/s", f"{run.rate:,.0f}", style="bold")
    busiest = Table(title="busiest subscriptions", box=box.SIMPLE, title_justify="left")
    busiest.add_column("documents", justify="right")
    busiest.add_column("xpath", style="cyan", overflow="fold")
    busiest.add_column("subscriptions")
    for one in run.busiest:
        others = len(one.subscriptions) - 1
        owners = f"{one.subscriptions[0]}" + (f" and {others:,} more" if others else "")
        busiest.add_row(f"{one.documents:,}", Text(one.xpath), owners)
    broken = Table(title="broken documents", box=box.SIMPLE, title_justify="left")
    broken.add_column("document", style="cyan", no_wrap=True)
    broken.add_column("line", justify="right")
    broken.add_column("error", style="red", overflow="fold")
    for name, error in run.errors:
        line = "" if error.line is None else str(error.line)
        broken.add_row(name, line, Text(f"{error.kind}: {error.message}"))
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(figures)
        if run.busiest:
            console.print(busiest)
        if run.errors:
            console.print(broken)
    return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
