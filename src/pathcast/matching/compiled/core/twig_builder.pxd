cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.trie cimport Trie
from pathcast.matching.compiled.core.twigs cimport TwigIndex


@cython.final
cdef class TwigBuilder:
    cdef Trie trie
    cdef TwigIndex twigs
    cdef int add_paths(self, int32_t entry, paths, bint needs_evaluation) except -1
    cdef int add_twig(self, int32_t entry, branches) except -1
    cdef list _rarest_first(self, targets)
    cdef int32_t _rarity(self, int32_t state, int32_t guard) except -1
    cdef tuple _add_end(self, int32_t state, labels)
    cdef list _draft_below(self, int32_t upper, labels, branches, dict targets)
    cdef list _draft_edge(self, list draft, int32_t upper)
    cdef list _required_part(self, list draft)
    cdef bint _reached_once(self, int32_t state) except -1
    cdef tuple _store(self, list draft, bint is_root, list branch_points)
