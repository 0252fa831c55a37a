"""A process of its own for work that may have to be killed.

ProcessRunner -- frames over pipes --> python -m pathcast.sandbox.worker          (expressions)
StylesheetRunner   -- frames over pipes --> python -m pathcast.sandbox.xslt_worker    (style sheets)

`StylesheetRunner` is in `pathcast.sandbox.xslt`: a helper imports this package when it starts, and one for expressions
can do without sheets.
"""

from __future__ import annotations

from pathcast.sandbox.runner import ProcessRunner

__all__ = ["ProcessRunner"]
