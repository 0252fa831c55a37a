"""Paths on one document; see joins.pyx."""

from libc.stdint cimport int32_t, int64_t

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.evaluator.compiled cimport Conditions, Path, Program, Step, Stream
from pathcast.matching.compiled.core.evaluator.nodes cimport Node, Nodes
from pathcast.matching.compiled.core.evaluator.sets cimport Members, Set


cdef enum:
    PAGE_BITS = 6
    PAGE = 64
    PAGE_MASK = 63


# What is known by number, in pages that are made when needed: most numbers are never asked for.
cdef struct Memo:
    void ***pages


cdef inline void *known_at(const Memo *memo, int32_t number) noexcept nogil:
    cdef void **page = memo.pages[number >> PAGE_BITS]
    return page[number & PAGE_MASK] if page != NULL else NULL


# Nodes at one step of a path; `known`: their parents, or themselves, for quick questions.
cdef struct Level:
    Set nodes
    Members known


cdef class Joins:
    cdef Conditions conditions
    cdef const Program *program
    cdef Py_ssize_t count
    cdef Nodes nodes
    cdef const Node *at
    cdef Arena arena  # what is remembered
    cdef Arena scratch  # lists in the making
    cdef Memo passed  # by stream
    cdef Memo selected  # by step
    cdef Memo levels  # by suffix
    cdef Memo truths  # by condition
    cdef readonly int64_t work

    cdef int start(self) except -1 nogil
    cdef int open(self, Memo *memo, Py_ssize_t numbers) except -1 nogil
    cdef int remember(self, Memo *memo, int32_t number, void *what) except -1 nogil
    cdef Set *kept(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil
    cdef int32_t *copied(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil

    cdef const Set *candidates(self, int32_t number) except NULL nogil
    cdef const Set *passing(self, int32_t stream) except NULL nogil
    cdef const Set *_all_passing(self, int32_t stream) except NULL nogil
    cdef bint named(self, int32_t node, const Stream *wanted) noexcept nogil

    cdef Py_ssize_t filter(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t by_place(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef int32_t _grouped(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil

    cdef Py_ssize_t lead(self, const Path *path, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef const Level *_level(self, const Path *path) except NULL nogil
    cdef const Level *_made_level(
        self, const Step *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil
    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const Level *level
    ) except -1 nogil
    cdef int _from(self, int32_t number, int32_t start, Set *found) except -1 nogil
    cdef int _alone(self, const Step *step, int32_t attribute, Set *found) except -1 nogil
    cdef int select(self, const Path *path, int32_t start, Set *found) except -1 nogil
    cdef int _children(self, int32_t number, const Set *parents, Set *found) except -1 nogil
    cdef int _below(self, int32_t number, const Set *starts, Set *found) except -1 nogil
    cdef int _placed(self, int32_t number, const Set *starts, Set *found) except -1 nogil
