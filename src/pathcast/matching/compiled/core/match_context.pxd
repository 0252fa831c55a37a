cimport cython
from libc.stdint cimport int32_t, uint64_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.bit_parallel cimport BitParallelTraversal
from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.traversal cimport Traversal
from pathcast.matching.compiled.core.twigs cimport TriggerGroup, TwigIndex, TwigPlan
from pathcast.vectors cimport IntVector


@cython.final
cdef class MatchContext:
    cdef readonly NodeTable nodes
    cdef readonly Py_ssize_t limit
    cdef readonly uint64_t documents
    cdef readonly uint64_t matches
    cdef readonly uint64_t joins
    cdef public object evaluated
    cdef public object evaluation_work
    cdef tuple _nfas
    cdef list _traversals
    cdef list _joins  # by traversal: its TwigJoin, None if the NFA has no twigs
    cdef list _recent  # a BitParallelTraversal for each set of recent paths
    cdef uint64_t *_bits
    cdef Py_ssize_t _words
    cdef uint64_t *_hops
    cdef Py_ssize_t _hop_words
    cdef bint _wants_hops
    cdef int32_t *_numbers
    cdef tree.xmlDict *_names
    cdef object _names_owner
    cdef IntVector _pending
    cdef int _bind_nfas(self, tuple nfas) except -1
    cdef int _bind_recent(self, tuple recent) except -1
    cdef int _run_recent(self, BitParallelTraversal recent, const uint64_t *alive) except -1
    cdef void _add_recent_matches(
        self, BitParallelTraversal recent, const uint64_t *alive
    ) noexcept nogil
    cdef int _reserve(self) except -1
    cdef int _check_name_dictionary(self) except -1
    cdef int _match_twigs(self, Py_ssize_t index, const uint64_t *alive) except -1
    cdef TwigIndex _twigs_of(self, Py_ssize_t index, int32_t entry)
    cdef int _match_group(
        self,
        int32_t index,
        int32_t leaf,
        const TriggerGroup *group,
        Traversal traversal,
        TwigIndex twigs,
        const uint64_t *alive,
    ) except -1 nogil
    cdef int _decide(
        self,
        int32_t index,
        int32_t plan,
        Traversal traversal,
        TwigIndex twigs,
        const uint64_t *alive,
    ) except -1 nogil
    cdef int _on_join_match(
        self, int32_t index, int32_t plan, TwigIndex twigs, const uint64_t *alive
    ) except -1 nogil
    cdef int _defer(
        self, int32_t index, int32_t plan, TwigIndex twigs, bint only_residual
    ) except -1 nogil
    cdef void _add_match(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil
    cdef void _accept_entry(
        self, TwigIndex twigs, int32_t entry, const uint64_t *alive
    ) noexcept nogil
    cdef bint _plan_matters(
        self, TwigIndex twigs, const TwigPlan *plan, const uint64_t *alive
    ) noexcept nogil
    cdef bint _entry_matters(
        self, TwigIndex twigs, int32_t entry, const uint64_t *alive
    ) noexcept nogil
    cdef bint _number_matters(
        self, int32_t number, int32_t hop, const uint64_t *alive
    ) noexcept nogil
