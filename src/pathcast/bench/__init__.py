"""Our figures: each benchmark is a list of lines with a target, measured as ratios in one run.

measure (interleaved ratios) | memory (a process of its own) -> benchmark -> Report (lines, inputs, machine)

A figure in seconds says more about a machine than about us. So a figure here is a ratio between two things that ran
in turns on the same inputs in the same run, and what it is compared with is something that everybody knows, such as the time
in which lxml parses the same bytes. `registry.py` is the visible table of benchmarks.
"""
