"""Twigs as flat arrays, the homomorphism test between two of them, and a linear scan of many.

A twig is passed as three sequences in preorder: its label ids, its parents (-1 for the root), and
whether the edge above each node is a descendant edge. The test is that of
`pathcast.covering.homomorphism`, bottom-up: for every node of the wide twig, a row of bits holds
the nodes of the narrow twig that its subtree maps to. Wildcards are relaxed before twigs come here,
by the wildcard rule of that module.
"""

from cpython cimport array
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import array as _array

from pathcast.covering.core.labels cimport BY_RULE, STAR, LabelTable


cdef int fill(FlatTwig *twig, labels, parents, descendant) except -1:
    """Copy a twig into a new allocation."""
    cdef int32_t size = <int32_t>len(labels), node, parent
    cdef int32_t *room = <int32_t *>malloc(<size_t>size * 5 * sizeof(int32_t))
    if room == NULL:
        raise MemoryError
    twig.size = size
    twig.labels = room
    twig.parents = room + size
    twig.ends = room + 2 * size
    twig.degrees = room + 3 * size
    twig.descendant = room + 4 * size
    for node in range(size):
        twig.labels[node] = labels[node]
        twig.parents[node] = parents[node]
        twig.descendant[node] = descendant[node]
        twig.ends[node] = node + 1
        twig.degrees[node] = 0
    for node in range(size - 1, 0, -1):
        parent = twig.parents[node]
        twig.degrees[parent] += 1
        if twig.ends[node] > twig.ends[parent]:
            twig.ends[parent] = twig.ends[node]
    return 0


cdef void release(FlatTwig *twig) noexcept:
    free(twig.labels)
    twig.labels = NULL
    twig.size = 0


cdef class HomomorphismTest:
    """Tests pairs of twigs for a homomorphism; keeps its scratch memory between tests."""

    def __init__(self, LabelTable labels not None):
        self.labels = labels
        self._rows = NULL

    def __dealloc__(self):
        free(self._rows)

    def covers(self, wide, narrow):
        """Return whether a wide alternative maps to every narrow alternative."""
        cdef FlatTwig wide_twig, narrow_twig
        cdef bint covered
        for labels, parents, descendant in narrow:
            fill(&narrow_twig, labels, parents, descendant)
            covered = False
            try:
                for alternative in wide:
                    fill(&wide_twig, alternative[0], alternative[1], alternative[2])
                    try:
                        covered = self.exists(&wide_twig, &narrow_twig)
                    finally:
                        release(&wide_twig)
                    if covered:
                        break
            finally:
                release(&narrow_twig)
            if not covered:
                return False
        return True

    cdef bint exists(self, const FlatTwig *wide, const FlatTwig *narrow) except -1:
        """Return whether there is a homomorphism from the wide twig to the narrow one."""
        cdef int32_t words = (narrow.size + 63) >> 6, node, word, image, above, label, kind
        cdef const int32_t *kinds
        cdef Py_ssize_t needed = <Py_ssize_t>(wide.size + 1) * words
        cdef uint64_t *images  # of the node's subtree
        cdef uint64_t *parents  # the nodes from which an edge leads to an image
        cdef uint64_t *parent_images
        cdef bint has_image
        if needed > self._room:
            images = <uint64_t *>realloc(self._rows, <size_t>needed * sizeof(uint64_t))
            if images == NULL:
                raise MemoryError
            self._rows = images
            self._room = needed
        memset(self._rows, 255, <size_t>needed * sizeof(uint64_t))
        parents = self._rows + <Py_ssize_t>wide.size * words
        kinds = self.labels.kinds.at
        for node in range(wide.size - 1, 0, -1):
            images = self._rows + <Py_ssize_t>node * words
            label = wide.labels[node]
            kind = kinds[label]
            memset(parents, 0, <size_t>words * sizeof(uint64_t))
            has_image = False
            for image in range(1, narrow.size):
                if narrow.labels[image] != label:
                    if not kind & (STAR | BY_RULE):
                        continue
                    if not self.labels.subsumes(label, narrow.labels[image]):
                        continue
                if not (images[image >> 6] >> (image & 63)) & 1:
                    continue
                above = narrow.parents[image]
                if wide.descendant[node]:
                    while above >= 0 and not (parents[above >> 6] >> (above & 63)) & 1:
                        parents[above >> 6] |= <uint64_t>1 << (above & 63)
                        above = narrow.parents[above]
                elif narrow.descendant[image]:
                    continue
                else:
                    parents[above >> 6] |= <uint64_t>1 << (above & 63)
                has_image = True
            if not has_image:
                return False
            parent_images = self._rows + <Py_ssize_t>wide.parents[node] * words
            for word in range(words):
                parent_images[word] &= parents[word]
        return self._rows[0] & 1


cdef class TwigScan:
    """Twigs by id, searched by testing each of them."""

    def __init__(self, HomomorphismTest homomorphism not None):
        self.homomorphism = homomorphism
        self._free = []

    def __dealloc__(self):
        cdef Py_ssize_t id
        for id in range(self.size):
            release(&self.twigs[id])
        free(self.twigs)
        release(&self._query)

    def __len__(self):
        return self.size - len(self._free)

    def add(self, labels, parents, descendant):
        """Add a twig and return its id."""
        cdef FlatTwig *moved
        cdef Py_ssize_t id
        if self._free:
            id = self._free.pop()
        else:
            if self.size == self._room:
                self._room = self._room * 2 if self._room else 64
                moved = <FlatTwig *>realloc(self.twigs, <size_t>self._room * sizeof(FlatTwig))
                if moved == NULL:
                    raise MemoryError
                self.twigs = moved
            id = self.size
            memset(&self.twigs[id], 0, sizeof(FlatTwig))
            self.size += 1
        fill(&self.twigs[id], labels, parents, descendant)
        return id

    def remove(self, Py_ssize_t id):
        """Remove a twig. Its id is reused. Raises KeyError."""
        if not 0 <= id < self.size or self.twigs[id].labels == NULL:
            raise KeyError(id)
        release(&self.twigs[id])
        self._free.append(id)

    def covered_by(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that a twig maps to, of those flagged if `flags` is given."""
        return self._scan(labels, parents, descendant, flags, True)

    def covering(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that map to a twig, of those flagged if `flags` is given."""
        return self._scan(labels, parents, descendant, flags, False)

    def _scan(self, labels, parents, descendant, flags, bint query_is_wide):
        cdef Py_ssize_t id
        cdef bint matches
        cdef const unsigned char[::1] wanted
        cdef array.array ids = _array.array("i")
        release(&self._query)
        fill(&self._query, labels, parents, descendant)
        if flags is not None:
            wanted = flags
        for id in range(self.size):
            if self.twigs[id].labels == NULL or (flags is not None and not wanted[id]):
                continue
            if query_is_wide:
                matches = self.homomorphism.exists(&self._query, &self.twigs[id])
            else:
                matches = self.homomorphism.exists(&self.twigs[id], &self._query)
            if matches:
                ids.append(id)
        return ids
