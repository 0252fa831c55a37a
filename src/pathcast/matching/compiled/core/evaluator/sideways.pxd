from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.evaluator.joins cimport PagedMemo, PathLevel, StepJoins
from pathcast.matching.compiled.core.evaluator.program cimport CompiledPath
from pathcast.matching.compiled.core.evaluator.sets cimport NodeSet
from pathcast.vectors cimport IntVector


# A condition of a step: a test of positions or, if there are prefix sums, one that was tested at
# all nodes. The sums tell how many nodes passed before each index.
cdef struct Stage:
    int32_t condition
    int32_t *sums


# The nodes that a sideways step can select, in the order in which selections are intervals.
cdef struct OrderedNodes:
    int32_t axis
    NodeSet ordered  # before the stages
    NodeSet nodes  # after them
    NodeSet candidates  # the same in document order
    int32_t *offsets  # siblings: by parent, where its group starts; else by node, how many before
    Stage *stages
    int32_t stage_count


cdef class SidewaysJoins(StepJoins):
    cdef PagedMemo sideways_memo  # step -> OrderedNodes
    cdef PagedMemo count_memo  # suffix -> prefix sums of how many nodes its further steps select
    cdef IntVector intervals  # pairs of the first index and the index behind the last
    cdef IntVector next_intervals
    cdef IntVector cuts

    cdef const OrderedNodes *_sideways_step(self, int32_t number) except NULL nogil
    cdef int _order_nodes(
        self, OrderedNodes *sideways, const int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef int32_t *_prefix_sums(
        self, const NodeSet *ordered, const int32_t *members, Py_ssize_t count
    ) except NULL nogil
    cdef int32_t *_sum_counts(
        self, const CompiledPath *path, const NodeSet *ordered
    ) except NULL nogil
    cdef int _find_intervals(self, const OrderedNodes *sideways, int32_t start) except -1 nogil
    cdef int _find_siblings(self, const OrderedNodes *sideways, int32_t start) except -1 nogil
    cdef int _find_ancestors(self, const OrderedNodes *sideways, int32_t start) except -1 nogil
    cdef bint _hides_root(self) noexcept nogil
    cdef int _push_interval(self, int32_t first, int32_t end) except -1 nogil
    cdef int _keep_positions(self, int32_t condition, bint reverse) except -1 nogil
    cdef int _push_cuts(self, int32_t condition, int32_t last) except -1 nogil
    cdef int _push_cut(self, int32_t cut, int32_t last) except -1 nogil
    cdef bint _position_holds(
        self, int32_t condition, int32_t position, int32_t last
    ) noexcept nogil
