from libc.stdint cimport int32_t
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element


# A node of the document.
cdef struct Spot:
    tree.xmlNode *node
    int32_t parent
    int32_t depth


cdef struct Text:
    const char *at
    Py_ssize_t length


cdef class Walk:
    cdef _Element root
    cdef Spot *spots
    cdef Py_ssize_t size  # all that were met; those after the elements come while a document is run
    cdef Py_ssize_t capacity
    cdef readonly Py_ssize_t elements
    cdef readonly Py_ssize_t counted
    cdef readonly int32_t depth
    cdef readonly Py_ssize_t attributes
    cdef readonly Py_ssize_t most_attributes
    cdef char *_buffer
    cdef Py_ssize_t _size
    cdef Py_ssize_t _room
    cdef int32_t add(self, tree.xmlNode *node, int32_t parent, int32_t depth) except -1 nogil
    cdef int value(self, int32_t spot, Text *found) except -1 nogil
    cdef int _walk(self, tree.xmlDoc *document, bint attributes) except -1 nogil
    cdef int _gather(self, tree.xmlNode *node) except -1 nogil
    cdef int _append(self, const char *text, Py_ssize_t length) except -1 nogil


cdef inline bint is_text(const tree.xmlNode *node) noexcept nogil:
    return node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE


cdef inline bint starts_text(const tree.xmlNode *node) noexcept nogil:
    """Whether a text begins here: characters in a row are one text, however they were written."""
    return is_text(node) and (node.prev == NULL or not is_text(node.prev))
