"""Containment among the documents that are valid under a DTD.

chase            `chase`: a twig extended by all nodes that the DTD implies
dtd_difference   `dtd_difference`: the DTD of the valid documents that a pattern does not match
examples         `examples`: documents of that DTD that match the narrow pattern, if any
valid_witness    `ValidWitnessChecker`, `minimize_valid`: valid witnesses, minimised
"""

from pathcast.covering.under_dtd.chase import chase
from pathcast.covering.under_dtd.dtd_difference import dtd_difference
from pathcast.covering.under_dtd.examples import examples
from pathcast.covering.under_dtd.valid_witness import (
    ValidWitnessChecker,
    minimize_valid,
    substitute_values,
)

__all__ = [
    "ValidWitnessChecker",
    "chase",
    "dtd_difference",
    "examples",
    "minimize_valid",
    "substitute_values",
]
