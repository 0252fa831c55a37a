"""A process of its own for work that may have to be killed.

ProcessRunner -- frames over pipes --> python -m pathcast.helper.worker          (expressions)
SheetRunner   -- frames over pipes --> python -m pathcast.helper.sheet_worker    (style sheets)

`SheetRunner` is in `pathcast.helper.sheets`: a helper imports this package when it starts, and one for expressions
can do without sheets.
"""

from __future__ import annotations

from pathcast.helper.runner import ProcessRunner

__all__ = ["ProcessRunner"]
