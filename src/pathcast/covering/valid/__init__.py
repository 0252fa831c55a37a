"""Covering among the documents that are valid under a DTD.

avoiding    the DTD without the documents that match the wide pattern: a DTD again             `avoiding`
examples    documents of it that match the narrow pattern, or the certainty that there are none   `examples`
implied     a twig with all that the DTD says about the documents that match it                 `implied`
judging     a judge who looks at valid documents only, and the smallest of them                 `ValidJudge`, `smallest_valid`
"""

from pathcast.covering.valid.avoiding import avoiding
from pathcast.covering.valid.examples import examples
from pathcast.covering.valid.implied import implied
from pathcast.covering.valid.judging import ValidJudge, revalued, smallest_valid

__all__ = ["ValidJudge", "avoiding", "examples", "implied", "revalued", "smallest_valid"]
