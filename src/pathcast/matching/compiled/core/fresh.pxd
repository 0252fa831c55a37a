from libc.stdint cimport int32_t, uint64_t

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.matching.compiled.core.labels cimport Paths
from pathcast.matching.compiled.core.names cimport Addresses, Names
from pathcast.vectors cimport IntMap, IntVector
from pathcast.matching.compiled.core.walk cimport Walk


cdef class Fresh:
    cdef Names names
    cdef IntMap rows  # name or namespace -> row of `passes`
    cdef readonly int32_t words
    cdef readonly int32_t largest_number
    cdef readonly int32_t largest_hop
    # a bit for every step of every path, in rows of `words`
    cdef uint64_t *masks  # five rows, see the enum
    cdef uint64_t *passes  # rows: the steps whose test a name passes; the first for names that nobody asks for
    cdef IntVector row_codes
    cdef bint spaces  # whether any of a namespace is asked for
    cdef IntVector numbers  # bit -> the number of the path that ends there
    cdef IntVector hops
    cdef int _pack(self, Paths paths, const int32_t *numbers, Py_ssize_t count, IntVector *starts) except -1
    cdef int _fill(self, Paths paths, const int32_t *numbers, Py_ssize_t count, const IntVector *starts) except -1
    cdef int _name(self, Paths paths, Automaton beside) except -1
    cdef int32_t _row(self, int32_t code) noexcept nogil
    cdef void _spread(self) noexcept nogil
    cdef void _join(self, int32_t row, int32_t other) noexcept nogil


cdef class FreshRun:
    cdef Addresses addresses
    cdef Fresh fresh
    cdef uint64_t *reached  # for every level: the steps that the open element there has reached
    cdef uint64_t *above  # and those that it or one above it has
    cdef Py_ssize_t capacity
    cdef uint64_t *found
    cdef int use(self, Fresh fresh) except -1
    cdef int run(self, Walk walk, const int32_t *codes) except -1 nogil
    cdef int _make_room(self, Py_ssize_t wanted) except -1 nogil
