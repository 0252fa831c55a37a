"""The command line.

One module per command, each with one function from which typer reads the options; `app.py` is the
list of commands. Shared modules:

    console             stdout for data, stderr for messages and progress
    option_groups       options that belong together as one dataclass
    options             the groups that several commands use
    read_subscriptions  a subscription file, with every bad row reported
    run_output          progress and summary of a pipeline run
    document_output     writes generated documents
    generate_common     what the `generate` commands share
    demo_feed           the feed and the subscriptions of `pathcast demo`

Data goes to stdout; messages and progress go to stderr, progress and colours only on a terminal.
Exit code 2 is a bad call or bad subscriptions, 1 a document that failed or did not match, 130 an
interruption, 141 a closed stdout.
"""

from pathcast.cli.app import main

__all__ = ["main"]
