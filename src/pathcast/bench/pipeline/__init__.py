"""What Spark costs: the pipeline's step of matching, next to processes that do nothing but match.

inputs (documents, subscriptions) -> speed (one application, two matchers) | memory (an application for each strategy) -> lines

- Both sides do the same work: the same documents, from the same table, against the same snapshot. The two matchers have the bodies in
  memory and take a half each; Spark, with two workers, begins with the files. They run in turns, and both were warm.
- Speed is by the clock on the wall, from the order to the end of the last process. Cost is CPU time, user and system, of all
  processes of the application: the driver, Java with all its threads (that compile and collect garbage too), and
  the Python workers (`processes`). From it the CPU time that the workers spent in the matcher is subtracted: what remains is
  Spark's own, and what pathcast does to make rows of answers.
- Everything that is started is a child of ours and ends with us (`child`).

This file imports nothing: several modules are also run as programs.
"""
