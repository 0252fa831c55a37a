from libc.stdint cimport int32_t, int64_t, uint64_t

from pathcast.covering.core.labels cimport LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, FlatTwig
from pathcast.vectors cimport IntMap, IntVector


cdef struct Posting:
    uint64_t signature
    int32_t number


cdef struct Postings:
    Posting *at
    int32_t size
    int32_t room


cdef struct IndexedTwig:
    FlatTwig twig
    uint64_t signature  # of its features
    int32_t count  # of its features
    int32_t *features
    int32_t *places  # where it stands in the list of each
    int32_t key  # its rarest feature when it came
    int32_t place  # and where it stands among those


cdef class FeatureIndex:
    cdef readonly LabelTable labels
    cdef readonly int64_t looked_at
    cdef HomomorphismTest _homomorphism
    cdef IntMap _numbers  # features by their two labels
    cdef int32_t _feature_count
    cdef Postings *_having  # of each feature the twigs that have it
    cdef Postings *_keyed  # of each feature the twigs that have it as the rarest; the last ones have none
    cdef int32_t _feature_room
    cdef IndexedTwig *known
    cdef int32_t size
    cdef int32_t _room
    cdef IntVector _free
    cdef IndexedTwig _query
    cdef IntVector _scratch

    cdef int32_t _feature(self, int32_t above, int32_t label, bint new) except -2
    cdef int _describe(self, IndexedTwig *one, bint new) except -1
    cdef int _post(self, Postings *postings, uint64_t signature, int32_t number) except -1
    cdef int _asked(self, const Postings *postings, bint wide, const unsigned char[::1] wanted, object found) except -1
