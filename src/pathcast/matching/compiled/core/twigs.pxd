from libc.stdint cimport int32_t, uint64_t

from pathcast.vectors cimport IntVector, has_bit


# The nodes above from which a way down leads to a node of the target. The way up is a row of numbers: so many
# levels, then (where an edge to any depth lies) a leaf whose nodes are the ones to be found above, levels again ...
cdef struct Link:
    int32_t target  # leaf << 1, or joint << 1 | 1
    int32_t way  # where its way starts
    int32_t way_end


cdef enum:
    MORE = -1


cdef struct Joint:
    int32_t links
    int32_t count
    int32_t fork  # the leaf of the state where it is, -1 if that can be reached at one node only


# One way in which an entry may match, with all that most documents ask for. It waits at one of its leaves, and lies beside
# the others that wait there. All its leaves must be hit, and its joint must have a node; which is so if none of its
# forks was reached more than once.
cdef struct Unit:
    int32_t number  # that of its entry if that is all there is to accept, else -1
    int32_t hop
    int32_t entry
    int32_t joint  # or -1
    int32_t second  # leaves besides the one where it waits; `leaf_count` stands for none
    int32_t third  # below -1: -2 minus where the rest of them is listed, their count first
    int32_t fork  # `leaf_count` stands for none
    int32_t other_fork  # or MORE


cdef inline bint complete(const Unit *unit, const uint64_t *hit, const int32_t *rest) noexcept nogil:
    """Whether the other leaves of a unit were hit, too."""
    cdef int32_t index
    if not has_bit(hit, unit.second):
        return False
    if unit.third >= 0:
        return has_bit(hit, unit.third)
    rest -= unit.third + 2
    for index in range(1, rest[0] + 1):
        if not has_bit(hit, rest[index]):
            return False
    return True


cdef class Twigs:
    cdef IntVector leaves  # leaf -> state
    cdef IntVector leaf_starts  # leaf -> the first of the units that wait there
    cdef IntVector rest
    cdef IntVector ways
    cdef Link *links
    cdef Joint *joints
    cdef IntVector joint_links
    cdef Unit *units
    cdef char *general  # unit -> somebody else evaluates the condition
    cdef char *joined  # leaf -> joins may ask for its nodes
    cdef uint64_t *waiting  # a bit for every leaf at which a unit waits
    cdef readonly int32_t unit_count
    cdef readonly int32_t joint_count
    cdef readonly int32_t link_count
    cdef readonly int32_t leaf_count
    cdef int32_t always  # from here on units need no leaf
    cdef IntVector entry_starts
    cdef IntVector entry_numbers
    cdef IntVector entry_hops
    cdef IntVector residual  # entry -> whether a residual is left to check
    cdef readonly list keys  # entry -> the caller's key
    cdef dict _leaves
    cdef dict _links
    cdef dict _joints
    cdef list _link_list
    cdef list _joint_list
    cdef list _unit_list
    cdef list _ways
    cpdef int32_t leaf(self, int32_t state) except -1
    cpdef int32_t link(self, int32_t target, int32_t lower, int32_t upper, tuple way) except -1
    cpdef int32_t joint(self, int32_t state, links, int32_t fork) except -1
    cdef int renumber(self, const int32_t *new) except -1
    cdef int _lay_out(self, int32_t index, tuple known, int32_t waits) except -1
    cdef int _mark_joined(self) except -1
