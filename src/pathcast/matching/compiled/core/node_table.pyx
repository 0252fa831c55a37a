"""The nodes of a document as an array: elements in document order, with parent and depth.

Row 0 is the document node. A traversal appends attributes, texts, comments and processing
instructions behind the elements, and only those that a subscription tests. `string_value` returns
XPath's string-value in UTF-8.

This module reads libxml2's structs, as lxml's headers declare them. It calls no function of
libxml2.

>>> from lxml import etree
>>> nodes = NodeTable()
>>> nodes.open(etree.fromstring(b"<a><b/><!-- c --></a>"), True)
>>> nodes.elements, nodes.counted, nodes.depth
(2, 3, 2)
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element

from pathcast.matching.compiled.core.strings cimport TextView
from pathcast.vectors cimport grow

cdef extern from "libxml/xmlversion.h":
    const char *LIBXML_DOTTED_VERSION

cetree.import_lxml__etree()

BUILT_FOR = tuple([int(part) for part in LIBXML_DOTTED_VERSION.decode().split(".")])
"""The version of libxml2 whose structs this module reads."""


def count_byte(const unsigned char[::1] text not None, unsigned char byte):
    """Return how often a byte occurs in a text."""
    cdef Py_ssize_t at, count = 0
    for at in range(text.shape[0]):
        count += text[at] == byte
    return count


cdef class NodeTable:
    """The nodes of one document at a time."""

    def __cinit__(self):
        self.rows = NULL
        self._buffer = NULL

    def __dealloc__(self):
        free(self.rows)
        free(self._buffer)

    def open(self, _Element root not None, bint count_attributes):
        """Load the elements of a document; `counted` includes comments and instructions.

        With `count_attributes`, `attributes` is the total of attributes and namespace
        declarations, `most_attributes` the maximum of either on one element.
        """
        self.root = root  # keeps the tree alive
        with nogil:
            self._add_elements(root._c_node.doc, count_attributes)

    def close(self):
        """Release the document."""
        self.root = None
        self.size = 0

    def exceeds(
        self, int depth, Py_ssize_t elements, Py_ssize_t attributes, Py_ssize_t attributes_total
    ):
        """Return whether the document exceeds a limit, see `Limits`."""
        return (
            self.depth > depth
            or self.counted > elements
            or self.most_attributes > attributes
            or self.attributes > attributes_total
        )

    def longest_sibling_run(self):
        """Return the length of the longest run of adjacent siblings that are no elements."""
        cdef tree.xmlNode *node
        cdef Py_ssize_t row, run, longest = 0
        for row in range(self.elements + 1):
            node = self.rows[row].node.children
            if row == 0:
                node = (<tree.xmlDoc *>self.rows[0].node).children
            run = 0
            while node != NULL:
                if node.type == tree.XML_ELEMENT_NODE:
                    run = 0
                elif (
                    node.type == tree.XML_COMMENT_NODE
                    or node.type == tree.XML_PI_NODE
                    or starts_text(node)
                ):
                    run += 1
                    longest = max(longest, run)
                node = node.next
        return longest

    cdef int32_t add(self, tree.xmlNode *node, int32_t parent, int32_t depth) except -1 nogil:
        """Append a row; return its number."""
        if self.size == self.capacity:
            grow(<void **>&self.rows, &self.capacity, self.size + 1, sizeof(NodeRow))
        self.rows[self.size] = NodeRow(node, parent, depth)
        self.size += 1
        return <int32_t>self.size - 1

    cdef int _add_elements(self, tree.xmlDoc *document, bint count_attributes) except -1 nogil:
        cdef tree.xmlNode *node = document.children
        cdef tree.xmlAttr *attribute
        cdef tree.xmlNs *namespace
        cdef int32_t parent = 0, depth = 1
        cdef Py_ssize_t counted = 0, count
        self.size = 0
        self.depth = 0
        self.attributes = self.most_attributes = 0
        self.add(<tree.xmlNode *>document, -1, 0)
        while node != NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                counted += 1
                self.add(node, parent, depth)
                if depth > self.depth:
                    self.depth = depth
                if count_attributes:
                    count = 0
                    attribute = node.properties
                    while attribute != NULL:
                        count += 1
                        attribute = attribute.next
                    self.attributes += count
                    self.most_attributes = max(self.most_attributes, count)
                    count = 0
                    namespace = node.nsDef
                    while namespace != NULL:
                        count += 1
                        namespace = namespace.next
                    self.attributes += count
                    self.most_attributes = max(self.most_attributes, count)
                if node.children != NULL:
                    parent = <int32_t>self.size - 1
                    depth += 1
                    node = node.children
                    continue
            elif node.type == tree.XML_COMMENT_NODE or node.type == tree.XML_PI_NODE:
                counted += 1
            while node != NULL and node.next == NULL:
                node = node.parent
                if node == <tree.xmlNode *>document:
                    node = NULL
                else:
                    depth -= 1
                    parent = self.rows[parent].parent
            if node != NULL:
                node = node.next
        self.elements = self.size - 1
        self.counted = counted
        return 0

    cdef int string_value(self, int32_t row, TextView *value) except -1 nogil:
        """Write the string-value of a node to `value`; it is valid until the next call."""
        cdef tree.xmlNode *node = self.rows[row].node
        cdef tree.xmlNode *text
        if node.type == tree.XML_COMMENT_NODE or node.type == tree.XML_PI_NODE:
            value[0] = _content(node)
            return 0
        text = node
        if not is_text(node):
            text = node.children
            if text == NULL:
                value[0] = TextView(b"", 0)
                return 0
        if is_text(text) and (text.next == NULL or (text == node and not is_text(text.next))):
            value[0] = _content(text)  # the usual case: one text node, no copy
            return 0
        self._buffer_size = 0
        if text == node:
            while text != NULL and is_text(text):
                self._append(text)
                text = text.next
        else:
            self._concatenate(node)
        value[0] = TextView(self._buffer, self._buffer_size)
        if self._buffer_size == 0:
            value[0] = TextView(b"", 0)
        return 0

    cdef int _concatenate(self, tree.xmlNode *top) except -1 nogil:
        """Append all texts below a node to the buffer."""
        cdef tree.xmlNode *node = top.children
        while node != NULL:
            if is_text(node):
                self._append(node)
            elif node.type == tree.XML_ELEMENT_NODE and node.children != NULL:
                node = node.children
                continue
            while node.next == NULL:
                node = node.parent
                if node == top:
                    return 0
            node = node.next
        return 0

    cdef int _append(self, const tree.xmlNode *text) except -1 nogil:
        cdef TextView piece = _content(text)
        if self._buffer_size + piece.size > self._buffer_capacity:
            grow(
                <void **>&self._buffer,
                &self._buffer_capacity,
                self._buffer_size + piece.size,
                1,
            )
        memcpy(self._buffer + self._buffer_size, piece.at, <size_t>piece.size)
        self._buffer_size += piece.size
        return 0


cdef TextView _content(const tree.xmlNode *node) noexcept nogil:
    if node.content == NULL:
        return TextView(b"", 0)
    return TextView(
        <const char *>node.content, <Py_ssize_t>strlen(<const char *>node.content)
    )
