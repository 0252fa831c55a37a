cimport cython
from libc.stdint cimport int32_t
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element

from pathcast.matching.compiled.core.strings cimport TextView


cdef struct NodeRow:
    tree.xmlNode *node
    int32_t parent
    int32_t depth


@cython.final
cdef class NodeTable:
    cdef _Element root
    cdef NodeRow *rows
    cdef Py_ssize_t size  # a traversal appends rows behind those of the elements
    cdef Py_ssize_t capacity
    cdef readonly Py_ssize_t elements
    cdef readonly Py_ssize_t counted
    cdef readonly int32_t depth
    cdef readonly Py_ssize_t attributes
    cdef readonly Py_ssize_t most_attributes
    cdef char *_buffer
    cdef Py_ssize_t _buffer_size
    cdef Py_ssize_t _buffer_capacity
    cdef int32_t add(self, tree.xmlNode *node, int32_t parent, int32_t depth) except -1 nogil
    cdef int string_value(self, int32_t row, TextView *value) except -1 nogil
    cdef int _add_elements(self, tree.xmlDoc *document, bint count_attributes) except -1 nogil
    cdef int _concatenate(self, tree.xmlNode *top) except -1 nogil
    cdef int _append(self, const tree.xmlNode *text) except -1 nogil


cdef inline bint is_text(const tree.xmlNode *node) noexcept nogil:
    return node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE


cdef inline bint starts_text(const tree.xmlNode *node) noexcept nogil:
    """Return whether an XPath text node starts here; adjacent characters and CDATA are one."""
    return is_text(node) and (node.prev == NULL or not is_text(node.prev))
