"""A process of its own for expressions that may have to be killed.

ProcessRunner -- frames over pipes --> python -m pathcast.helper.worker
"""

from __future__ import annotations

from pathcast.helper.runner import ProcessRunner

__all__ = ["ProcessRunner"]
