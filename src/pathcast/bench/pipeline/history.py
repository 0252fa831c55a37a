"""The cost of history: a stream over a folder that holds many old files, against one with few.

Two `pathcast run --stream` processes have processed their old files. They then get a new file in
turns; a turn ends when the batch of that file is done. Afterwards both wait without new files, and
their CPU time shows what an idle stream costs.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.processes import process_tree
from pathcast.bench.report import ReportLine, fingerprint
from pathcast.sandbox.processes import child_environment

__all__ = ["history", "history_line", "idle_line"]

_MAX_HISTORY_RATIO: Final = 1.5
_MAX_IDLE_CORES: Final = 0.15
_POLL_SECONDS: Final = 0.002
_START_SECONDS: Final = 600.0
_WARM_FILES: Final = 10
_OLD_BODY: Final = b"<news><item>old</item></news>"


@dataclass(slots=True)
class FolderStream:
    """A stream process, its input folder and its results."""

    process: subprocess.Popen[bytes]
    documents: Path
    out: Path
    files: int = 0

    def add_file(self) -> float:
        """Add a file; return the seconds until its batch is done."""
        batches = self._batches()
        draft = self.documents / ".draft"
        draft.write_bytes(b"<news><item>new</item></news>")
        start = time.perf_counter()
        draft.rename(self.documents / f"new-{self.files}.xml")
        self.files += 1
        self.wait_for_batch(batches + 1)
        return time.perf_counter() - start

    def wait_for_batch(self, batches: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while self._batches() < batches:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the stream over {self.documents} has ended or hangs")
            time.sleep(_POLL_SECONDS)

    def cpu_seconds(self) -> float:
        return sum(process.seconds for process in process_tree(self.process.pid))

    def _batches(self) -> int:
        folder = self.out / "done"
        return len(list(folder.glob("*.json"))) if folder.is_dir() else 0


def history(bench: PipelineContext) -> Iterator[ReportLine]:
    sizes = bench.sizes
    with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "s.txt").write_text("//item\n//headline\n")
        streams = []
        for count in (sizes.few_old_files, sizes.many_old_files):
            bench.progress(f"a stream over {count:,} old files")
            bench.inputs.fingerprints[f"{count:,} old files"] = fingerprint([_OLD_BODY])
            streams.append(stack.enter_context(_stream(folder, count)))
        few, many = streams
        bench.progress("new files in turns")
        walls = [(few.add_file(), many.add_file()) for _ in range(_WARM_FILES + sizes.batch_rounds)]
        yield history_line(walls[_WARM_FILES:], sizes.few_old_files, sizes.many_old_files)
        bench.progress(f"idle for {sizes.idle_seconds} seconds")
        time.sleep(3)  # a folder that has just changed is listed again for a moment
        before = many.cpu_seconds()
        time.sleep(sizes.idle_seconds)
        cores = (many.cpu_seconds() - before) / sizes.idle_seconds
        yield idle_line(cores, sizes.many_old_files)


@contextmanager
def _stream(folder: Path, old_files: int) -> Iterator[FolderStream]:
    """Start a stream and yield it when its old files are done."""
    documents, out = folder / f"in-{old_files}", folder / f"out-{old_files}"
    documents.mkdir()
    for number in range(old_files):
        (documents / f"old-{number}.xml").write_bytes(_OLD_BODY)
    command = [
        *(sys.executable, "-m", "pathcast", "run", "--stream", "--master", "local[2]"),
        *("--subscriptions", str(folder / "s.txt"), "--documents", str(documents)),
        *("--out", str(out), "--deliver", "none", "--batch-size", str(max(1, old_files))),
    ]
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=child_environment(),
    ) as process:
        try:
            stream = FolderStream(process, documents, out)
            stream.wait_for_batch(1)
            yield stream
        finally:
            process.terminate()


def history_line(walls: list[tuple[float, float]], few: int, many: int) -> ReportLine:
    ratios = [slow / fast for fast, slow in walls]
    fast, slow = (median(column) for column in zip(*walls, strict=True))
    return ReportLine(
        f"a new file beside {many:,} old ones / beside {few:,}",
        median(ratios),
        "x",
        target=_MAX_HISTORY_RATIO,
        at_least=False,
        spread=(min(ratios), max(ratios)),
        note=f"{slow:.2f} s and {fast:.2f} s from the file to its outcome",
    )


def idle_line(cores: float, old_files: int) -> ReportLine:
    return ReportLine(
        f"cores of an idle stream, {old_files:,} old files",
        cores,
        "",
        target=_MAX_IDLE_CORES,
        at_least=False,
    )
