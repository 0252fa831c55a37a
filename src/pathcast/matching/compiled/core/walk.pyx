"""libxml2's tree as an array of elements in document order, each with its parent and depth.

Spot 0 is the document. Attributes, texts, comments and processing instructions are added behind the elements while a
document is run, and only where some subscription asks for them. `value` gives XPath's string-value in UTF-8.

What is read are the structs that lxml's headers describe; nothing of libxml2 is called.

>>> from lxml import etree
>>> walk = Walk()
>>> walk.open(etree.fromstring(b"<a><b/><!-- c --></a>"), True)
>>> walk.elements, walk.counted, walk.depth
(2, 3, 2)
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element

from pathcast.vectors cimport grow

cdef extern from "libxml/xmlversion.h":
    const char *LIBXML_DOTTED_VERSION

cetree.import_lxml__etree()

BUILT_FOR = tuple([int(part) for part in LIBXML_DOTTED_VERSION.decode().split(".")])
"""The version of libxml2 whose structs are read."""


def occurrences(const unsigned char[::1] text not None, unsigned char byte):
    """How often a byte occurs."""
    cdef Py_ssize_t at, count = 0
    for at in range(text.shape[0]):
        count += text[at] == byte
    return count


cdef class Walk:
    """The nodes of one document at a time."""

    def __cinit__(self):
        self.spots = NULL
        self._buffer = NULL

    def __dealloc__(self):
        free(self.spots)
        free(self._buffer)

    def open(self, _Element root not None, bint attributes):
        """Number the elements; `counted` are they and the comments and instructions.

        If asked for, attributes and namespace declarations are counted: together in `attributes`, and the
        most of either on one element in `most_attributes`.
        """
        self.root = root  # keeps the tree alive
        with nogil:
            self._walk(root._c_node.doc, attributes)

    def close(self):
        """Let the document go."""
        self.root = None
        self.size = 0

    def longest_sibling_run(self):
        """How many siblings in a row are texts, comments or processing instructions, at most."""
        cdef tree.xmlNode *node
        cdef Py_ssize_t spot, run, longest = 0
        for spot in range(self.elements + 1):
            node = self.spots[spot].node.children
            if spot == 0:
                node = (<tree.xmlDoc *>self.spots[0].node).children
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
        """One more node; gives its number."""
        if self.size == self.capacity:
            grow(<void **>&self.spots, &self.capacity, self.size + 1, sizeof(Spot))
        self.spots[self.size] = Spot(node, parent, depth)
        self.size += 1
        return <int32_t>self.size - 1

    cdef int _walk(self, tree.xmlDoc *document, bint attributes) except -1 nogil:
        cdef tree.xmlNode *node = document.children
        cdef tree.xmlAttr *attribute
        cdef tree.xmlNs *space
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
                if attributes:
                    count = 0
                    attribute = node.properties
                    while attribute != NULL:
                        count += 1
                        attribute = attribute.next
                    self.attributes += count
                    self.most_attributes = max(self.most_attributes, count)
                    count = 0
                    space = node.nsDef
                    while space != NULL:
                        count += 1
                        space = space.next
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
                    parent = self.spots[parent].parent
            if node != NULL:
                node = node.next
        self.elements = self.size - 1
        self.counted = counted
        return 0

    cdef int value(self, int32_t spot, Text *found) except -1 nogil:
        """The string-value of a node; good until the next one is asked for."""
        cdef tree.xmlNode *node = self.spots[spot].node
        cdef tree.xmlNode *text
        if node.type == tree.XML_COMMENT_NODE or node.type == tree.XML_PI_NODE:
            found[0] = _content(node)
            return 0
        text = node
        if not is_text(node):
            text = node.children
            if text == NULL:
                found[0] = Text(b"", 0)
                return 0
        if is_text(text) and (text.next == NULL or (text == node and not is_text(text.next))):
            found[0] = _content(text)  # the usual case: one piece, as it lies there
            return 0
        self._size = 0
        if text == node:
            while text != NULL and is_text(text):
                self._append(_content(text).at, _content(text).length)
                text = text.next
        else:
            self._gather(node)
        found[0] = Text(self._buffer, self._size)
        if self._size == 0:
            found[0] = Text(b"", 0)
        return 0

    cdef int _gather(self, tree.xmlNode *top) except -1 nogil:
        """Put the texts below a node one after the other."""
        cdef tree.xmlNode *node = top.children
        while node != NULL:
            if is_text(node):
                self._append(_content(node).at, _content(node).length)
            elif node.type == tree.XML_ELEMENT_NODE and node.children != NULL:
                node = node.children
                continue
            while node.next == NULL:
                node = node.parent
                if node == top:
                    return 0
            node = node.next
        return 0

    cdef int _append(self, const char *text, Py_ssize_t length) except -1 nogil:
        if self._size + length > self._room:
            grow(<void **>&self._buffer, &self._room, self._size + length, 1)
        memcpy(self._buffer + self._size, text, <size_t>length)
        self._size += length
        return 0


cdef Text _content(const tree.xmlNode *node) noexcept nogil:
    if node.content == NULL:
        return Text(b"", 0)
    return Text(<const char *>node.content, <Py_ssize_t>strlen(<const char *>node.content))
