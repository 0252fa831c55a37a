cimport cython
from libc.stdint cimport int32_t, uint32_t

from pathcast.vectors cimport IntMap, IntVector


@cython.final
cdef class KeywordIndex:
    cdef readonly int32_t count  # keywords
    cdef IntVector labels  # keyword -> the label of its edge
    cdef dict _numbers  # (kind, operand) -> keyword
    cdef bint _has_substrings
    cdef int32_t _root[256]  # byte -> child of the root, 0: none
    cdef IntMap _edges  # (node, byte) -> node, for all nodes but the root
    cdef IntVector _failures  # node -> its longest proper suffix that is a node
    cdef IntVector _outputs  # node -> it or its longest suffix that ends a substring, 0: none
    cdef IntVector _substrings  # node -> its keyword as a substring, -1: none
    cdef IntVector _prefixes  # node -> its keyword as a prefix, -1: none
    # during construction
    cdef IntVector _parents
    cdef IntVector _bytes
    cdef IntVector _depths
    cdef int32_t _add_node(self, int32_t parent, unsigned char byte, int32_t depth) except -1
    cdef int32_t _add(self, bytes keyword) except -1
    cdef int _link(self) except -1
    cdef int32_t _child(self, int32_t node, unsigned char byte) noexcept nogil
    cdef int32_t _step(self, int32_t node, unsigned char byte) noexcept nogil
    cdef int search(
        self,
        const char *text,
        Py_ssize_t size,
        uint32_t *stamps,
        uint32_t stamp,
        IntVector *matches,
    ) except -1 nogil
