"""Writer of example documents: turns a plan of the solver into bytes that lxml can validate.

Content that the plan does not determine is minimal: the cheapest children, no optional attribute.
Each ID gets a unique value. Each IDREF gets an existing ID; if there is none, an element that may
have an ID gets one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pathcast.schema.model import Attribute, AttributeType, Default, Element
from pathcast.schema.satisfiability.fill import Filling
from pathcast.schema.satisfiability.solve import DOCUMENT, Goal, Solver, TreePlan

__all__ = ["MAX_DEPTH", "write_example"]

MAX_DEPTH = 256  # element levels that the parser accepts
_STEPS_PER_ELEMENT = 10  # to build, write and validate it
_REFERENCES = (AttributeType.IDREF, AttributeType.IDREFS)


class TooDeep(Exception):
    """The document would exceed `MAX_DEPTH` levels."""


@dataclass(slots=True)
class _ExampleElement:
    element: Element
    attributes: dict[str, str]
    text: str
    comments: tuple[tuple[str, str], ...]
    forbidden_attributes: tuple[str, ...]
    children: list[_ExampleElement] = field(default_factory=list)


def write_example(solver: Solver, goal: Goal, *, namespaces: bool) -> bytes | None:
    """Return the document, or None if it is too deep; raise BudgetExceeded.

    `namespaces`: write the xmlns attributes that have a default value.
    """
    try:
        top = _build(solver, goal, 0)
    except TooDeep:
        return None
    nodes: list[_ExampleElement] = []
    waiting = [top]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += reversed(node.children)
    for node in nodes:
        _complete(node, namespaces or ":" in node.element.name)
    _assign_ids(nodes)
    return "".join(_serialize(top)).encode("utf-8", "replace")


def _build(solver: Solver, goal: Goal, depth: int) -> _ExampleElement:
    if depth > MAX_DEPTH:
        raise TooDeep
    solver.budget.spend(_STEPS_PER_ELEMENT)
    name, demands = goal
    element = solver.element(name)
    plan = solver.plans.get(goal) if demands or name == DOCUMENT else None
    if plan is None:
        content = solver.schema.smallest_content(name)
        plan = TreePlan(Filling(), tuple((child, frozenset()) for child in content))
    filling = plan.filling
    children = [_build(solver, child, depth + 1) for child in plan.children]
    return _ExampleElement(
        element,
        dict(filling.attributes),
        filling.text,
        filling.comments,
        filling.forbidden_attributes,
        children,
    )


def _complete(node: _ExampleElement, namespaces: bool) -> None:
    """Add required attributes."""
    for attribute in node.element.attributes:
        if attribute.name in node.attributes or attribute.name in node.forbidden_attributes:
            continue
        if attribute.default is Default.REQUIRED:
            node.attributes[attribute.name] = _any_value(attribute)
        elif attribute.declares_namespace and namespaces and attribute.value:
            node.attributes[attribute.name] = attribute.value


def _any_value(attribute: Attribute) -> str:
    if attribute.values:
        return attribute.values[0]
    return "urn:x" if attribute.declares_namespace else "x"


def _assign_ids(nodes: list[_ExampleElement]) -> None:
    """Make every ID unique, and every IDREF refer to one."""
    kinds = [
        {attribute.name: attribute.type for attribute in node.element.attributes} for node in nodes
    ]
    ids: set[str] = set()
    has_references = False
    for node, kind in zip(nodes, kinds, strict=True):
        for name, value in node.attributes.items():
            if kind.get(name) is AttributeType.ID:
                if value in ids:
                    value = node.attributes[name] = f"id{len(ids)}"
                ids.add(value)
            has_references |= kind.get(name) in _REFERENCES
    if not has_references:
        return
    if not ids:
        for node, kind in zip(nodes, kinds, strict=True):
            id_names = [name for name, attribute in kind.items() if attribute is AttributeType.ID]
            if id_names and id_names[0] not in node.forbidden_attributes:
                node.attributes[id_names[0]] = "id"
                ids.add("id")
                break
    for node, kind in zip(nodes, kinds, strict=True):
        for name, value in node.attributes.items():
            if kind.get(name) in _REFERENCES and ids and value not in ids:
                node.attributes[name] = min(ids)


def _serialize(node: _ExampleElement) -> list[str]:
    inner = [f"<!--{text}-->" for target, text in node.comments if not target]
    inner += [f"<?{target} {text}?>" for target, text in node.comments if target]
    inner.append(_escape(node.text))
    for child in node.children:
        inner += _serialize(child)
    name = node.element.name
    if not name:
        return inner
    attributes = "".join(
        f' {key}="{_escape(value, attribute=True)}"' for key, value in node.attributes.items()
    )
    body = "".join(inner)
    return [f"<{name}{attributes}>{body}</{name}>" if body else f"<{name}{attributes}/>"]


def _escape(text: str, *, attribute: bool = False) -> str:
    text = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    )
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return text
