from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.covering.core.labels cimport LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, TwigBloom, FlatTwig
from pathcast.vectors cimport IntMap, IntVector, pack_key


cdef struct FactorNode:  # what a search looks at: one line of memory
    int32_t label
    int32_t descendant
    int32_t first  # its children, in the order in which they came
    int32_t next  # the next of its siblings
    int32_t twin  # the next sibling with the same label and edge
    int32_t count  # of twigs that have a node here
    int32_t branching  # of twigs that have several children here
    int32_t ruled  # of children whose labels allow others by rules
    TwigBloom every  # what all twigs here have (perhaps there is more that all have)
    TwigBloom some  # what some twig here has (perhaps there is less that any has)


cdef struct FactorNodeCold:
    int32_t parent
    int32_t last
    int32_t before
    int32_t children
    int32_t deep  # children that hang descendant
    uint32_t used  # by which addition it was used last
    int64_t left  # its region: all below it lies between left and right
    int64_t right
    int64_t tail  # from here to right is free
    IntVector twigs  # those that have a node here
    IntVector ends  # those that have a leaf here


cdef struct FactoredTwig:
    FlatTwig twig
    TwigBloom marks
    int32_t *nodes  # where each node of the twig is in the tree
    int32_t *places  # at which place among the twigs there
    int32_t *ends  # and among the ends


cdef inline uint64_t child_key(int32_t parent, int32_t label, int32_t descendant) noexcept:
    return pack_key(parent, label * 2 + descendant)


cdef class FactorizationTree:
    cdef readonly LabelTable labels
    cdef HomomorphismTest _homomorphism
    cdef readonly bint regions
    cdef readonly int64_t relabelled  # how often the regions had to be given anew
    cdef FactorNode *nodes
    cdef FactorNodeCold *cold
    cdef int32_t size
    cdef int32_t _room
    cdef IntVector _free_nodes
    cdef IntMap _children
    cdef FactoredTwig *entries
    cdef int32_t entry_count
    cdef int32_t _entry_room
    cdef IntVector _free_entries
    cdef uint32_t _addition
    cdef IntVector *_lists  # for each label its nodes, from left to right
    cdef int32_t _list_count

    cdef int32_t _new_node(self) except -1
    cdef int32_t _grow(self, int32_t parent, int32_t label, int32_t descendant) except -1
    cdef int _prune(self, int32_t node) except -1
    cdef int _note(self, int32_t node, const TwigBloom *marks) noexcept
    cdef int _leave(self, int32_t number, int32_t index) except -1
    cdef int _list(self, int32_t node) except -1
    cdef int _unlist(self, int32_t node) except -1
    cdef Py_ssize_t _from(self, const IntVector *nodes, int64_t left) noexcept
    cdef int _relabel(self) except -1
