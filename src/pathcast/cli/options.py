"""What several commands take: namespaces, formats, limits; text in, values or a usage error out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Annotated

import typer

from pathcast.documents import Limits
from pathcast.files import FORMATS, Format

__all__ = [
    "FormatOption",
    "MaxAttributes",
    "MaxAttributesTotal",
    "MaxDepth",
    "MaxElements",
    "MaxSize",
    "NamespaceOption",
    "SubscriptionsArgument",
    "known_format",
    "limits_of",
    "namespaces_of",
    "size_of",
]

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def known_format(text: str) -> Format:
    """The format of subscriptions that has this name, or a usage error."""
    for known in FORMATS:
        if text == known:
            return known
    raise typer.BadParameter(f"{text!r} is not one of {', '.join(FORMATS)}")


def size_of(text: str) -> int:
    """A number of bytes, perhaps with a unit.

    >>> size_of("64M")
    67108864
    """
    number, unit = text, 1
    if text and text[-1].upper() in _UNITS:
        number, unit = text[:-1], _UNITS[text[-1].upper()]
    if not (number.isascii() and number.isdigit()):
        raise typer.BadParameter(f"{text!r} is not a size such as 500000, 64K, 64M or 1G")
    return int(number) * unit


SubscriptionsArgument = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTIONS",
        help="A .txt, .tsv, .jsonl or .parquet file (perhaps with .gz), or - with --format.",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        parser=known_format,
        help="The format of SUBSCRIPTIONS, where its name does not say it.",
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="PREFIX=URI",
        help="A prefix for XPaths; may be given several times. A subscription's own come first.",
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        "--max-size", metavar="BYTES", parser=size_of, help="Largest document; 64M if not given."
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option("--max-depth", min=1, max=256, help="Deepest element; 256 if not given."),
]
MaxElements = Annotated[
    int | None,
    typer.Option("--max-elements", min=1, help="Most elements; 1000000 if not given."),
]
MaxAttributes = Annotated[
    int | None,
    typer.Option(
        "--max-attributes", min=1, help="Most attributes of one element; 1000 if not given."
    ),
]
MaxAttributesTotal = Annotated[
    int | None,
    typer.Option(
        "--max-attributes-total", min=1, help="Most attributes of them all; 2000000 if not given."
    ),
]


def limits_of(
    size: int | None,
    depth: int | None,
    elements: int | None,
    attributes: int | None,
    attributes_total: int | None,
) -> Limits:
    """The limits that were given, and the usual ones for the rest."""
    given = {
        "size": size,
        "depth": depth,
        "elements": elements,
        "attributes": attributes,
        "attributes_total": attributes_total,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    try:
        return dataclasses.replace(Limits(), **changes)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def namespaces_of(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """The prefixes of `--namespace` options, or a usage error.

    >>> namespaces_of(["n=urn:news", "w=urn:weather?a=b"])
    {'n': 'urn:news', 'w': 'urn:weather?a=b'}
    """
    found: dict[str, str] = {}
    for pair in pairs or ():
        prefix, equals, address = pair.partition("=")
        if not (prefix and equals and address):
            raise typer.BadParameter(f"{pair!r} is not PREFIX=URI", param_hint="--namespace")
        if found.setdefault(prefix, address) != address:
            message = f"prefix {prefix!r} is given twice"
            raise typer.BadParameter(message, param_hint="--namespace")
    return found or None
