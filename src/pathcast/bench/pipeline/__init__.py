"""Benchmark of the pipeline: Spark's matching step, against processes that only match.

    inputs -> speed (one application, two matchers) | memory (an application per strategy) -> lines

- Both sides do the same work: the same documents from the same table, against the same snapshot.
  The two matchers have the bodies in memory and take half each; Spark, with two workers, starts
  from the files. They run alternately, and both are warm.
- Speed is wall-clock time from the request to the end of the last process. Cost is CPU time, user
  and system, of all processes of the application: the driver, Java with all its threads, and the
  Python workers (`processes`). The workers' CPU time inside the matcher is subtracted; the
  remainder is Spark's own cost and pathcast's conversion of answers to rows.
- Every process is a child of the benchmark and ends with it (`bench_process`).

This file imports nothing: several modules also run as programs.
"""
