"""Covering among the documents that are valid under a DTD.

dtd_difference    the DTD without the documents that match the wide pattern: a DTD again             `dtd_difference`
examples    documents of it that match the narrow pattern, or the certainty that there are none   `examples`
chase     a twig with all that the DTD says about the documents that match it                 `chase`
judging     a judge who looks at valid documents only, and the minimize of them                 `ValidWitnessChecker`, `minimize_valid`
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
