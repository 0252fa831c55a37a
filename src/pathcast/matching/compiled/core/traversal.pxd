cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.lazy_dfa cimport LazyDfa
from pathcast.matching.compiled.core.names cimport NameCache
from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.path_table cimport PathTable
from pathcast.matching.compiled.core.predicates cimport span_passes
from pathcast.matching.compiled.core.state_set_table cimport StateSetTable
from pathcast.matching.compiled.core.strings cimport TextView
from pathcast.matching.compiled.core.twigs cimport Guard
from pathcast.vectors cimport IntVector, has_bit


# The smallest and the largest rank of a leaf's numbers; valid in the document of the stamp.
cdef struct RankSpan:
    uint32_t stamp
    int32_t smallest
    int32_t largest


# A position in the label paths of a leaf; `next_path` advances it.
cdef struct PathCursor:
    int32_t set_link  # as in `first_sets`, or NO_MORE_SETS
    int32_t path_link


cdef enum:
    NO_MORE_SETS = -2147483648


@cython.final
cdef class Traversal:
    cdef readonly CompiledNfa nfa
    cdef readonly LazyDfa dfa
    cdef PathTable paths  # those of `dfa`
    cdef StateSetTable sets
    cdef bint has_twigs  # the NFA has non-linear entries
    cdef uint32_t epoch  # number of the current document
    cdef bint memo_overflowed  # the document exceeded the memo: joins lack their input
    cdef NameCache name_cache
    cdef IntVector symbols  # row of an element -> its symbol
    cdef IntVector path_map  # path of the leader -> path here; -1: unknown, -2: not unique
    cdef uint64_t leader_serial  # the leader's lazy DFA that `path_map` belongs to
    cdef uint64_t leader_flushes
    cdef uint64_t own_flushes
    cdef IntVector path_of  # row of the node table -> path
    cdef IntVector seen_paths  # distinct paths of the document that have outputs
    cdef IntVector instances  # a chain of (row, next) per path
    cdef IntVector path_chain  # a chain of (path, next) per state set
    cdef IntVector leaf_sets  # distinct state sets of the document that have leaves
    # The state sets of a join leaf that was hit: the only one, or ~i, where `set_chain` has a
    # state set and the link to the others at i.
    cdef int32_t *first_sets
    cdef IntVector set_chain
    cdef RankSpan *rank_spans  # by leaf
    cdef IntVector ranks  # row of a node whose number guards compare -> its rank
    cdef uint64_t *hit  # a bit per leaf that was reached; bit `leaf_count` is always set
    cdef uint64_t *multi_hit  # a bit per leaf that several nodes reached
    cdef Py_ssize_t leaf_words
    cdef IntVector undecided  # plans that need a join
    cdef IntVector keyword_stamps  # keyword -> the last value that contains it
    cdef uint32_t keyword_stamp  # number of the current value
    cdef IntVector keywords_found  # in the current value
    cdef Arena texts  # results of string functions
    # outputs; the caller sets them
    cdef uint64_t *bits
    cdef uint64_t *hops  # NULL: collect subscription numbers
    cdef const uint64_t *alive
    cdef uint32_t version

    cdef bint rebind(self, CompiledNfa nfa) except -1
    cdef int run(self, NodeTable nodes) except -1 nogil
    cdef int follow(self, Traversal leader, NodeTable nodes) except -1 nogil
    cdef int _start_document(self, NodeTable nodes) except -1 nogil
    cdef int _extend_path_map(self, Traversal leader) except -1 nogil
    cdef bint _map_paths(self, Traversal leader, NodeTable nodes) except -1 nogil
    cdef int32_t _name_code(
        self, const tree.xmlChar *name, tree.xmlNs *namespace
    ) except -1 nogil
    cdef int32_t _step(self, int32_t path, int32_t symbol) except -1 nogil
    cdef int32_t _enter(self, int32_t row, int32_t path) except -1 nogil
    cdef int _collect_all_matches(self) except -1 nogil
    cdef int _collect_matches(self, int32_t path) except -1 nogil
    cdef void _hit_leaves(
        self, const int32_t *leaves, int32_t count, uint64_t multi_mask
    ) noexcept nogil
    cdef int _hit_all_leaves(self) except -1 nogil
    cdef int _hit_join_leaves(
        self, int32_t state_set, const int32_t *leaves, int32_t count, uint64_t multi_mask
    ) except -1 nogil
    cdef const RankSpan *rank_span(self, int32_t leaf) noexcept nogil
    cdef int _visit_attributes_and_text(
        self, NodeTable nodes, int32_t row, int32_t path
    ) except -1 nogil
    cdef int _visit_attributes(self, NodeTable nodes, int32_t row, int32_t path) except -1 nogil
    cdef int _visit_other_children(
        self, NodeTable nodes, int32_t row, int32_t path
    ) except -1 nogil
    cdef int _visit_other(
        self, NodeTable nodes, tree.xmlNode *node, int32_t parent, int32_t path, int32_t symbol
    ) except -1 nogil
    cdef int _add_row(
        self, NodeTable nodes, tree.xmlNode *node, int32_t parent, int32_t path
    ) except -1 nogil
    cdef int _test_value(self, NodeTable nodes, int32_t row, int32_t path) except -1 nogil
    cdef int _test_text(self, int32_t row, int32_t path, TextView text) except -1 nogil
    cdef int _test_functions(self, int32_t row, int32_t path, TextView text) except -1 nogil
    cdef void _add_rank(self, int32_t row, int32_t path, int32_t rank) noexcept nogil
    cdef int _test_keywords(self, int32_t row, int32_t path, TextView text) except -1 nogil
    cdef int _clear_keyword_stamps(self) except -1 nogil
    cdef int _value_step(self, int32_t row, int32_t path, int32_t symbol) except -1 nogil
    cdef int32_t _value_target(self, int32_t path, int32_t symbol) except -1 nogil


cdef inline PathCursor leaf_paths(Traversal traversal, int32_t leaf) noexcept nogil:
    """Return a cursor at the start of the label paths that reached a join leaf."""
    if has_bit(traversal.hit, leaf):
        return PathCursor(traversal.first_sets[leaf], -1)
    return PathCursor(NO_MORE_SETS, -1)


cdef inline int32_t next_path(Traversal traversal, PathCursor *cursor) noexcept nogil:
    """Return the next label path that reached a leaf, -1 behind the last one."""
    cdef int32_t state_set, path
    while cursor.path_link < 0:
        if cursor.set_link == NO_MORE_SETS:
            return -1
        if cursor.set_link >= 0:
            state_set = cursor.set_link
            cursor.set_link = NO_MORE_SETS
        else:
            state_set = traversal.set_chain.at[~cursor.set_link]
            cursor.set_link = traversal.set_chain.at[~cursor.set_link + 1]
        cursor.path_link = traversal.sets.hot[state_set].path_chain
    path = traversal.path_chain.at[cursor.path_link]
    cursor.path_link = traversal.path_chain.at[cursor.path_link + 1]
    return path


cdef inline bint passes_guard(Traversal traversal, int32_t number) noexcept nogil:
    """Return whether a number at the leaf of a guard passes its comparison.

    Once the memo has exceeded its bound, numbers are unknown: a hit of the leaf suffices.
    """
    cdef const Guard *guard = &traversal.nfa.twigs.guards[number]
    cdef const RankSpan *span = &traversal.rank_spans[guard.leaf]
    if traversal.memo_overflowed or not has_bit(traversal.hit, guard.leaf):
        return has_bit(traversal.hit, guard.leaf)
    if span.stamp != traversal.epoch:
        span = traversal.rank_span(guard.leaf)
    return span_passes(guard.op, guard.operand, span.smallest, span.largest)
