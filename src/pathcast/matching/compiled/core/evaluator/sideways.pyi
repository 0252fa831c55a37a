from pathcast.matching.compiled.core.evaluator.joins import StepJoins

__all__ = ["SidewaysJoins"]

class SidewaysJoins(StepJoins): ...
