"""`--values`: the domain of texts and attributes, or of what predicates compare with."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.errors import WorkloadError

if TYPE_CHECKING:
    from pathcast.generators.values import ValueDomain

__all__ = ["ValuesOption", "values_of"]

_INTEGERS = re.compile(r"(-?\d+)-(-?\d+)", re.ASCII)
_FORMS = "integers:LOW-HIGH, words, words:N or zipf:THETA"

ValuesOption = Annotated[
    str | None,
    typer.Option("--values", metavar="DOMAIN", help=f"{_FORMS}; integers:1-100 if not given."),
]


def values_of(base: ValueDomain, text: str | None, length: int | None = None) -> ValueDomain:
    """What `--values` and `--length` say, or what there was.

    >>> from pathcast.generators.values import ValueDomain
    >>> values_of(ValueDomain(), "integers:-5-5").domain[:2], values_of(ValueDomain(), "zipf:1.0").kind
    (('-5', '-4'), 'words')
    """
    domain = base
    if text is not None:
        kind, _, rest = text.partition(":")
        bounds = _INTEGERS.fullmatch(rest)
        try:
            if text == "integers":
                domain = dataclasses.replace(base, kind="integers", theta=0.0)
            elif kind == "integers" and bounds:
                low, high = map(int, bounds.groups())
                domain = dataclasses.replace(base, kind="integers", low=low, high=high, theta=0.0)
            elif kind == "words":
                number = int(rest) if rest else base.vocabulary
                domain = dataclasses.replace(base, kind="words", vocabulary=number, theta=0.0)
            elif kind == "zipf":
                domain = dataclasses.replace(base, kind="words", theta=float(rest))
            else:
                raise ValueError
        except WorkloadError:
            raise
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not {_FORMS}", param_hint="--values") from None
    return domain if length is None else dataclasses.replace(domain, length=length)
