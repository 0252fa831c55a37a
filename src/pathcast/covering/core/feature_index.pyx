"""Feature index: twigs by the features that covering requires. The production index.

A *feature* of a twig is a name, a pair of names pack_key by a child edge, or the constant of an
equality. If a twig maps to another, the other has all its features. So a twig that `s` covers is in
the postings of the rarest feature of `s`; the index keeps postings of every feature. A twig that
covers `s` has its own rarest feature in common with `s`; the index keeps a second kind of postings,
by that feature alone. The candidates in a posting list are compared by signature (a bit for each
feature) and then by the homomorphism test, so the result equals that of a linear scan.

Twigs without features (wildcards only, ranges) have a posting list of their own. The rarest feature
is chosen when a twig is added; if frequencies change later, searches get slower, not wrong.
"""

from cpython cimport array
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import array as _array

from pathcast.covering.core.labels cimport LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, FlatTwig, fill, release
from pathcast.vectors cimport IntMap, IntVector, find, free_map, free_vector, insert, pack_key, push


cdef class FeatureIndex:
    """Twigs by id, with posting lists by feature."""

    def __init__(self, LabelTable labels not None):
        self.labels = labels
        self._homomorphism = HomomorphismTest(labels)
        self._feature_id(-1, -1, True)  # feature 0 stands for "no feature"

    def __dealloc__(self):
        cdef int32_t index
        for index in range(self.size):
            release(&self.twigs[index].twig)
            free(self.twigs[index].features)
        free(self.twigs)
        for index in range(self._feature_count):
            free(self._by_feature[index].at)
            free(self._by_key[index].at)
        free(self._by_feature)
        free(self._by_key)
        release(&self._query.twig)
        free(self._query.features)
        free_map(&self._feature_ids)
        free_vector(&self._free)

    def __len__(self):
        return self.size - self._free.size

    @property
    def feature_count(self):
        """The number of distinct features seen so far."""
        return self._feature_count - 1

    def add(self, labels, parents, descendant):
        """Add a twig and return its id."""
        cdef int32_t id, index, feature, rarest = 0
        cdef IndexedTwig *moved
        cdef IndexedTwig *entry
        if self._free.size:
            self._free.size -= 1
            id = self._free.at[self._free.size]
        else:
            if self.size == self._room:
                self._room = self._room * 2 if self._room else 64
                moved = <IndexedTwig *>realloc(self.twigs, <size_t>self._room * sizeof(IndexedTwig))
                if moved == NULL:
                    raise MemoryError
                self.twigs = moved
            id = self.size
            memset(&self.twigs[id], 0, sizeof(IndexedTwig))
            self.size += 1
        entry = &self.twigs[id]
        fill(&entry.twig, labels, parents, descendant)
        self._extract_features(entry, True)
        for index in range(entry.count):
            feature = entry.features[index]
            entry.places[index] = self._by_feature[feature].size
            self._append(&self._by_feature[feature], entry.signature, id)
            if not rarest or self._by_feature[feature].size < self._by_feature[rarest].size:
                rarest = feature
        entry.key = rarest
        entry.key_place = self._by_key[rarest].size
        self._append(&self._by_key[rarest], entry.signature, id)
        return id

    def remove(self, int32_t id):
        """Remove a twig. Its id is reused. Raises KeyError."""
        cdef int32_t index, at
        cdef IndexedTwig *entry
        cdef IndexedTwig *moved
        cdef Postings *postings
        if not 0 <= id < self.size or self.twigs[id].twig.labels == NULL:
            raise KeyError(id)
        entry = &self.twigs[id]
        for index in range(entry.count):
            postings = &self._by_feature[entry.features[index]]
            postings.size -= 1
            if entry.places[index] != postings.size:
                postings.at[entry.places[index]] = postings.at[postings.size]
                moved = &self.twigs[postings.at[postings.size].id]
                at = 0
                while moved.features[at] != entry.features[index]:
                    at += 1
                moved.places[at] = entry.places[index]
        postings = &self._by_key[entry.key]
        postings.size -= 1
        if entry.key_place != postings.size:
            postings.at[entry.key_place] = postings.at[postings.size]
            self.twigs[postings.at[postings.size].id].key_place = entry.key_place
        release(&entry.twig)
        free(entry.features)
        entry.features = NULL
        push(&self._free, id)

    cdef int _append(self, Postings *postings, uint64_t signature, int32_t id) except -1:
        cdef Posting *moved
        if postings.size == postings.room:
            postings.room = postings.room * 2 if postings.room else 4
            moved = <Posting *>realloc(postings.at, <size_t>postings.room * sizeof(Posting))
            if moved == NULL:
                raise MemoryError
            postings.at = moved
        postings.at[postings.size].signature = signature
        postings.at[postings.size].id = id
        postings.size += 1
        return 0

    cdef int32_t _feature_id(self, int32_t above, int32_t label, bint create) except -2:
        """Return the id of a name (`above` is -1) or of a pair; -1 if unknown and not created."""
        cdef uint64_t key = pack_key(above + 1, label + 1)
        cdef int32_t id = find(&self._feature_ids, key)
        cdef void *moved
        cdef int32_t room
        if id >= 0 or not create:
            return id
        if self._feature_count == self._feature_room:
            room = self._feature_room * 2 if self._feature_room else 256
            moved = realloc(self._by_feature, <size_t>room * sizeof(Postings))
            if moved == NULL:
                raise MemoryError
            self._by_feature = <Postings *>moved
            moved = realloc(self._by_key, <size_t>room * sizeof(Postings))
            if moved == NULL:
                raise MemoryError
            self._by_key = <Postings *>moved
            self._feature_room = room
        id = self._feature_count
        memset(&self._by_feature[id], 0, sizeof(Postings))
        memset(&self._by_key[id], 0, sizeof(Postings))
        insert(&self._feature_ids, key, id)
        self._feature_count += 1
        return id

    cdef int _extract_features(self, IndexedTwig *entry, bint create) except -1:
        """Fill in a twig's features. Unless `create`, an unknown feature is -1."""
        cdef const FlatTwig *twig = &entry.twig
        cdef int32_t node, name, above, feature, index, step
        cdef bint is_new
        entry.count = 0
        entry.signature = 0
        entry.features = <int32_t *>realloc(
            entry.features, <size_t>twig.size * 4 * sizeof(int32_t)
        )
        if entry.features == NULL:
            raise MemoryError
        entry.places = entry.features + 2 * twig.size
        for node in range(1, twig.size):
            name = self.labels.features.at[twig.labels[node]]
            if name < 0:
                continue
            above = self.labels.features.at[twig.labels[twig.parents[node]]]
            for step in range(1 if twig.descendant[node] or above < 0 else 2):
                feature = self._feature_id(above if step else -1, name, create)
                is_new = True
                for index in range(entry.count):
                    if entry.features[index] == feature and feature >= 0:
                        is_new = False
                        break
                if is_new:
                    entry.features[entry.count] = feature
                    entry.count += 1
                    if feature >= 0:
                        entry.signature |= (
                            <uint64_t>1 << (<uint32_t>feature * <uint32_t>0x9E3779B1 >> 26)
                        )
        return 0

    # searching

    def covered_by(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that a twig maps to, of those flagged if `flags` is given."""
        cdef int32_t index, feature, rarest = -1
        cdef array.array ids = _array.array("i")
        cdef const unsigned char[::1] wanted = flags
        self._prepare(labels, parents, descendant)
        for index in range(self._query.count):
            feature = self._query.features[index]
            if feature < 0:
                return ids
            if rarest < 0 or self._by_feature[feature].size < self._by_feature[rarest].size:
                rarest = feature
        if rarest >= 0:
            self._test(&self._by_feature[rarest], True, wanted, ids)
        else:  # without features, every twig is a candidate; each is in one list by key
            for feature in range(self._feature_count):
                self._test(&self._by_key[feature], True, wanted, ids)
        return ids

    def covering(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that map to a twig, of those flagged if `flags` is given."""
        cdef int32_t index
        cdef array.array ids = _array.array("i")
        cdef const unsigned char[::1] wanted = flags
        self._prepare(labels, parents, descendant)
        self._test(&self._by_key[0], False, wanted, ids)
        for index in range(self._query.count):
            if self._query.features[index] >= 0:
                self._test(&self._by_key[self._query.features[index]], False, wanted, ids)
        return ids

    def may_cover(self, labels, parents, descendant):
        """Return the ids of the twigs whose signature is within the query's.

        No other twig covers the query, with or without a homomorphism.
        """
        cdef int32_t index, at, feature
        cdef array.array ids = _array.array("i")
        cdef const Postings *postings
        self._prepare(labels, parents, descendant)
        for index in range(-1, self._query.count):
            feature = 0 if index < 0 else self._query.features[index]
            if feature < 0:
                continue
            postings = &self._by_key[feature]
            for at in range(postings.size):
                if not postings.at[at].signature & ~self._query.signature:
                    ids.append(postings.at[at].id)
        return ids

    def _prepare(self, labels, parents, descendant):
        release(&self._query.twig)
        fill(&self._query.twig, labels, parents, descendant)
        self._extract_features(&self._query, False)

    cdef int _test(
        self,
        const Postings *postings,
        bint query_is_wide,
        const unsigned char[::1] wanted,
        object ids,
    ) except -1:
        """Test the candidates of a posting list, by signature first; append the ids that pass."""
        cdef int32_t index, id
        cdef uint64_t query = self._query.signature, candidate
        cdef bint passes
        self.looked_at += postings.size
        for index in range(postings.size):
            candidate = postings.at[index].signature
            if (query & ~candidate) if query_is_wide else (candidate & ~query):
                continue
            id = postings.at[index].id
            if wanted is not None and not wanted[id]:
                continue
            if query_is_wide:
                passes = self._homomorphism.exists(&self._query.twig, &self.twigs[id].twig)
            else:
                passes = self._homomorphism.exists(&self.twigs[id].twig, &self._query.twig)
            if passes:
                ids.append(id)
        return 0
