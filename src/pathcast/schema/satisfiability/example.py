"""A plan of the solver as a document: bytes that lxml can parse and validate.

What the plan does not say is filled in as small as can be: the cheapest children, no optional attribute. An ID gets a name
of its own; an IDREF gets the first ID there is, for which some element that may have one gets it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.schema.model import Attribute, AttributeType, ContentKind, Default, Element
from pathcast.schema.satisfiability.fill import Filling
from pathcast.schema.satisfiability.solve import DOCUMENT, Goal, Solver, TreePlan
from pathcast.schema.words import cheapest_word

__all__ = ["DEEPEST", "write"]

DEEPEST = 256  # levels of elements that the parser takes
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)


class TooDeep(Exception):
    """The document would have more levels than the parser takes."""


@dataclass(slots=True)
class _Node:
    element: Element
    attributes: dict[str, str]
    text: str
    remarks: tuple[tuple[str, str], ...]
    without: tuple[str, ...]
    children: list[_Node] = field(default_factory=list)


def write(solver: Solver, goal: Goal, *, namespaces: bool) -> bytes | None:
    """The document; `namespaces`: with the xmlns attributes that have a default. None if it is too deep."""
    try:
        top = _node(solver, goal, 0)
    except TooDeep:
        return None
    nodes: list[_Node] = []
    waiting = [top]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += reversed(node.children)
    for node in nodes:
        _complete(node, namespaces or ":" in node.element.name)
    _refer(nodes)
    return "".join(_text(top)).encode("utf-8", "replace")


def _node(solver: Solver, goal: Goal, depth: int) -> _Node:
    if depth > DEEPEST:
        raise TooDeep
    name, demands = goal
    element = solver.element(name)
    plan = solver.plans.get(goal) if demands or name == DOCUMENT else None
    if plan is None:
        model = element.content if element.kind is ContentKind.CHILDREN else None
        word = cheapest_word(model, {}, solver.schema.graph.height.get)
        plan = TreePlan(
            Filling(), tuple((child, frozenset()) for child in (word[1] if word else ()))
        )
    filling = plan.filling
    children = [_node(solver, child, depth + 1) for child in plan.children]
    return _Node(
        element, dict(filling.attributes), filling.text, filling.remarks, filling.without, children
    )


def _complete(node: _Node, namespaces: bool) -> None:
    """Add what must be there."""
    for one in node.element.attributes:
        if one.name in node.attributes or one.name in node.without:
            continue
        if one.default is Default.REQUIRED:
            node.attributes[one.name] = _any_value(one)
        elif one.declares_namespace and namespaces and one.value:
            node.attributes[one.name] = one.value


def _any_value(one: Attribute) -> str:
    if one.values:
        return one.values[0]
    return "urn:x" if one.declares_namespace else "x"


def _refer(nodes: list[_Node]) -> None:
    """Make every ID different, and every IDREF refer to one."""
    kinds = [{one.name: one.type for one in node.element.attributes} for node in nodes]
    taken: set[str] = set()
    asked = False
    for node, kind in zip(nodes, kinds, strict=True):
        for name, value in node.attributes.items():
            if kind.get(name) is AttributeType.ID:
                if value in taken:
                    value = node.attributes[name] = f"id{len(taken)}"
                taken.add(value)
            asked |= kind.get(name) in _REFERENCES
    if not asked:
        return
    if not taken:
        for node, kind in zip(nodes, kinds, strict=True):
            free = [name for name, one in kind.items() if one is AttributeType.ID]
            if free and free[0] not in node.without:
                node.attributes[free[0]] = "id"
                taken.add("id")
                break
    for node, kind in zip(nodes, kinds, strict=True):
        for name, value in node.attributes.items():
            if kind.get(name) in _REFERENCES and taken and value not in taken:
                node.attributes[name] = min(taken)


def _text(node: _Node) -> list[str]:
    inner = [f"<!--{text}-->" for target, text in node.remarks if not target]
    inner += [f"<?{target} {text}?>" for target, text in node.remarks if target]
    inner.append(_escaped(node.text))
    for child in node.children:
        inner += _text(child)
    name = node.element.name
    if not name:
        return inner
    attributes = "".join(
        f' {key}="{_escaped(value, attribute=True)}"' for key, value in node.attributes.items()
    )
    whole = "".join(inner)
    return [f"<{name}{attributes}>{whole}</{name}>" if whole else f"<{name}{attributes}/>"]


def _escaped(text: str, *, attribute: bool = False) -> str:
    text = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    )
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return text
