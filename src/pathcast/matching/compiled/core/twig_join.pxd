cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.traversal cimport Traversal
from pathcast.matching.compiled.core.twigs cimport TwigIndex
from pathcast.vectors cimport IntVector


# 64 adjacent rows of the node table, a bit each. A set of rows is a list of blocks that are not
# empty, in order: small for a few rows of a large document, a few words for a small document.
cdef struct RowBlock:
    uint64_t bits
    int32_t index


# The result of a semijoin in the document of the stamp: blocks, or spans if it is ranked.
cdef struct RowSet:
    uint64_t summary  # a bit for each row >> `summary_shift`
    uint32_t stamp
    int32_t at
    int32_t count


# The numbers below a node, by their smallest and their largest rank.
cdef struct RowSpan:
    int32_t row
    int32_t smallest
    int32_t largest


@cython.final
cdef class TwigJoin:
    cdef Traversal traversal
    cdef TwigIndex twigs
    cdef NodeTable nodes
    cdef RowSet *row_sets  # by semijoin
    cdef RowBlock *blocks
    cdef Py_ssize_t block_count
    cdef Py_ssize_t block_capacity
    cdef RowSpan *spans
    cdef Py_ssize_t span_count
    cdef Py_ssize_t span_capacity
    cdef IntVector bitmap  # the set under construction, two ints for 64 rows; else zeros
    cdef IntVector row_spans  # of the same rows: the smallest and the largest rank
    cdef int32_t lowest_word
    cdef int32_t highest_word
    cdef uint64_t summary
    cdef int summary_shift
    cdef uint32_t last_epoch  # of the traversal, when the scratch space was last reset
    cdef readonly uint64_t work

    cdef int start_document(self) except -1 nogil
    cdef bint has_match(self, int32_t root) except -1 nogil
    cdef void prefetch(self, int32_t root) noexcept nogil
    cdef bint _summaries_meet(self, int32_t number) except -1 nogil
    cdef int _intersect(self, int32_t number) except -1 nogil
    cdef int _append_block(self, int32_t index, uint64_t bits) except -1 nogil
    cdef int _append_blocks(self, const RowSet *rows) except -1 nogil
    cdef int _append_span_rows(self, const RowSet *rows) except -1 nogil
    cdef void _keep_common(self, Py_ssize_t start, const RowSet *rows) noexcept nogil
    cdef void _filter_by_guards(self, int32_t number, Py_ssize_t start) noexcept nogil
    cdef bint _passes_guards(self, int32_t number, int32_t row) noexcept nogil
    cdef const RowSpan *_find_span(self, const RowSet *rows, int32_t row) noexcept nogil
    cdef const RowSet *_row_set(self, int32_t number) except NULL nogil
    cdef int _collect_leaf(self, int32_t leaf, int32_t edge) except -1 nogil
    cdef int _collect_node(self, int32_t node, int32_t edge) except -1 nogil
    cdef void _start_bitmap(self) noexcept nogil
    cdef void _add_above(self, int32_t row, int32_t edge) noexcept nogil
    cdef bint _add_row(self, int32_t row) noexcept nogil
    cdef int _take_bitmap(self) except -1 nogil
    cdef int _collect_spans(self, int32_t leaf, int32_t edge) except -1 nogil
    cdef void _add_number(self, int32_t row, int32_t edge) noexcept nogil
    cdef int _take_spans(self) except -1 nogil
