from libc.stdint cimport int32_t, uint64_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.course cimport Course
from pathcast.matching.compiled.core.fresh cimport FreshRun
from pathcast.matching.compiled.core.twigs cimport Twigs, Unit
from pathcast.vectors cimport IntVector
from pathcast.matching.compiled.core.walk cimport Walk


cdef class Run:
    cdef readonly Walk walk
    cdef readonly Py_ssize_t limit
    cdef readonly uint64_t documents
    cdef readonly uint64_t matches
    cdef readonly uint64_t joins
    cdef public object evaluated
    cdef public object evaluation_work
    cdef tuple _automata
    cdef list _courses
    cdef list _branches
    cdef list _fresh
    cdef uint64_t *_bits
    cdef Py_ssize_t _words
    cdef uint64_t *_hops
    cdef Py_ssize_t _hop_words
    cdef bint _hops_wanted
    cdef int32_t *_found
    cdef tree.xmlDict *_names
    cdef object _keeper
    cdef IntVector _pending
    cdef int _use(self, tuple automata) except -1
    cdef int _use_fresh(self, tuple fresh) except -1
    cdef int _run_fresh(self, FreshRun fresh, const uint64_t *alive) except -1
    cdef void _sweep(self, FreshRun fresh, const uint64_t *alive) noexcept nogil
    cdef int _room(self) except -1
    cdef int _same_names(self) except -1
    cdef int _settle(self, Py_ssize_t index, const uint64_t *alive) except -1
    cdef Twigs _twigs(self, Py_ssize_t index, int32_t entry)
    cdef int _decide(
        self, int32_t index, int32_t place, Course course, Twigs twigs, const uint64_t *alive
    ) except -1 nogil
    cdef int _fits(self, int32_t index, int32_t place, Twigs twigs, const uint64_t *alive) except -1 nogil
    cdef int _leave(self, int32_t index, int32_t place, Twigs twigs, bint settled) except -1 nogil
    cdef void _take(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil
    cdef void _accept(self, Twigs twigs, int32_t entry, const uint64_t *alive) noexcept nogil
    cdef bint _wanted(self, Twigs twigs, const Unit *unit, const uint64_t *alive) noexcept nogil
    cdef bint _wanted_entry(self, Twigs twigs, int32_t entry, const uint64_t *alive) noexcept nogil
    cdef bint _wanted_one(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil
