"""Merging of linear subscriptions: one table entry for several, with a bound on the waste.

merged_table      `merge`, `MergedTable`: a table merged once, or kept merged under changes
merge_selection   which mergers to make, in which order (`MergeOrder`)
rules             the three merging rules (Li 2008, section 4.3)
candidates        the mergers of two entries, found by hashing
distribution      `PathDistribution`: the paths that a publisher sends, with weights
uncovered         the paths that no other covers
index             an index of linear paths by covering
linear            linear paths as steps, and their shift-and automaton
"""

from pathcast.covering.change import Change
from pathcast.covering.merging.distribution import PathDistribution
from pathcast.covering.merging.merged_table import MergedTable, MergeOrder, Merger, merge

__all__ = ["Change", "MergeOrder", "MergedTable", "Merger", "PathDistribution", "merge"]
