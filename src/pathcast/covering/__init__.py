"""Which subscription stands for which.

twig, labels, values     a pattern as alternatives, each a tree of labels; which label allows which
containment              does one pattern cover another? yes, no with a witness, or neither        `covers`
indexes, core            of many patterns, those that one covers and those that cover it
aggregate                the patterns that stand for all the others, while they come and go        `Aggregate`
"""

from pathcast.covering.aggregate import Aggregate, Change
from pathcast.covering.containment import Verdict, covers

__all__ = ["Aggregate", "Change", "Verdict", "covers"]
