"""The reference: a process that only matches, with the documents in memory.

    python -m pathcast.bench.pipeline.matchers SNAPSHOT FILE ...

It uses the snapshot of the workers. A request names the documents from `start` to `end`; the answer
is the number of matches.
"""

from __future__ import annotations

import sys

from pathcast.bench.pipeline.bench_process import Answer, redirect_output, serve
from pathcast.matching import Matcher

__all__ = ["MATCHERS"]

MATCHERS = "pathcast.bench.pipeline.matchers"  # __name__ is "__main__" in the child


def _child(snapshot: str, *files: str) -> None:
    from pathcast.pipeline.bench_steps import read_bodies

    matcher, bodies = Matcher.load(snapshot), read_bodies(files)

    def handle(request: Answer) -> Answer:
        start, end = int(str(request["start"])), int(str(request["end"]))
        return {"matches": len(matcher.match_batch(bodies[start:end]).numbers)}

    with redirect_output() as answers:
        serve(answers, handle)


if __name__ == "__main__":
    _child(*sys.argv[1:])
