"""TwigScan by what they cannot do without: the search that looks at the fewest of them.

A *feature* is a name, two names with a child edge between them, or a value that is pinned down by an equality. If a twig can be laid on another, all its features are
features of the other. So a twig that `s` covers has the rarest feature of `s`: it stands in the list of that one, and in a list for each of its own. And a
twig that covers `s` has its own rarest feature in `s`: it stands in a second list for that one alone. What is in a list is compared by
signature first (a bit for each feature), then asked for a mapping; so the answer is that of asking each, and most are never looked at.

TwigScan without features (wildcards alone, ranges) stand in a list of their own. What a feature's rarity was when a twig came may have
changed since: that costs time, not answers.
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
    """TwigScan by number."""

    def __init__(self, LabelTable labels not None):
        self.labels = labels
        self._homomorphism = HomomorphismTest(labels)
        self._feature(-1, -1, True)  # feature 0: none

    def __dealloc__(self):
        cdef int32_t index
        for index in range(self.size):
            release(&self.known[index].twig)
            free(self.known[index].features)
        free(self.known)
        for index in range(self._feature_count):
            free(self._having[index].at)
            free(self._keyed[index].at)
        free(self._having)
        free(self._keyed)
        release(&self._query.twig)
        free(self._query.features)
        free_map(&self._numbers)
        free_vector(&self._free)

    def __len__(self):
        return self.size - self._free.size

    @property
    def feature_count(self):
        """Different features seen so far."""
        return self._feature_count - 1

    def add(self, labels, parents, descendant):
        """Take a twig in; its number."""
        cdef int32_t number, index, feature, rarest = 0
        cdef IndexedTwig *moved
        cdef IndexedTwig *one
        if self._free.size:
            self._free.size -= 1
            number = self._free.at[self._free.size]
        else:
            if self.size == self._room:
                self._room = self._room * 2 if self._room else 64
                moved = <IndexedTwig *>realloc(self.known, <size_t>self._room * sizeof(IndexedTwig))
                if moved == NULL:
                    raise MemoryError
                self.known = moved
            number = self.size
            memset(&self.known[number], 0, sizeof(IndexedTwig))
            self.size += 1
        one = &self.known[number]
        fill(&one.twig, labels, parents, descendant)
        self._describe(one, True)
        for index in range(one.count):
            feature = one.features[index]
            one.places[index] = self._having[feature].size
            self._post(&self._having[feature], one.signature, number)
            if not rarest or self._having[feature].size < self._having[rarest].size:
                rarest = feature
        one.key = rarest
        one.place = self._keyed[rarest].size
        self._post(&self._keyed[rarest], one.signature, number)
        return number

    def remove(self, int32_t number):
        """Forget a twig; its number may be given again."""
        cdef int32_t index, at
        cdef IndexedTwig *one
        cdef IndexedTwig *moved
        cdef Postings *postings
        if not 0 <= number < self.size or self.known[number].twig.labels == NULL:
            raise KeyError(number)
        one = &self.known[number]
        for index in range(one.count):
            postings = &self._having[one.features[index]]
            postings.size -= 1
            if one.places[index] != postings.size:
                postings.at[one.places[index]] = postings.at[postings.size]
                moved = &self.known[postings.at[postings.size].number]
                at = 0
                while moved.features[at] != one.features[index]:
                    at += 1
                moved.places[at] = one.places[index]
        postings = &self._keyed[one.key]
        postings.size -= 1
        if one.place != postings.size:
            postings.at[one.place] = postings.at[postings.size]
            self.known[postings.at[postings.size].number].place = one.place
        release(&one.twig)
        free(one.features)
        one.features = NULL
        push(&self._free, number)

    cdef int _post(self, Postings *postings, uint64_t signature, int32_t number) except -1:
        cdef Posting *moved
        if postings.size == postings.room:
            postings.room = postings.room * 2 if postings.room else 4
            moved = <Posting *>realloc(postings.at, <size_t>postings.room * sizeof(Posting))
            if moved == NULL:
                raise MemoryError
            postings.at = moved
        postings.at[postings.size].signature = signature
        postings.at[postings.size].number = number
        postings.size += 1
        return 0

    cdef int32_t _feature(self, int32_t above, int32_t label, bint new) except -2:
        """The number of a name (`above` is -1) or of two next to each other; -1 if nobody has it and it is not to be made."""
        cdef int32_t found = find(&self._numbers, pack_key(above + 1, label + 1))
        cdef void *moved
        cdef int32_t room
        if found >= 0 or not new:
            return found
        if self._feature_count == self._feature_room:
            room = self._feature_room * 2 if self._feature_room else 256
            moved = realloc(self._having, <size_t>room * sizeof(Postings))
            if moved == NULL:
                raise MemoryError
            self._having = <Postings *>moved
            moved = realloc(self._keyed, <size_t>room * sizeof(Postings))
            if moved == NULL:
                raise MemoryError
            self._keyed = <Postings *>moved
            self._feature_room = room
        found = self._feature_count
        memset(&self._having[found], 0, sizeof(Postings))
        memset(&self._keyed[found], 0, sizeof(Postings))
        insert(&self._numbers, pack_key(above + 1, label + 1), found)
        self._feature_count += 1
        return found

    cdef int _describe(self, IndexedTwig *one, bint new) except -1:
        """Find a twig's features. One that nobody has is -1, if it is not to be made."""
        cdef const FlatTwig *twig = &one.twig
        cdef int32_t node, name, above, feature, index, step
        cdef bint fresh
        one.count = 0
        one.signature = 0
        one.features = <int32_t *>realloc(one.features, <size_t>twig.size * 4 * sizeof(int32_t))
        if one.features == NULL:
            raise MemoryError
        one.places = one.features + 2 * twig.size
        for node in range(1, twig.size):
            name = self.labels.names.at[twig.labels[node]]
            if name < 0:
                continue
            above = self.labels.names.at[twig.labels[twig.parents[node]]]
            for step in range(1 if twig.descendant[node] or above < 0 else 2):
                feature = self._feature(above if step else -1, name, new)
                fresh = True
                for index in range(one.count):
                    if one.features[index] == feature and feature >= 0:
                        fresh = False
                        break
                if fresh:
                    one.features[one.count] = feature
                    one.count += 1
                    if feature >= 0:
                        one.signature |= <uint64_t>1 << (<uint32_t>feature * <uint32_t>0x9E3779B1 >> 26)
        return 0

    # searching

    def covered_by(self, labels, parents, descendant, flags=None):
        """The numbers of those onto which a twig can be laid; with `flags` (bytes), only those whose byte is set."""
        cdef int32_t index, feature, rarest = -1
        cdef array.array found = _array.array("i")
        cdef const unsigned char[::1] wanted = flags
        self._prepare(labels, parents, descendant)
        for index in range(self._query.count):
            feature = self._query.features[index]
            if feature < 0:
                return found
            if rarest < 0 or self._having[feature].size < self._having[rarest].size:
                rarest = feature
        if rarest >= 0:
            self._asked(&self._having[rarest], True, wanted, found)
        else:  # it has no features: anybody may be covered, and everybody has a key
            for feature in range(self._feature_count):
                self._asked(&self._keyed[feature], True, wanted, found)
        return found

    def covering(self, labels, parents, descendant, flags=None):
        """The numbers of those that can be laid on a twig; with `flags` (bytes), only those whose byte is set."""
        cdef int32_t index
        cdef array.array found = _array.array("i")
        cdef const unsigned char[::1] wanted = flags
        self._prepare(labels, parents, descendant)
        self._asked(&self._keyed[0], False, wanted, found)
        for index in range(self._query.count):
            if self._query.features[index] >= 0:
                self._asked(&self._keyed[self._query.features[index]], False, wanted, found)
        return found

    def may_cover(self, labels, parents, descendant):
        """The numbers of those that have no features which a twig has not: no others can cover it, with a mapping or without."""
        cdef int32_t index, at, feature
        cdef array.array found = _array.array("i")
        cdef const Postings *postings
        self._prepare(labels, parents, descendant)
        for index in range(-1, self._query.count):
            feature = 0 if index < 0 else self._query.features[index]
            if feature < 0:
                continue
            postings = &self._keyed[feature]
            for at in range(postings.size):
                if not postings.at[at].signature & ~self._query.signature:
                    found.append(postings.at[at].number)
        return found

    def _prepare(self, labels, parents, descendant):
        release(&self._query.twig)
        fill(&self._query.twig, labels, parents, descendant)
        self._describe(&self._query, False)

    cdef int _asked(self, const Postings *postings, bint wide, const unsigned char[::1] wanted, object found) except -1:
        """Ask those in a list that have the query's features (`wide`), or no others than the query has."""
        cdef int32_t index, number
        cdef uint64_t mine = self._query.signature, theirs
        cdef bint yes
        self.looked_at += postings.size
        for index in range(postings.size):
            theirs = postings.at[index].signature
            if (mine & ~theirs) if wide else (theirs & ~mine):
                continue
            number = postings.at[index].number
            if wanted is not None and not wanted[number]:
                continue
            if wide:
                yes = self._homomorphism.exists(&self._query.twig, &self.known[number].twig)
            else:
                yes = self._homomorphism.exists(&self.known[number].twig, &self._query.twig)
            if yes:
                found.append(number)
        return 0
