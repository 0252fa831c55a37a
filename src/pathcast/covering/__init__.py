"""Which subscription stands for which.

containment   does one pattern cover another? yes, no with a witness, or neither        `covers`
"""

from pathcast.covering.containment import Verdict, covers

__all__ = ["Verdict", "covers"]
