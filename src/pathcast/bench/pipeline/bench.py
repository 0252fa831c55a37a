"""What every part is given."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.bench.pipeline.inputs import Inputs
from pathcast.bench.pipeline.sizes import Sizes
from pathcast.bench.report import Tell

__all__ = ["Bench"]


@dataclass(slots=True)
class Bench:
    """The numbers of a run, its inputs, and whom to tell."""

    sizes: Sizes
    tell: Tell
    inputs: Inputs = field(default_factory=Inputs)
    _bodies: list[bytes] = field(default_factory=list)

    def bodies(self) -> list[bytes]:
        """The documents, made once."""
        if not self._bodies:
            self._bodies += self.inputs.documents(self.sizes.documents)
        return self._bodies
