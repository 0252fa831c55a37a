from libc.stdint cimport int32_t, uint32_t, uint64_t
from lxml.includes cimport tree

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.matching.compiled.core.memo cimport Memo
from pathcast.matching.compiled.core.names cimport Addresses
from pathcast.vectors cimport IntVector
from pathcast.matching.compiled.core.walk cimport Walk


# What a document has of a leaf that joins may ask for.
cdef struct LeafState:
    uint32_t stamp
    int32_t first  # the first segment that has it
    int32_t listed  # where its nodes are listed, -1 if they are not yet
    int32_t count


cdef class Course:
    cdef readonly Automaton automaton
    cdef readonly Memo memo
    cdef bint joins  # whether there is anything but linear paths
    cdef uint32_t epoch
    cdef bint lost  # what joins need was not kept
    cdef Addresses addresses
    cdef IntVector codes  # of the elements
    cdef IntVector shadows  # node of another course's memo -> ours, -1 if not known, -2 if there is no one
    cdef uint64_t shadowed  # the serial number of that memo
    cdef uint64_t shadowed_flushes
    cdef uint64_t own_flushes
    cdef IntVector at  # spot -> node of the memo
    cdef IntVector met  # label paths, each once
    cdef IntVector instances  # pairs: a spot, and the next of its label path
    cdef IntVector visitors  # pairs: a node, and the next that has the segment
    cdef IntVector sections  # segments that have leaves, each once
    cdef IntVector hits  # pairs: a segment, and the next that has the leaf
    cdef LeafState *leaves
    cdef uint64_t *hit  # a bit for every leaf that was reached, and one for no leaf that always is
    cdef uint64_t *several  # the same for those that were reached at more than one node
    cdef Py_ssize_t leaf_words
    cdef IntVector undecided  # units whose joints must be asked
    # where results go
    cdef uint64_t *bits
    cdef uint64_t *hops  # NULL when numbers are wanted
    cdef const uint64_t *alive
    cdef uint32_t version

    cdef bint serve(self, Automaton automaton) except -1
    cdef int run(self, Walk walk) except -1 nogil
    cdef int follow(self, Course lead, Walk walk) except -1 nogil
    cdef int _start(self, Walk walk) except -1 nogil
    cdef int _adapt(self, Course lead) except -1 nogil
    cdef bint _shadow(self, Course lead, Walk walk) except -1 nogil
    cdef int32_t _code(self, const tree.xmlChar *name, tree.xmlNs *space) except -1 nogil
    cdef int32_t _step(self, int32_t node, int32_t code) except -1 nogil
    cdef int32_t _enter(self, Walk walk, int32_t spot, int32_t node) except -1 nogil
    cdef int _meet_all(self) except -1 nogil
    cdef int _meet(self, int32_t node) except -1 nogil
    cdef void _hit(self, const int32_t *leaves, int32_t count, uint64_t several) noexcept nogil
    cdef int _hit_all(self) except -1 nogil
    cdef int _chain(self, int32_t segment, const int32_t *leaves, int32_t count) except -1 nogil
    cdef int _around(self, Walk walk, int32_t spot, int32_t node) except -1 nogil
    cdef int _attributes(self, Walk walk, int32_t spot, int32_t node) except -1 nogil
    cdef int _others(self, Walk walk, int32_t spot, int32_t node) except -1 nogil
    cdef int _add(self, Walk walk, tree.xmlNode *found, int32_t spot, int32_t node) except -1 nogil
    cdef int _value(self, Walk walk, int32_t spot, int32_t node) except -1 nogil
    cdef int _value_step(self, Walk walk, int32_t spot, int32_t node, int32_t code) except -1 nogil
    cdef int _visit(self, Walk walk, tree.xmlNode *found, int32_t spot, int32_t node, int32_t code) except -1 nogil
