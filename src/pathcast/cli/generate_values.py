"""`--values`: the domain of generated texts, attributes and the constants of predicates."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.errors import WorkloadError

if TYPE_CHECKING:
    from pathcast.generators.values import ValueDomain

__all__ = ["ValuesOption", "change_domain"]

_INTEGER_RANGE = re.compile(r"(-?\d+)-(-?\d+)", re.ASCII)
_FORMS = "integers:LOW-HIGH, words, words:N or zipf:THETA"

ValuesOption = Annotated[
    str | None,
    typer.Option(
        "--values",
        metavar="DOMAIN",
        help=f"The domain of values: {_FORMS}; default integers:1-100.",
    ),
]


def change_domain(base: ValueDomain, text: str | None, length: int | None = None) -> ValueDomain:
    """Return the domain, changed by `--values` and `--length` where they are given.

    >>> from pathcast.generators.values import ValueDomain
    >>> change_domain(ValueDomain(), "integers:-5-5").domain[:2]
    ('-5', '-4')
    >>> change_domain(ValueDomain(), "zipf:1.0").kind
    'words'
    """
    domain = base if text is None else _parse_domain(base, text)
    return domain if length is None else dataclasses.replace(domain, length=length)


def _parse_domain(base: ValueDomain, text: str) -> ValueDomain:
    kind, _, argument = text.partition(":")
    bounds = _INTEGER_RANGE.fullmatch(argument)
    try:
        if text == "integers":
            return dataclasses.replace(base, kind="integers", theta=0.0)
        if kind == "integers" and bounds:
            low, high = map(int, bounds.groups())
            return dataclasses.replace(base, kind="integers", low=low, high=high, theta=0.0)
        if kind == "words":
            vocabulary = int(argument) if argument else base.vocabulary
            return dataclasses.replace(base, kind="words", vocabulary=vocabulary, theta=0.0)
        if kind == "zipf":
            return dataclasses.replace(base, kind="words", theta=float(argument))
    except WorkloadError:
        raise
    except ValueError:
        pass
    raise typer.BadParameter(f"{text!r} is not {_FORMS}", param_hint="--values")
