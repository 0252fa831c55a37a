"""Paths on one document; see joins.pyx."""

from libc.stdint cimport int32_t, int64_t

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.evaluator.program cimport ConditionProgram, CompiledPath, ProgramArrays, CompiledStep, NodeStream
from pathcast.matching.compiled.core.evaluator.nodes cimport NumberedNode, NumberedNodes
from pathcast.matching.compiled.core.evaluator.sets cimport NodeMembers, NodeSet


cdef enum:
    PAGE_BITS = 6
    PAGE = 64
    PAGE_MASK = 63


# What is known by number, in pages that are made when needed: most numbers are never asked for.
cdef struct PagedMemo:
    void ***pages


cdef inline void *lookup(const PagedMemo *memo, int32_t number) noexcept nogil:
    cdef void **page = memo.pages[number >> PAGE_BITS]
    return page[number & PAGE_MASK] if page != NULL else NULL


# Nodes at one step of a path; `known`: their parents, or themselves, for quick questions.
cdef struct PathLevel:
    NodeSet nodes
    NodeMembers known


cdef class StepJoins:
    cdef ConditionProgram conditions
    cdef const ProgramArrays *program
    cdef Py_ssize_t count
    cdef NumberedNodes nodes
    cdef const NumberedNode *at
    cdef Arena arena  # what is remembered
    cdef Arena scratch  # lists in the making
    cdef PagedMemo passed  # by stream
    cdef PagedMemo selected  # by step
    cdef PagedMemo levels  # by suffix
    cdef PagedMemo truths  # by condition
    cdef readonly int64_t work

    cdef int start(self) except -1 nogil
    cdef int open(self, PagedMemo *memo, Py_ssize_t numbers) except -1 nogil
    cdef int memoize(self, PagedMemo *memo, int32_t number, void *what) except -1 nogil
    cdef NodeSet *kept(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil
    cdef int32_t *copy_to_scratch(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil

    cdef const NodeSet *candidates(self, int32_t number) except NULL nogil
    cdef const NodeSet *nodes_passing(self, int32_t stream) except NULL nogil
    cdef const NodeSet *_find_passing(self, int32_t stream) except NULL nogil
    cdef bint named(self, int32_t node, const NodeStream *wanted) noexcept nogil

    cdef Py_ssize_t filter(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t filter_by_position(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef int32_t _group_siblings(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil

    cdef Py_ssize_t filter_by_path(self, const CompiledPath *path, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef const PathLevel *_level_of(self, const CompiledPath *path) except NULL nogil
    cdef const PathLevel *_new_level(
        self, const CompiledStep *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil
    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const PathLevel *level
    ) except -1 nogil
    cdef int _select_from(self, int32_t number, int32_t start, NodeSet *found) except -1 nogil
    cdef int _select_from_attribute(self, const CompiledStep *step, int32_t attribute, NodeSet *found) except -1 nogil
    cdef int select(self, const CompiledPath *path, int32_t start, NodeSet *found) except -1 nogil
    cdef int _select_children(self, int32_t number, const NodeSet *parents, NodeSet *found) except -1 nogil
    cdef int _select_descendants(self, int32_t number, const NodeSet *starts, NodeSet *found) except -1 nogil
    cdef int _select_per_context(self, int32_t number, const NodeSet *starts, NodeSet *found) except -1 nogil
