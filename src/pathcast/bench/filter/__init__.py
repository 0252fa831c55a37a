"""How fast documents are matched, with parsing alone as the yardstick.

sizes (how much) -> inputs (subscriptions and documents) -> a part (linear, hops, ...) -> lines -> table

- *E* is our rate from bytes to the buffer of numbers, *F* that of `lxml.etree.fromstring` alone, with a parser of the settings
  that we use, on the same documents. E/F cannot be much above 1 and would be 1 if matching cost nothing.
- Everything is warm unless a line says otherwise: a round over the same documents comes first. Time is CPU time, both
  run in turns (`pathcast.bench.measure`), except where two processes are compared with one: there it is the clock on the wall.
- Documents have some 7,000 bytes. Their seed is not that of the subscriptions, so that nothing is known of them beforehand.
- What a document matches decides much of what matching costs. So the linear sets are made such that it is between 5 and
  15 of a hundred subscriptions, and lines say whether it is (see `inputs`).

This file imports nothing: `processes` is also run as a program, which must not have been imported before.
"""
