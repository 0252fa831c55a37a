from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.matching.core.course cimport Course
from pathcast.matching.core.vectors cimport Ints
from pathcast.matching.core.walk cimport Walk


cdef class Branches:
    cdef Course course
    cdef Walk walk
    cdef uint32_t *link_stamp
    cdef int32_t *link_at
    cdef int32_t *link_size
    cdef uint32_t *joint_stamp
    cdef int32_t *joint_at
    cdef int32_t *joint_size
    cdef Ints results
    cdef Ints chain
    cdef Ints marks  # spot -> serial
    cdef int32_t serial
    cdef readonly uint64_t work
    cdef int32_t _path[64]
    cdef int32_t _path_node

    cdef int begin(self, Walk walk) except -1
    cdef bint holds(self, int32_t joint) except -1 nogil
    cdef int _join(self, int32_t joint) except -1 nogil
    cdef int _link(self, int32_t link) except -1 nogil
    cdef int _climb(self, int32_t spot, uint64_t mask) except -1 nogil
    cdef uint64_t _span(self, int32_t node, int32_t lower, int32_t upper) except? 0 nogil
    cdef uint64_t _passing(self, int32_t label, int32_t depth) noexcept nogil
