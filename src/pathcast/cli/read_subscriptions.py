"""A subscription file -> subscriptions taken in, with every bad row reported on stderr.

A row is bad if the file's format says so (`FormatError`) or its XPath does (`SubscriptionError`). Each is
reported as `file:line: ...` with its kind, caret and hint, and none hides the next. Unless the caller may
skip them, bad rows end the command before any document is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pathcast.cli.console import fail, progress, say
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Format, Subscription, read_subscriptions
from pathcast.matching import Matcher

__all__ = ["load", "load_with"]


def load(
    matcher: Matcher,
    source: str,
    *,
    file_format: Format | None = None,
    namespaces: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    allow_expensive: bool = False,
) -> int:
    """Add the file's subscriptions to the matcher, or end the command; how many were added."""

    def take(row: Subscription) -> None:
        matcher.add(row.id, row.xpath, row.namespaces, allow_expensive=allow_expensive)

    return load_with(
        take, source, file_format=file_format, namespaces=namespaces, skip_bad=skip_bad
    )


def load_with(
    take: Callable[[Subscription], None],
    source: str,
    *,
    file_format: Format | None = None,
    namespaces: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> int:
    """Hand the file's subscriptions over one by one, or end the command; how many were taken.

    `take` raises SubscriptionError for those that it will not have.
    """
    bad = added = 0
    bar = progress("reading subscriptions", None, with_data=False)

    def report(line: int | None, error: Exception, key: str | int | None = None) -> None:
        nonlocal bad
        bad += 1
        owner = "" if key is None or key == line else f"subscription {key!r}: "
        say(f"{source}:{line}: {owner}{error}", console=bar.console)

    try:
        rows = read_subscriptions(
            source,
            file_format=file_format,
            namespaces=namespaces,
            on_error=lambda error: report(error.line, error),
        )
        with bar:
            for row in rows:
                try:
                    take(row)
                    added += 1
                except SubscriptionError as error:
                    report(row.line, error, row.id)
                bar.advance(bar.task_ids[0])
    except FormatError as error:
        fail(f"{source}: {error}")
    if bad:
        count = f"{bad:,} bad subscription" + ("s" if bad > 1 else "")
        if not skip_bad:
            fail(f"{count} in {source}; nothing was done (--skip-bad goes on without them)")
        say(f"pathcast: {count} in {source} skipped, {added:,} accepted", "yellow")
    return added
