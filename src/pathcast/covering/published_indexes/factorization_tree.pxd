from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.covering.core.labels cimport LabelTable
from pathcast.covering.core.twigs cimport FlatTwig, HomomorphismTest, TwigBloom
from pathcast.vectors cimport IntMap, IntVector, pack_key


cdef struct FactorNode:  # the fields that a search reads: a single cache line
    int32_t label
    int32_t descendant  # whether the edge above is a descendant edge
    int32_t first_child  # children are in order of creation
    int32_t next_sibling
    int32_t twin  # the next sibling with the same label and edge
    int32_t twig_count  # twigs with a node here
    int32_t branching  # twigs with several children here
    int32_t rule_children  # children whose labels are compared by rule
    TwigBloom in_all  # a subset of the bits that all twigs here have in common
    TwigBloom in_any  # a superset of the bits that any twig here has


cdef struct FactorNodeCold:  # the other fields of a node
    int32_t parent
    int32_t last_child
    int32_t previous_sibling
    int32_t child_count
    int32_t descendant_children  # children on descendant edges
    uint32_t used_by  # the last addition that used the node
    int64_t left  # the region code: all nodes below are within [left, right)
    int64_t right
    int64_t free_from  # [free_from, right) is free
    IntVector twigs  # the twigs with a node here
    IntVector leaves  # those with a leaf here


cdef struct FactoredTwig:
    FlatTwig twig
    TwigBloom bloom
    int32_t *nodes  # the tree node of each twig node
    int32_t *places  # its place in the `twigs` of that node
    int32_t *leaf_places  # its place in the `leaves` of that node, or -1


cdef inline uint64_t child_key(int32_t parent, int32_t label, int32_t descendant) noexcept:
    return pack_key(parent, label * 2 + descendant)


cdef class FactorizationTree:
    cdef readonly LabelTable labels
    cdef HomomorphismTest _homomorphism
    cdef readonly bint regions
    cdef readonly int64_t relabelled  # how often all region codes were assigned again
    cdef FactorNode *nodes
    cdef FactorNodeCold *cold
    cdef int32_t size
    cdef int32_t _room
    cdef IntVector _free_nodes
    cdef IntMap _child_lookup  # (parent, label, edge) -> the first such child
    cdef FactoredTwig *entries
    cdef int32_t entry_count
    cdef int32_t _entry_room
    cdef IntVector _free_entries
    cdef uint32_t _addition  # serial number of the current addition
    cdef IntVector *_label_lists  # label -> its nodes, from left to right
    cdef int32_t _label_list_count

    cdef int32_t _new_node(self) except -1
    cdef int32_t _child_for(self, int32_t parent, int32_t label, int32_t descendant) except -1
    cdef int _delete_node(self, int32_t node) except -1
    cdef int _add_bloom(self, int32_t node, const TwigBloom *bloom) noexcept
    cdef int _detach(self, int32_t id, int32_t index) except -1
    cdef int _insert_into_label_list(self, int32_t node) except -1
    cdef int _remove_from_label_list(self, int32_t node) except -1
    cdef Py_ssize_t _first_from(self, const IntVector *nodes, int64_t left) noexcept
    cdef int _relabel(self) except -1
