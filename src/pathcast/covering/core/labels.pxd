from libc.stdint cimport int32_t

from pathcast.vectors cimport IntMap, IntVector


cdef enum:  # bits of a label's kind
    ELEMENT = 1  # an element
    STAR = 2  # any element: subsumes every label with ELEMENT
    BY_RULE = 4  # subsumes other labels by the rule in Python


cdef class LabelTable:
    cdef dict _ids
    cdef dict _feature_ids
    cdef readonly list labels  # by id
    cdef object _rule
    cdef IntVector kinds  # label id -> bits
    cdef IntVector features  # label id -> id of the feature that it requires, or -1
    cdef IntMap _rule_results  # (wide id, narrow id) -> 0 or 1
    cdef int32_t star  # the id of the wildcard, or -1

    cdef inline bint subsumes(self, int32_t wide, int32_t narrow) except -1:
        """Return whether every node that satisfies the narrow label satisfies the wide one."""
        cdef int32_t kind
        if wide == narrow:
            return True
        kind = self.kinds.at[wide]
        if kind & STAR:
            return self.kinds.at[narrow] & ELEMENT
        if kind & BY_RULE:
            return self._subsumes_by_rule(wide, narrow)
        return False

    cdef bint _subsumes_by_rule(self, int32_t wide, int32_t narrow) except -1
