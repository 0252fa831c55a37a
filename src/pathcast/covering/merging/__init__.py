"""Merging of linear subscriptions: one table entry for several, with a bound on what it lets through in vain.

distribution   what a publisher sends, as weights of paths                          `PathDistribution`
rules          the three merging rules
merging        a table that is merged at once, or kept merged                       `merge`, `MergedTable`
"""

from pathcast.covering.change import Change
from pathcast.covering.merging.distribution import PathDistribution
from pathcast.covering.merging.merged_table import MergedTable, MergeOrder, Merger, merge

__all__ = ["Change", "MergeOrder", "MergedTable", "Merger", "PathDistribution", "merge"]
