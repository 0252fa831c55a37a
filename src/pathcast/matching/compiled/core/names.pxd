from libc.stdint cimport int32_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.labels cimport Vocabulary
from pathcast.matching.compiled.core.strings cimport Strings
from pathcast.vectors cimport IntMap, IntVector


cdef class Names:
    cdef Vocabulary vocabulary
    cdef Strings names
    cdef IntVector name_codes
    cdef Strings spaces
    cdef IntVector space_codes
    cdef Strings targets
    cdef IntVector target_codes
    cdef IntMap known  # all codes that it has
    cdef IntMap space_of  # name -> its namespace
    cdef IntMap space_set
    cdef int add(self, int32_t code) except -1
    cdef bint has(self, int32_t code) noexcept nogil
    cdef int32_t space(self, int32_t code) noexcept nogil
    cdef bint is_space(self, int32_t code) noexcept nogil
    cdef int32_t target(self, const tree.xmlChar *name) noexcept nogil


cdef class Addresses:
    cdef IntMap codes  # (name's address, namespace) -> code
    cdef tree.xmlNs *_space
    cdef int32_t _space_number
    cdef void forget(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef int32_t code(self, Names names, const tree.xmlChar *name, tree.xmlNs *space) except -1 nogil
