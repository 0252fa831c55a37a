cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.pattern_arena cimport ArenaStep
from pathcast.matching.compiled.core.pattern_reader cimport PatternReader


@cython.final
cdef class PlannedReader(PatternReader):
    cdef tuple _alternative(self, int32_t condition)
    cdef bint _has_inner_disjunction(self) noexcept
    cdef list _distribute(self, int32_t number)
    cdef list _distribute_step(self, int32_t number)
    cdef int32_t _conjunction(self, tuple parts) except -1
    cdef int32_t _existence_of_steps(self, int32_t path, tuple steps) except -1
    cdef list _branches(self, int32_t number, bint top, int32_t depth)
    cdef tuple _branch(self, int32_t path, int32_t depth)
    cdef tuple _walk(self, int32_t number, int32_t index, list labels, int32_t depth)
    cdef int32_t _label(self, const ArenaStep *step, bint deep) except -1
    cdef int32_t _value_label(self, int32_t value) except -1
    cdef bint _is_search(self, int32_t value_kind) noexcept
    cdef str _operand(self, int32_t condition)
    cdef int _collect(self, int32_t number, tuple start, dict paths) except -1
    cdef tuple _follow(self, int32_t number, tuple start, dict paths)
    cdef object _condition(self, int32_t number)
    cdef object _path(self, int32_t number)
