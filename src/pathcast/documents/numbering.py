"""From libxml2's tree to a `Document`, in one pass and without recursion.

`root.iter()` gives elements, comments and processing instructions in document order but does not say
where an element ends. It need not: an element ends when as many children have been seen as it has,
so the stack holds, for every open element, how many are still to come, and the text behind it that
may only be numbered once it is closed.

Every limit is checked here on what is really there, with the line: the word of `precheck` is never final.

Cost: about a microsecond a node.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern

from lxml import etree
from lxml.etree import _Comment, _ProcessingInstruction

from pathcast.documents.document import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.documents.exact_counts import attributes_error, elements_error
from pathcast.documents.limits import Limits
from pathcast.errors import DocumentError

__all__ = ["number_nodes"]


def number_nodes(tree: etree._ElementTree[etree._Element], limits: Limits) -> Document:
    """The document's nodes, numbered; raises DocumentError where a limit is passed."""
    document = Document(tree)
    root = tree.getroot()
    _add_beside(document, reversed(list(root.itersiblings(preceding=True))))
    _add_inside(document, root, limits)
    _add_beside(document, root.itersiblings())
    document.right[0] = len(document) - 1
    counted = len(document.all_elements) + len(document.comments) + len(document.instructions)
    if counted > limits.elements:
        raise elements_error(limits, None)
    if len(document.all_attributes) > limits.attributes_total:
        raise attributes_error(limits, None, total=True)
    return document


def _add_beside(document: Document, siblings: Iterable[etree._Element]) -> None:
    """Add the comments and processing instructions before or after the root element."""
    for sibling in siblings:
        _add_aside(document, sibling, 0, 1)


def _add_aside(document: Document, node: etree._Element, parent: int, level: int) -> None:
    """Add a comment or a processing instruction; a reference to an entity is no node."""
    number = len(document)
    if isinstance(node, _Comment):
        document.kind.append(COMMENT)
        document.label.append("")
        document.comments.append(number)
    elif isinstance(node, _ProcessingInstruction):
        document.kind.append(PI)
        document.label.append(intern(node.target))
        document.instructions.append(number)
    else:
        return
    document.parent.append(parent)
    document.right.append(number)
    document.level.append(level)
    document.content.append(node.text or "")


def _add_inside(document: Document, root: etree._Element, limits: Limits) -> None:
    """Add the root element and all that is in it."""
    # The loop of every document: plain appends to local names, no calls of our own.
    kind, label, content = document.kind, document.label, document.content
    parent, right, level = document.parent, document.right, document.level
    elements, all_elements = document.elements, document.all_elements
    texts = document.texts
    deepest, most_attributes = limits.depth, limits.attributes
    opened = [0]  # the nodes around the next one, the document first
    to_come = [1]  # how many children each of them has yet to see
    behind: list[str | None] = [None]  # the text that follows each of them
    for node in root.iter():
        tag = node.tag
        above, depth = opened[-1], len(opened)
        if isinstance(tag, str):
            number = len(kind)
            if depth > deepest:
                raise _too_deep(deepest, node)
            tag = intern(tag)
            kind.append(ELEMENT)
            label.append(tag)
            parent.append(above)
            right.append(number)
            level.append(depth)
            content.append("")
            all_elements.append(number)
            if (known := elements.get(tag)) is not None:
                known.append(number)
            else:
                elements[tag] = [number]
            if items := node.items():
                if len(items) > most_attributes:
                    raise attributes_error(limits, node.sourceline, total=False)
                _add_attributes(document, items, number, depth + 1)
            text = node.text
            if text is not None:
                last = len(kind)
                kind.append(TEXT)
                label.append("")
                parent.append(number)
                right.append(last)
                level.append(depth + 1)
                content.append(text)
                texts.append(last)
            if children := len(node):
                opened.append(number)
                to_come.append(children)
                behind.append(node.tail)
                continue
            right[number] = len(kind) - 1
        else:
            _add_aside(document, node, above, depth)
        tail = node.tail
        while True:  # a node is closed; if it was the last child its parent is too, and so on
            above = opened[-1]
            if tail is not None:
                last = len(kind)
                kind.append(TEXT)
                label.append("")
                parent.append(above)
                right.append(last)
                level.append(len(opened))
                content.append(tail)
                texts.append(last)
            to_come[-1] -= 1
            if to_come[-1]:
                break
            right[above] = len(kind) - 1
            opened.pop()
            to_come.pop()
            tail = behind.pop()
            if not opened:
                return


def _add_attributes(
    document: Document, items: list[tuple[str, str]], parent: int, level: int
) -> None:
    number = len(document.kind)
    count = len(items)
    numbers = range(number, number + count)
    document.kind += [ATTRIBUTE] * count
    document.parent += [parent] * count
    document.level += [level] * count
    document.right += numbers
    document.all_attributes += numbers
    document.content += [value for _, value in items]
    label, attributes = document.label, document.attributes
    for number, (name, _) in zip(numbers, items, strict=True):
        name = intern(name)
        label.append(name)
        if (known := attributes.get(name)) is not None:
            known.append(number)
        else:
            attributes[name] = [number]


def _too_deep(deepest: int, node: etree._Element) -> DocumentError:
    message = f"elements are nested more than {deepest} deep"
    return DocumentError("depth", message, line=node.sourceline)
