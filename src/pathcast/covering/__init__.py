"""Which subscription stands for which.

reading, alternatives    a pattern as alternatives, each a twig
twig, labels, values     a twig is a tree of labels; which label subsumes which
containment              does one pattern cover another? yes, no with a witness, or neither        `covers`
indexes, core            of many patterns, those that one covers and those that cover it
missed                   what exact containment would add to that
aggregate                the patterns that stand for all the others, while they come and go        `Aggregate`
"""

from pathcast.covering.aggregate import Aggregate
from pathcast.covering.change import Change
from pathcast.covering.containment import Verdict, covers

__all__ = ["Aggregate", "Change", "Verdict", "covers"]
