cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.labels cimport Vocabulary
from pathcast.vectors cimport IntMap, IntVector

# The rarity of an edge, as a score: documents rarely pass an edge with a high one.
cdef enum:
    EQUALITY_RARITY = 100
    RANGE_RARITY = 50
    NAME_RARITY = 5


@cython.final
cdef class Trie:
    cdef Vocabulary vocabulary
    cdef IntVector parents
    cdef IntVector labels  # of the incoming edges
    cdef IntVector rarities  # the sum of those of the edges that lead to a state
    cdef IntMap _edges  # (state, label) -> state
    cdef int32_t add_edge(self, int32_t state, int32_t label) except -1
    cdef int32_t add_path(self, int32_t state, const int32_t *labels, int32_t count) except -1
    cdef int32_t _rarity(self, int32_t label) except -1
