"""`pathcast compact`: few large files instead of some per batch, and a limit on history."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, plural, progress, say
from pathcast.cli.run import require_spark
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.compaction import CompactionSummary

__all__ = ["compact"]


def compact(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The folder that `pathcast run` wrote its results to."),
    ],
    keep: Annotated[
        float | None,
        typer.Option(
            "--keep",
            metavar="DAYS",
            min=0,
            help="Drop batches that started longer ago; the newest stays.",
        ),
    ] = None,
    outboxes: Annotated[
        bool, typer.Option("--outboxes", help="Drop the segments of dropped batches too.")
    ] = False,
    file_size: Annotated[
        int, typer.Option("--file-size", metavar="MB", min=1, help="The size of merged files.")
    ] = 128,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be merged and dropped.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Merge the files of finished batches into large ones, and drop old batches.

    The rows of all tables stay the same. No run may use OUT meanwhile. A compaction that was
    interrupted in any way is finished when it, or a run, is started again. OUT must be a folder
    that this machine sees; Spark is not started.

    Exit code: 0; 1 if it failed, on a full disk for example; 2 for a bad call, a folder without a
    run, or one that a run uses.

    Example: `pathcast compact results --keep 30`
    """
    if outboxes and keep is None:
        fail("--outboxes needs --keep")
    require_spark()
    from pathcast.pipeline.compaction import CompactionSettings
    from pathcast.pipeline.compaction import compact as compact_folder

    settings = CompactionSettings(keep, outboxes, file_size << 20, dry_run)
    with Output() as output, progress("merging batches", None) as bar:
        (task,) = bar.task_ids

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        try:
            summary = compact_folder(out, settings, on_progress=show)
        except PathcastError as error:
            bar.stop()
            if error.kind == "disk":
                say(f"pathcast: {error}", "red")
                raise typer.Exit(FAILED) from None
            fail(str(error))
        if as_json:
            output.json({**asdict(summary), "dry_run": dry_run, "out": str(out)})
        else:
            output.text(_table(summary, dry_run=dry_run))


def _table(summary: CompactionSummary, *, dry_run: bool) -> str:
    lines = [
        f"{'batches':<15} {summary.batches:,}",
        f"{'merged':<15} {summary.merged:,}",
        f"{'dropped':<15} {summary.dropped:,}",
    ]
    if dry_run:
        return "\n".join([*lines, f"{'files':<15} {summary.files_before:,}"])
    megabytes = f"{summary.bytes_before / 1e6:,.1f} -> {summary.bytes_after / 1e6:,.1f}"
    return "\n".join(
        [
            *lines,
            f"{'files':<15} {summary.files_before:,} -> {summary.files_after:,}",
            f"{'MB':<15} {megabytes}",
            f"{'versions':<15} {plural(summary.versions_dropped, 'version')} dropped",
        ]
    )
