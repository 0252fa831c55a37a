"""Benchmarks: figures with targets, measured as ratios between two workloads in one run.

    measure    interleaved timing of two functions
    memory     peak memory of a function, in a process of its own
    suite      Suite: named parts over shared inputs, and how they run
    report     ReportLine and Report: figures, targets, inputs, machine
    registry   the table of suites
    filter     matching, against parsing and a loop of lxml expressions
    covering   covering indexes, aggregation, merging
    overlay    routing strategies, routing time, a broker's decision
    pipeline   Spark, against processes that only match
    workload   the generators

A figure in seconds describes a machine more than a program. So a figure here is a ratio between two
functions that ran alternately on the same inputs in the same run. The reference is common
knowledge, such as the time in which lxml parses the same bytes.
"""
