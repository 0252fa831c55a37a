"""Drawing of an NFA: as an indented tree, or as DOT for Graphviz.

Each state has the label that leads to it and, in brackets, the number of its subscriptions. A
subscription with several branches counts at the end of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from pathcast.matching.nfa import Edge, Label, Nfa, PrefixState
from pathcast.xpath.text import CLARK, test_text

__all__ = ["draw"]

T = TypeVar("T")


def draw(nfa: Nfa[T], style: Literal["text", "dot"], weight: Callable[[T], int]) -> str:
    """Return the NFA as text; `weight` is the number of subscriptions behind an output."""
    match style:
        case "text":
            return _tree(nfa, weight)
        case "dot":
            return _dot(nfa, weight)
    raise ValueError(f"style is 'text' or 'dot', not {style!r}")


def _label_text(label: Label) -> str:
    return label.edge.value + test_text(label.test, CLARK)


def _count(state: PrefixState[T], weight: Callable[[T], int]) -> int:
    return sum(weight(output) for output in state.outputs)


def _tree(nfa: Nfa[T], weight: Callable[[T], int]) -> str:
    lines = []
    stack: list[tuple[PrefixState[T], str, str]] = [(nfa.start, "", "")]
    while stack:
        state, lead, indent = stack.pop()
        text = "start" if state.label is None else _label_text(state.label)
        count = _count(state, weight)
        lines.append(lead + text + (f"  [{count}]" if count else ""))
        targets = list(state.edges.values())
        for index in reversed(range(len(targets))):
            last = index == len(targets) - 1
            stack.append(
                (
                    targets[index],
                    indent + ("└─ " if last else "├─ "),
                    indent + ("   " if last else "│  "),
                )
            )
    return "\n".join(lines)


def _dot(nfa: Nfa[T], weight: Callable[[T], int]) -> str:
    lines = ["digraph automaton {", "  rankdir=LR;", '  node [shape=circle, label=""];']
    for state in nfa.states():
        count = _count(state, weight)
        shape = "doublecircle" if count else "circle"
        shown = f"{state.number}\\n{count}" if count else str(state.number)
        lines.append(f'  s{state.number} [shape={shape}, label="{shown}"];')
        for label, target in state.edges.items():
            text = _label_text(label).replace("\\", "\\\\").replace('"', '\\"')
            dashed = label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE)
            style = ", style=dashed" if dashed else ""
            lines.append(f'  s{state.number} -> s{target.number} [label="{text}"{style}];')
    return "\n".join([*lines, "}"])
