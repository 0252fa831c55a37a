"""`pathcast draw`: the NFA of a subscription file, as text or for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pathcast.cli.console import Output
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import SubscriptionFileOptions, SubscriptionsArgument
from pathcast.cli.read_subscriptions import load_into_matcher
from pathcast.errors import EvaluationError
from pathcast.matching import Expression, Matcher

__all__ = ["draw"]


class _NoRunner:
    """A runner that is never called: drawing evaluates no document."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        raise AssertionError(f"{len(expressions)} expressions and {len(body)} bytes to draw")


@with_option_groups
def draw(
    subscriptions: SubscriptionsArgument,
    file_options: SubscriptionFileOptions,
    dot: Annotated[bool, typer.Option("--dot", help="Write DOT, for Graphviz.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object with the drawing and its style.")
    ] = False,
) -> None:
    """Draw the automaton that the subscriptions share, with counts.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast draw subscriptions.txt --dot | dot -Tsvg -o automaton.svg`
    """
    matcher = Matcher(runner=_NoRunner())
    added = load_into_matcher(matcher, subscriptions, file_options, allow_expensive=True)
    drawing = matcher.draw("dot") if dot else matcher.draw("text")
    with Output() as output:
        if as_json:
            style = "dot" if dot else "text"
            output.json({"subscriptions": added, "style": style, "drawing": drawing})
        else:
            output.text(drawing.rstrip("\n"))
