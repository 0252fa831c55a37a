"""An automaton drawn: as an indented tree for people, or as DOT for Graphviz.

Each state is shown with the label that leads to it and, in brackets, how many subscriptions wait there. A
subscription with several branches waits at the end of each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from pathcast.matching.nfa import Edge, Label, Nfa, NfaState
from pathcast.xpath.text import CLARK, test_text

__all__ = ["draw"]

T = TypeVar("T")


def draw(automaton: Nfa[T], style: Literal["text", "dot"], weight: Callable[[T], int]) -> str:
    """The automaton as text; `weight` says how many subscriptions stand behind what waits."""
    match style:
        case "text":
            return _tree(automaton, weight)
        case "dot":
            return _dot(automaton, weight)
    raise ValueError(f"style is 'text' or 'dot', not {style!r}")


def _written(label: Label) -> str:
    return label.edge.value + test_text(label.test, CLARK)


def _waiting(state: NfaState[T], weight: Callable[[T], int]) -> int:
    return sum(weight(one) for one in state.outputs)


def _tree(automaton: Nfa[T], weight: Callable[[T], int]) -> str:
    lines = []
    stack: list[tuple[NfaState[T], str, str]] = [(automaton.start, "", "")]
    while stack:
        state, lead, rest = stack.pop()
        written = "start" if state.label is None else _written(state.label)
        count = _waiting(state, weight)
        lines.append(lead + written + (f"  [{count}]" if count else ""))
        following = list(state.edges.values())
        for index in reversed(range(len(following))):
            last = index == len(following) - 1
            stack.append(
                (
                    following[index],
                    rest + ("└─ " if last else "├─ "),
                    rest + ("   " if last else "│  "),
                )
            )
    return "\n".join(lines)


def _dot(automaton: Nfa[T], weight: Callable[[T], int]) -> str:
    lines = ["digraph automaton {", "  rankdir=LR;", '  node [shape=circle, label=""];']
    for state in automaton.states():
        count = _waiting(state, weight)
        shape = "doublecircle" if count else "circle"
        shown = f"{state.number}\\n{count}" if count else str(state.number)
        lines.append(f'  s{state.number} [shape={shape}, label="{shown}"];')
        for label, following in state.edges.items():
            written = _written(label).replace("\\", "\\\\").replace('"', '\\"')
            dashed = label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
            style = ", style=dashed" if dashed else ""
            lines.append(f'  s{state.number} -> s{following.number} [label="{written}"{style}];')
    return "\n".join([*lines, "}"])
