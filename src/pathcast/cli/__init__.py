"""The command line: `pathcast match`, `explain`, `draw`, `schema`, `generate`, `bench` and `demo`.

One module per command, each with one function that typer reads the options from; `app.py` is the visible
list of them. What commands share: `terminal.py` (who may write what where), `options.py` (arguments ->
values), `loading.py` (a subscription file -> a Matcher, with every bad row reported), `schema.py` (a DTD or a
bundled name -> a Schema), `generating.py` (what generators write, and the statistics of it).

Rules that hold for all: data goes to stdout and nothing else does; messages and progress go to stderr,
progress only if that is a terminal; colours only on terminals. Exit code 2 is a bad call (or bad
subscriptions), 1 a document that failed or did not match, 130 an interruption, 141 a closed stdout.
"""

from pathcast.cli.app import main

__all__ = ["main"]
