"""Reads a subscription file for a command, and reports bad rows on stderr.

A row is bad if the file's format says so (`FormatError`) or its XPath does (`SubscriptionError`).
The first `MAX_REPORTED_ROWS` are reported as `file:line: ...` with kind, caret and hint, the others
as a count. Without `--skip-bad`, bad rows end the command before it reads any document. A file
without subscriptions is reported too. It is no error: a program may have written it.
"""

from __future__ import annotations

from collections.abc import Callable

from pathcast.cli.console import fail, plural, progress, say
from pathcast.cli.options import SubscriptionFileOptions
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Subscription, read_subscriptions
from pathcast.matching import Matcher

__all__ = ["load_into_matcher", "load_subscriptions"]

MAX_REPORTED_ROWS = 10


def load_into_matcher(
    matcher: Matcher,
    source: str,
    options: SubscriptionFileOptions,
    *,
    allow_expensive: bool = False,
) -> int:
    """Add a file's subscriptions to the matcher, or end the command; return their number."""

    def add(row: Subscription) -> None:
        matcher.add(row.id, row.xpath, row.namespaces, allow_expensive=allow_expensive)

    return load_subscriptions(add, source, options)


def load_subscriptions(
    add: Callable[[Subscription], None], source: str, options: SubscriptionFileOptions
) -> int:
    """Pass a file's subscriptions to `add`, or end the command; return how many were accepted.

    `add` raises SubscriptionError to refuse one.
    """
    bad = added = 0
    bar = progress("reading subscriptions", None, with_data=False)

    def report(line: int | None, error: Exception, key: str | int | None = None) -> None:
        nonlocal bad
        bad += 1
        if bad > MAX_REPORTED_ROWS:
            return
        owner = "" if key is None or key == line else f"subscription {key!r}: "
        say(f"{source}:{line}: {owner}{error}", console=bar.console)

    try:
        rows = read_subscriptions(
            source,
            file_format=options.file_format,
            namespaces=options.namespaces(),
            on_error=lambda error: report(error.line, error),
        )
        with bar:
            for row in rows:
                try:
                    add(row)
                    added += 1
                except SubscriptionError as error:
                    report(row.line, error, row.id)
                bar.advance(bar.task_ids[0])
    except FormatError as error:
        fail(f"{source}: {error}")
    if bad > MAX_REPORTED_ROWS:
        say(f"{source}: and {bad - MAX_REPORTED_ROWS:,} more")
    if bad:
        count = plural(bad, "bad subscription")
        if not options.skip_bad:
            fail(f"{count} in {source}; nothing was done (--skip-bad continues without them)")
        say(f"pathcast: {count} in {source} skipped, {added:,} accepted", "yellow")
    if not added:
        say(f"pathcast: there are no subscriptions in {source}", "yellow")
    return added
