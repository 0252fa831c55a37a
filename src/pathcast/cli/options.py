"""Options that several commands share: subscription files, namespaces, limits, Spark.

An option group declares its options and converts their text to values; a value that does not fit is
a usage error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Annotated

import typer

from pathcast.cli.option_groups import option_group
from pathcast.documents import Limits, check_record_name
from pathcast.files import FORMATS, Format

__all__ = [
    "BudgetOption",
    "ExpensiveOptions",
    "FormatOption",
    "LimitOptions",
    "MaxSizeOption",
    "NamespaceOption",
    "RecordOption",
    "SparkOptions",
    "SubscriptionFileOptions",
    "SubscriptionsArgument",
    "format_name",
    "parse_namespaces",
    "parse_size",
]

DEFAULT_DEADLINE_SECONDS = 1.0
BudgetOption = Annotated[
    int,
    typer.Option(
        "--budget",
        metavar="STEPS",
        min=0,
        help="Work for each question, in steps; the default takes about a second. Beyond it the"
        " answer is unknown, the same on every machine.",
    ),
]
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def format_name(text: str) -> Format:
    """Return the subscription format of this name, or raise a usage error."""
    for name in FORMATS:
        if text == name:
            return name
    raise typer.BadParameter(f"{text!r} is not one of {', '.join(FORMATS)}")


def parse_size(text: str) -> int:
    """Parse a number of bytes with an optional unit.

    >>> parse_size("64M")
    67108864
    """
    number, unit = text, 1
    if text and text[-1].upper() in _UNITS:
        number, unit = text[:-1], _UNITS[text[-1].upper()]
    if not (number.isascii() and number.isdigit()):
        raise typer.BadParameter(f"{text!r} is not a size such as 500000, 64K, 64M or 1G")
    return int(number) * unit


def parse_namespaces(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """Parse `--namespace` options, or raise a usage error.

    >>> parse_namespaces(["n=urn:news", "w=urn:weather?a=b"])
    {'n': 'urn:news', 'w': 'urn:weather?a=b'}
    """
    namespaces: dict[str, str] = {}
    for pair in pairs or ():
        prefix, equals, address = pair.partition("=")
        if not (prefix and equals and address):
            raise typer.BadParameter(f"{pair!r} is not PREFIX=URI", param_hint="--namespace")
        if namespaces.setdefault(prefix, address) != address:
            message = f"prefix {prefix!r} is given twice"
            raise typer.BadParameter(message, param_hint="--namespace")
    return namespaces or None


SubscriptionsArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTIONS",
        help="A .txt, .tsv, .jsonl or .parquet file (optionally .gz), or - with --format.",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        parser=format_name,
        help="The format of SUBSCRIPTIONS; default: by its suffix.",
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="PREFIX=URI",
        help="A prefix for XPaths; repeatable. A subscription's own prefixes take precedence.",
    ),
]
MaxSizeOption = Annotated[
    int | None,
    typer.Option(
        "--max-size", metavar="BYTES", parser=parse_size, help="Largest document; default 64M."
    ),
]


def _parse_record(name: str) -> str:
    try:
        return check_record_name(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


RecordOption = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="NAME",
        parser=_parse_record,
        help="Every element of this name is a document, in files of any size: FILE#1, FILE#2, ...",
    ),
]


@option_group
class SubscriptionFileOptions:
    """How to read a file of subscriptions."""

    file_format: FormatOption = None
    namespace: NamespaceOption = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Report bad subscriptions and continue without them.")
    ] = False

    def namespaces(self) -> dict[str, str] | None:
        return parse_namespaces(self.namespace)


@option_group
class ExpensiveOptions:
    """Permission for expensive expressions, and their deadline."""

    allow_expensive: Annotated[
        bool,
        typer.Option(
            "--allow-expensive",
            help="Accept expensive XPaths; they run in separate processes under a deadline.",
        ),
    ] = False
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline",
            metavar="SECONDS",
            max=86_400,
            help="With --allow-expensive: the limit for one XPath on one document; default 1.",
        ),
    ] = None

    def seconds(self) -> float | None:
        """Return the deadline, None if expensive expressions are refused."""
        if self.deadline is not None and not (self.allow_expensive and self.deadline > 0):
            problem = "must be more than 0" if self.allow_expensive else "needs --allow-expensive"
            raise typer.BadParameter(problem, param_hint="--deadline")
        return (self.deadline or DEFAULT_DEADLINE_SECONDS) if self.allow_expensive else None


@option_group
class LimitOptions:
    """Limits of documents."""

    max_size: MaxSizeOption = None
    max_depth: Annotated[
        int | None,
        typer.Option("--max-depth", min=1, max=256, help="Deepest element; default 256."),
    ] = None
    max_elements: Annotated[
        int | None,
        typer.Option("--max-elements", min=1, help="Most elements; default 1000000."),
    ] = None
    max_attributes: Annotated[
        int | None,
        typer.Option(
            "--max-attributes", min=1, help="Most attributes of one element; default 1000."
        ),
    ] = None
    max_attributes_total: Annotated[
        int | None,
        typer.Option(
            "--max-attributes-total", min=1, help="Most attributes in total; default 2000000."
        ),
    ] = None

    def limits(self) -> Limits:
        """Return the limits, with defaults for options that were not given."""
        options = dataclasses.asdict(self)
        changes = {
            name.removeprefix("max_"): value for name, value in options.items() if value is not None
        }
        try:
            return dataclasses.replace(Limits(), **changes)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None


@option_group
class SparkOptions:
    """The Spark session of a command."""

    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            help="Any Spark master; default: that of spark-submit, or local[*,4], which is all"
            " cores of this machine and four tries per task.",
        ),
    ] = None
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="A Spark setting; repeatable."),
    ] = None
    ui: Annotated[
        bool,
        typer.Option("--ui", help="Switch Spark's web interface on, and print its address."),
    ] = False

    def settings(self) -> dict[str, str]:
        """Return the Spark settings, or raise a usage error."""
        settings = {"spark.ui.enabled": "true"} if self.ui else {}
        for pair in self.conf or ():
            key, equals, value = pair.partition("=")
            if not (key and equals):
                raise typer.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint="--conf")
            settings[key] = value
        return settings
