"""Numbering of the nodes of libxml2's tree, in one pass and without recursion.

`root.iter()` yields elements, comments and processing instructions in document order, but not the
ends of elements. An element ends when all its children have been seen. So the stack holds, for
every open element, the number of children still to come, and the element's tail text, which is
numbered when the element closes.

This pass checks every limit on the actual nodes, with the line in the error. The bounds of
`precheck` never replace it.

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
    """Return the document's numbered nodes; DocumentError if it exceeds a limit."""
    document = Document(tree)
    root = tree.getroot()
    _add_top_level(document, reversed(list(root.itersiblings(preceding=True))))
    _add_subtree(document, root, limits)
    _add_top_level(document, root.itersiblings())
    document.right[0] = len(document) - 1
    count = len(document.all_elements) + len(document.comments) + len(document.instructions)
    if count > limits.elements:
        raise elements_error(limits, None)
    if len(document.all_attributes) > limits.attributes_total:
        raise attributes_error(limits, None, total=True)
    return document


def _add_top_level(document: Document, siblings: Iterable[etree._Element]) -> None:
    """Add the comments and processing instructions before or after the root element."""
    for sibling in siblings:
        _add_comment_or_pi(document, sibling, 0, 1)


def _add_comment_or_pi(document: Document, node: etree._Element, parent: int, level: int) -> None:
    """Add a comment or a processing instruction; an entity reference is no node."""
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


def _add_subtree(document: Document, root: etree._Element, limits: Limits) -> None:
    """Add the root element and its descendants."""
    # The hot loop of parsing: appends to lists in local variables, without calls of our own.
    kind, label, content = document.kind, document.label, document.content
    parent, right, level = document.parent, document.right, document.level
    elements, all_elements = document.elements, document.all_elements
    texts = document.texts
    max_depth, max_attributes = limits.depth, limits.attributes
    open_nodes = [0]  # the ancestors of the next node, the document first
    children_left = [1]  # for each of them, the children still to come
    tails: list[str | None] = [None]  # for each of them, the text after its end tag
    for node in root.iter():
        tag = node.tag
        parent_number, depth = open_nodes[-1], len(open_nodes)
        if isinstance(tag, str):
            number = len(kind)
            if depth > max_depth:
                raise _too_deep(max_depth, node)
            tag = intern(tag)
            kind.append(ELEMENT)
            label.append(tag)
            parent.append(parent_number)
            right.append(number)
            level.append(depth)
            content.append("")
            all_elements.append(number)
            if (same_label := elements.get(tag)) is not None:
                same_label.append(number)
            else:
                elements[tag] = [number]
            if items := node.items():
                if len(items) > max_attributes:
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
                open_nodes.append(number)
                children_left.append(children)
                tails.append(node.tail)
                continue
            right[number] = len(kind) - 1
        else:
            _add_comment_or_pi(document, node, parent_number, depth)
        tail = node.tail
        while True:  # close the node, and each ancestor that this completes
            parent_number = open_nodes[-1]
            if tail is not None:
                last = len(kind)
                kind.append(TEXT)
                label.append("")
                parent.append(parent_number)
                right.append(last)
                level.append(len(open_nodes))
                content.append(tail)
                texts.append(last)
            children_left[-1] -= 1
            if children_left[-1]:
                break
            right[parent_number] = len(kind) - 1
            open_nodes.pop()
            children_left.pop()
            tail = tails.pop()
            if not open_nodes:
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
        if (same_label := attributes.get(name)) is not None:
            same_label.append(number)
        else:
            attributes[name] = [number]


def _too_deep(max_depth: int, node: etree._Element) -> DocumentError:
    message = f"elements are nested more than {max_depth} deep"
    return DocumentError("depth", message, line=node.sourceline)
