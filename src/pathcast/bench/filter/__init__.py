"""Benchmark of matching, with parsing as the reference.

    sizes -> inputs (subscriptions and documents) -> a part (linear, hops, ...) -> lines

- *E* is our rate from bytes to the buffer of numbers. *F* is the rate of `lxml.etree.fromstring` on
  the same documents, with the same parser settings. E/F would be 1 if matching cost nothing.
- Measurements are warm unless a line says otherwise: a round over the same documents comes first.
  Time is CPU time and both sides run alternately (`pathcast.bench.measure`). Only the comparison of
  two processes with one uses wall-clock time.
- Documents have about 7,000 bytes. Their seed differs from that of the subscriptions.
- The share of matching subscriptions determines much of the cost. The linear sets match between 5
  and 15 percent, and a line reports the share (see `inputs`).

This file imports nothing: `processes` also runs as a program, which must not be imported before.
"""
