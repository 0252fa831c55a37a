"""Benchmark of covering: the speed of the indexes, and the reduction of tables.

    context (patterns, encoded once) -> a part (search, queries, first, changes, ...) -> lines

- Every index is compiled, and all share the same test of a pair. The reference is a linear scan
  that tests each pattern.
- Searches are for patterns that are not in the index, each in both directions. Time is CPU time up
  to the array of numbers; both sides run alternately.
- The bundled news schema stands in for NITF, whose DTD may not be redistributed, and the queries
  use its names.
"""
