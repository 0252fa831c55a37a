"""The command line.

One module per command, each with one function from which typer reads the options; `app.py` is the
list of commands. Shared modules:

    console             stdout for data, stderr for messages and progress
    option_groups       options that belong together as one dataclass
    options             the groups that several commands use
    dtd_options         the options that name a DTD, and the schema behind them
    durations           times such as 90s or 10m
    read_subscriptions  a subscription file, with every bad row reported
    run_options         the option groups of `pathcast run`
    metrics_options     the options for metrics of `pathcast run`
    interruptible       Spark work in a thread, ended by signals
    run_output          progress and summary of a pipeline run
    schema_tables       the tables of `pathcast schema show`
    simulate_tables     the tables of `pathcast simulate`
    generate_common     option groups, progress and statistics of the `generate` commands
    generate_values     the option `--values`
    generate_feed_options, generate_subscription_options
                        the option groups of these commands
    document_output     writes generated documents
    demo_feed           the feed and the subscriptions of `pathcast demo`

Data goes to stdout; messages and progress go to stderr, progress and colours only on a terminal.
Exit code 2 is a bad call or bad subscriptions, 1 a document that failed or did not match, 130 an
interruption, 141 a closed stdout.
"""

from pathcast.cli.app import main

__all__ = ["main"]
