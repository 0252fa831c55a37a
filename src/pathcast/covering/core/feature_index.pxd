from libc.stdint cimport int32_t, int64_t, uint64_t

from pathcast.covering.core.labels cimport LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, FlatTwig
from pathcast.vectors cimport IntMap, IntVector


cdef struct Posting:
    uint64_t signature
    int32_t id


cdef struct Postings:
    Posting *at
    int32_t size
    int32_t room


cdef struct IndexedTwig:
    FlatTwig twig
    uint64_t signature  # a bit for each feature
    int32_t count  # of its features
    int32_t *features
    int32_t *places  # its place in the postings of each feature
    int32_t key  # its rarest feature when it was added, or 0
    int32_t key_place  # its place in the postings of that key


cdef class FeatureIndex:
    cdef readonly LabelTable labels
    cdef readonly int64_t looked_at  # postings read so far
    cdef HomomorphismTest _homomorphism
    cdef IntMap _feature_ids  # a name, or two packed names -> feature
    cdef int32_t _feature_count
    cdef Postings *_by_feature  # feature -> the twigs that have it
    cdef Postings *_by_key  # feature -> the twigs whose rarest it is; 0: twigs without features
    cdef int32_t _feature_room
    cdef IndexedTwig *twigs
    cdef int32_t size
    cdef int32_t _room
    cdef IntVector _free
    cdef IndexedTwig _query

    cdef int32_t _feature_id(self, int32_t above, int32_t label, bint create) except -2
    cdef int _extract_features(self, IndexedTwig *entry, bint create) except -1
    cdef int _append(self, Postings *postings, uint64_t signature, int32_t id) except -1
    cdef int _test(
        self,
        const Postings *postings,
        bint query_is_wide,
        const unsigned char[::1] wanted,
        object ids,
    ) except -1
