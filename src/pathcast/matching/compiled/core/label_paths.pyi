from pathcast.matching.compiled.core.segments import Segments

class LabelPaths(Segments):
    def __len__(self) -> int: ...
