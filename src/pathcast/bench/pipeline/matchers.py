"""The yardstick: a process that only matches, with the documents in memory and the snapshot that the workers have.

    python -m pathcast.bench.pipeline.matchers SNAPSHOT FILE ...

An order names the documents, from `start` to `end`; the answer says how many matches they have.
"""

from __future__ import annotations

import sys

from pathcast.bench.pipeline.child import Answer, answering, serve
from pathcast.matching import Matcher

__all__ = ["MATCHERS"]

MATCHERS = "pathcast.bench.pipeline.matchers"  # __name__ is another one in the child


def _child(snapshot: str, *files: str) -> None:
    from pathcast.pipeline.bench_steps import read_bodies

    matcher, bodies = Matcher.load(snapshot), read_bodies(files)

    def handle(order: Answer) -> Answer:
        start, end = int(str(order["start"])), int(str(order["end"]))
        return {"matches": len(matcher.match_batch(bodies[start:end]).numbers)}

    with answering() as answers:
        serve(answers, handle)


if __name__ == "__main__":
    _child(*sys.argv[1:])
