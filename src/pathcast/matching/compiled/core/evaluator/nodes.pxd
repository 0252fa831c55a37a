cimport cython
from libc.stdint cimport int32_t
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.evaluator.program cimport ConditionProgram, ProgramArrays
from pathcast.matching.compiled.core.evaluator.sets cimport NodeSet
from pathcast.matching.compiled.core.strings cimport TextView
from pathcast.vectors cimport IntMap

# The values of pathcast.documents.document.NodeKind.
cdef enum NodeKindCode:
    DOCUMENT_NODE = 0
    ELEMENT_NODE = 1
    ATTRIBUTE_NODE = 2
    TEXT_NODE = 3
    COMMENT_NODE = 4
    PI_NODE = 5
    NODE_KINDS = 6


# A node with its region code: its number is the start, `right` the end.
cdef struct NumberedNode:
    void *at  # xmlNode or xmlAttr; for a text, its first piece
    int32_t parent
    int32_t right  # the last number inside
    int32_t name  # elements, attributes: index in `names`; texts: whether there are more pieces
    int32_t kind


# A name by its pointers in this document. Several of them may have one label.
cdef struct DocumentName:
    const tree.xmlChar *local
    tree.xmlNs *ns
    bint attribute
    int32_t label  # -1: no condition tests it
    int32_t space  # namespace number, NO_NAMESPACE, or -1: no condition tests it
    int32_t slot  # index in `listed`; 0: not listed
    int32_t count


@cython.final
cdef class NumberedNodes:
    cdef cetree._Element root
    cdef ConditionProgram conditions
    cdef const ProgramArrays *program
    cdef Arena arena
    cdef NumberedNode *at
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef Py_ssize_t counts[NODE_KINDS]
    cdef NodeSet kinds[NODE_KINDS]
    cdef DocumentName *names
    cdef Py_ssize_t name_count
    cdef Py_ssize_t name_capacity
    cdef IntMap name_numbers
    cdef IntMap slots  # (label, is an attribute) -> slot
    cdef NodeSet *listed
    cdef TextView *strings  # memoized string-values
    cdef double *numbers  # memoized number-values
    cdef int32_t *ranks  # for each node: the number of texts up to it
    cdef Py_ssize_t string_budget  # bytes that may still be memoized
    cdef NodeSet no_nodes

    cdef int number(self) except -1 nogil
    cdef const NodeSet *of_kind(self, int32_t kind) except NULL nogil
    cdef const NodeSet *of_label(self, int32_t label, bint attribute) except NULL nogil
    cdef int string_value(self, int32_t node, Arena *scratch, TextView *value) except -1 nogil

    cdef double number_value(self, int32_t node, Arena *scratch) except? -1.0 nogil
    cdef bint starts_with(
        self, int32_t node, const char *text, Py_ssize_t size, bint exact, Arena *scratch
    ) except -1 nogil

    cdef const NodeSet *_ranked_texts(self) except NULL nogil
    cdef int32_t _push(self, int32_t kind, void *at, int32_t parent, int32_t name) except -1 nogil
    cdef int _push_attributes(self, tree.xmlNode *element, int32_t parent) except -1 nogil
    cdef int32_t _name(
        self, const tree.xmlChar *local, tree.xmlNs *ns, bint attribute
    ) except -1 nogil
    cdef int _list_names(self) except -1 nogil
    cdef int _element_string(self, int32_t node, Arena *scratch, TextView *value) except -1 nogil
    cdef int _join_pieces(
        self, tree.xmlNode *first, bint attribute, TextView *value
    ) except -1 nogil
