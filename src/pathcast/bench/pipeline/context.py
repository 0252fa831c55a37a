"""The context of the pipeline benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.bench.pipeline.inputs import PipelineInputs
from pathcast.bench.pipeline.sizes import PipelineSizes
from pathcast.bench.report import Progress

__all__ = ["PipelineContext"]


@dataclass(slots=True)
class PipelineContext:
    """The sizes and inputs that all parts share."""

    sizes: PipelineSizes
    progress: Progress
    inputs: PipelineInputs = field(default_factory=PipelineInputs)
    _bodies: list[bytes] = field(default_factory=list)

    def bodies(self) -> list[bytes]:
        """Return the documents, generated once."""
        if not self._bodies:
            self._bodies += self.inputs.documents(self.sizes.documents)
        return self._bodies
