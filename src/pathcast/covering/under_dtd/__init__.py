"""Covering among the documents that are valid under a DTD.

avoiding    the DTD without the documents that match the wide pattern: a DTD again             `avoiding`
examples    documents of it that match the narrow pattern, or the certainty that there are none   `examples`
implied     a twig with all that the DTD says about the documents that match it                 `implied`
judging     a judge who looks at valid documents only, and the smallest of them                 `ValidJudge`, `smallest_valid`
"""

from pathcast.covering.under_dtd.chase import implied
from pathcast.covering.under_dtd.dtd_difference import avoiding
from pathcast.covering.under_dtd.examples import examples
from pathcast.covering.under_dtd.valid_witness import ValidJudge, revalued, smallest_valid

__all__ = ["ValidJudge", "avoiding", "examples", "implied", "revalued", "smallest_valid"]
