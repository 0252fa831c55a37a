from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.core.vectors cimport Ints


# The nodes above from which a way down leads to a node of the target. The way up is a row of numbers: so many
# levels, then (where an edge to any depth lies) a leaf whose nodes are the ones to be found above, levels again ...
cdef struct Link:
    int32_t target  # leaf << 1, or joint << 1 | 1
    int32_t way  # where its way starts
    int32_t way_end


cdef struct Joint:
    int32_t links
    int32_t count
    int32_t leaf  # that of the state where it is, if all its links are short ways to leaves, else -1


# One way in which an entry may match.
cdef struct Unit:
    int32_t entry
    int32_t needs  # how many leaves must be hit
    int32_t leaves  # where they are listed
    int32_t joint  # that must have a node, or -1
    int32_t general  # somebody else evaluates the condition


cdef class Twigs:
    cdef Ints leaves  # leaf -> state
    cdef Ints leaf_starts
    cdef Ints leaf_units
    cdef Ints unit_leaves
    cdef Ints ways
    cdef Link *links
    cdef Joint *joints
    cdef Ints joint_links
    cdef Unit *units
    cdef readonly int32_t unit_count
    cdef readonly int32_t joint_count
    cdef readonly int32_t link_count
    cdef readonly int32_t leaf_count
    cdef Ints always  # units that need no leaf
    cdef Ints entry_starts
    cdef Ints entry_numbers
    cdef Ints entry_hops
    cdef Ints residual  # entry -> whether a residual is left to check
    cdef readonly list keys  # entry -> the caller's key
    cdef dict _leaves
    cdef dict _links
    cdef dict _joints
    cdef list _link_list
    cdef list _joint_list
    cdef list _unit_list
    cdef list _unit_leaves
    cdef list _ways
    cpdef int32_t leaf(self, int32_t state) except -1
    cpdef int32_t link(self, int32_t target, int32_t lower, int32_t upper, tuple way) except -1
    cpdef int32_t joint(self, int32_t state, links, int32_t leaf) except -1
    cdef int renumber(self, const int32_t *new) except -1
