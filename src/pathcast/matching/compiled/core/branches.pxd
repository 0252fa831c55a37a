from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.course cimport Course
from pathcast.vectors cimport IntVector
from pathcast.matching.compiled.core.walk cimport Walk


# The nodes that were found for a link or a joint, of the document that `stamp` says.
cdef struct Found:
    uint32_t stamp
    int32_t at
    int32_t count


cdef class Branches:
    cdef Course course
    cdef Walk walk
    cdef Found *links
    cdef Found *joints
    cdef IntVector results
    cdef IntVector marks  # spot -> serial
    cdef int32_t serial
    cdef readonly uint64_t work

    cdef int begin(self) except -1 nogil
    cdef bint holds(self, int32_t joint) except -1 nogil
    cdef int _join(self, int32_t joint) except -1 nogil
    cdef int _link(self, int32_t link) except -1 nogil
    cdef int _lift(self, int32_t leaf, int32_t levels) except -1 nogil
    cdef int _take(self, int32_t spot) except -1 nogil
    cdef int _list(self, int32_t leaf) except -1 nogil
    cdef int _up(self, int32_t at, int32_t levels) except -1 nogil
    cdef int _above(self, int32_t at, int32_t leaf) except -1 nogil
