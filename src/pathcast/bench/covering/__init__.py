"""How fast it is known which subscription stands for which, and how much smaller tables get by it.

inputs (patterns, encoded once) -> a part (search, queries, first, changes, ...) -> lines -> table

- Every index is compiled, and all have the same test of a pair; the plain one asks each pattern in turn and is what the others are compared with.
- Searches are for patterns that are not among those searched, each in both directions. Time is CPU time, both run in turns,
  up to the array of numbers that were found.
- The papers' DTD is not ours to give away: the bundled news schema stands in for NITF, and the queries have its names.
"""
