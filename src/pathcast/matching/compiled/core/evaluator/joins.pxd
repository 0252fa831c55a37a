from libc.stdint cimport int32_t, int64_t

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.evaluator.nodes cimport NumberedNode, NumberedNodes
from pathcast.matching.compiled.core.evaluator.program cimport (
    CompiledPath,
    CompiledStep,
    ConditionProgram,
    NodeStream,
    ProgramArrays,
)
from pathcast.matching.compiled.core.evaluator.sets cimport NodeMembers, NodeSet
from pathcast.matching.compiled.core.predicates cimport (
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    LESS_OR_EQUAL,
)


cdef enum:
    PAGE_BITS = 6
    PAGE_SIZE = 64
    PAGE_MASK = 63


cdef inline bint compare_numbers(int op, double left, double right) noexcept nogil:
    if op == EQUAL:
        return left == right
    if op == DIFFERENT:
        return left != right
    if op == LESS:
        return left < right
    if op == LESS_OR_EQUAL:
        return left <= right
    return left > right if op == GREATER else left >= right


# A sparse array of pointers by number; pages are allocated on first use.
cdef struct PagedMemo:
    void ***pages


cdef inline void *lookup(const PagedMemo *memo, int32_t number) noexcept nogil:
    cdef void **page = memo.pages[number >> PAGE_BITS]
    return page[number & PAGE_MASK] if page != NULL else NULL


# The nodes of one step of a path from which its remaining steps select something. `members` holds
# their parents (child and attribute axes) or the nodes themselves, `sums` their prefix sums in the
# order of a sideways step.
cdef struct PathLevel:
    NodeSet nodes
    NodeMembers members
    int32_t *sums


cdef class StepJoins:
    cdef ConditionProgram conditions
    cdef const ProgramArrays *program
    cdef Py_ssize_t count  # conditions in the program when the evaluation began
    cdef NumberedNodes nodes
    cdef const NumberedNode *at
    cdef Arena arena  # memoized results
    cdef Arena scratch  # temporary lists
    cdef PagedMemo stream_memo  # stream -> NodeSet
    cdef PagedMemo step_memo  # step -> NodeSet
    cdef PagedMemo level_memo  # suffix -> PathLevel
    cdef PagedMemo truth_memo  # condition -> its truth at the document node
    cdef readonly int64_t work

    cdef int start(self) except -1 nogil
    cdef int init_memo(self, PagedMemo *memo, Py_ssize_t numbers) except -1 nogil
    cdef int memoize(self, PagedMemo *memo, int32_t number, void *value) except -1 nogil
    cdef NodeSet *store(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil
    cdef int32_t *copy_to_scratch(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil

    cdef const NodeSet *candidates(self, int32_t step) except NULL nogil
    cdef const NodeSet *nodes_passing(self, int32_t stream) except NULL nogil
    cdef const NodeSet *_find_passing(self, int32_t stream) except NULL nogil
    cdef bint has_name(self, int32_t node, const NodeStream *stream) noexcept nogil

    cdef Py_ssize_t filter(
        self, int32_t condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t filter_by_position(
        self, int32_t condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef int32_t _group_siblings(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil

    cdef Py_ssize_t filter_by_path(
        self, const CompiledPath *path, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef const PathLevel *_level_of(self, const CompiledPath *path) except NULL nogil
    cdef const PathLevel *_new_level(
        self, const CompiledStep *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil
    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const PathLevel *level
    ) except -1 nogil
    cdef const NodeSet *sideways_candidates(self, int32_t number) except NULL nogil
    cdef int prepare_sideways(self, int32_t number, PathLevel *level) except -1 nogil
    cdef bint reaches_sideways(
        self, int32_t number, int32_t start, const PathLevel *level
    ) except -1 nogil
    cdef Py_ssize_t count_sideways(
        self, const CompiledPath *path, int32_t start
    ) except -1 nogil
    cdef int select_sideways(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil

    cdef int select(
        self, const CompiledPath *path, int32_t start, NodeSet *result
    ) except -1 nogil
    cdef int _select_from(self, int32_t number, int32_t start, NodeSet *result) except -1 nogil
    cdef int _select_from_attribute(
        self, const CompiledStep *step, int32_t attribute, NodeSet *result
    ) except -1 nogil
    cdef int _select_parents(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil
    cdef int _select_children(
        self, int32_t number, const NodeSet *parents, NodeSet *result
    ) except -1 nogil
    cdef int _select_descendants(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil
    cdef int _select_per_context(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil
