cimport cython
from libc.stdint cimport int32_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.labels cimport Vocabulary
from pathcast.matching.compiled.core.strings cimport StringTable
from pathcast.vectors cimport IntMap, IntVector


@cython.final
cdef class NameTable:
    cdef Vocabulary vocabulary
    cdef StringTable names
    cdef IntVector name_codes
    cdef StringTable namespaces
    cdef IntVector namespace_codes
    cdef StringTable targets
    cdef IntVector target_codes
    cdef IntMap codes  # the set of all codes in the table
    cdef IntMap namespaces_by_name  # code of a name -> code of its namespace
    cdef IntMap namespace_set
    cdef int add(self, int32_t code) except -1
    cdef bint has_code(self, int32_t code) noexcept nogil
    cdef int32_t namespace_of(self, int32_t code) noexcept nogil
    cdef bint is_namespace(self, int32_t code) noexcept nogil
    cdef int32_t target(self, const tree.xmlChar *name) noexcept nogil


@cython.final
cdef class NameCache:
    cdef IntMap codes  # (address of a name, namespace) -> code
    cdef tree.xmlNs *_namespace
    cdef int32_t _namespace_number
    cdef void clear(self) noexcept nogil
    cdef void start_document(self) noexcept nogil
    cdef int32_t code(
        self, NameTable names, const tree.xmlChar *name, tree.xmlNs *namespace
    ) except -1 nogil
