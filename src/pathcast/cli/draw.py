"""`pathcast draw`: the automaton that a subscription file becomes, for people or for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pathcast.cli.console import Output
from pathcast.cli.options import (
    FormatOption,
    NamespaceOption,
    SubscriptionsArgument,
    namespaces_of,
)
from pathcast.cli.read_subscriptions import load
from pathcast.errors import EvaluationError
from pathcast.matching import Expression, Matcher

__all__ = ["draw"]


class _Nobody:
    """Runs nothing: expensive subscriptions may be drawn, since no document will come."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        raise AssertionError(f"{len(expressions)} expressions and {len(body)} bytes to draw")


def draw(
    subscriptions: SubscriptionsArgument,
    file_format: FormatOption = None,
    namespace: NamespaceOption = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Report bad subscriptions and go on without them.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Draw it in DOT, for Graphviz.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write an object with the drawing and its style.")
    ] = False,
) -> None:
    """Draw the automaton that the subscriptions share, with counts.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast draw subscriptions.txt --dot | dot -Tsvg -o automaton.svg`
    """
    matcher = Matcher(runner=_Nobody())
    prefixes = namespaces_of(namespace)
    added = load(
        matcher,
        subscriptions,
        file_format=file_format,
        namespaces=prefixes,
        skip_bad=skip_bad,
        allow_expensive=True,
    )
    drawing = matcher.draw("dot") if dot else matcher.draw("text")
    with Output() as output:
        if as_json:
            style = "dot" if dot else "text"
            output.json({"subscriptions": added, "style": style, "drawing": drawing})
        else:
            output.text(drawing.rstrip("\n"))
