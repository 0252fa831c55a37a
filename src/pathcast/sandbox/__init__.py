"""Worker processes for evaluations that libxml2 and libxslt cannot interrupt.

The parent sends requests over pipes, enforces a deadline for each, and kills a worker that
overruns.

    ProcessRunner     -- frames over pipes --> python -m pathcast.sandbox.worker       (XPath)
    StylesheetRunner  -- frames over pipes --> python -m pathcast.sandbox.xslt_worker  (XSLT)

- `runner`: `ProcessRunner` evaluates expensive XPath expressions.
- `xslt`: `StylesheetRunner` applies a style sheet to documents.
- `worker`, `xslt_worker`: the programs of the worker processes; `serve_loop` is their common start.
- `process_owner`: base class of the runners; starts, replaces and stops the worker process.
- `child`: one worker process and its pipes.
- `frames`: the wire protocol.
- `processes`: command line, environment and memory of child processes, for other packages too.

Import `StylesheetRunner` from `pathcast.sandbox.xslt`. Every worker imports this package when it
starts, and an XPath worker should not pay for XSLT.
"""

from __future__ import annotations

from pathcast.sandbox.runner import ProcessRunner

__all__ = ["ProcessRunner"]
