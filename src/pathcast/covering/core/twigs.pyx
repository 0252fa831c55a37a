"""TwigScan in flat arrays: is there a mapping from one to another, and the plain search that asks each of many.

A twig is given as three sequences in preorder: the numbers of its labels, its parents (-1 for the start), and whether a node hangs descendant
than one level below its parent. A mapping is found from the leaves up: for every node of the wide twig a row of bits says on which nodes of the
narrow one it may lie.
"""

from cpython cimport array
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import array as _array

from pathcast.covering.core.labels cimport RULES, STAR, LabelTable


cdef int fill(FlatTwig *twig, labels, parents, descendant) except -1:
    """Put a twig into room of its own."""
    cdef int32_t size = <int32_t>len(labels), node, end
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
        end = twig.parents[node]
        twig.degrees[end] += 1
        if twig.ends[node] > twig.ends[end]:
            twig.ends[end] = twig.ends[node]
    return 0


cdef void release(FlatTwig *twig) noexcept:
    free(twig.labels)
    twig.labels = NULL
    twig.size = 0


cdef class HomomorphismTest:
    """Looks for mappings; keeps the room that this takes."""

    def __init__(self, LabelTable labels not None):
        self.labels = labels
        self._rows = NULL

    def __dealloc__(self):
        free(self._rows)

    def covers(self, wide, narrow):
        """Whether every one of the narrow alternatives has a wide one that can be laid on it."""
        cdef FlatTwig above, below
        cdef bint found
        for labels, parents, descendant in narrow:
            fill(&below, labels, parents, descendant)
            found = False
            try:
                for other in wide:
                    fill(&above, other[0], other[1], other[2])
                    try:
                        found = self.exists(&above, &below)
                    finally:
                        release(&above)
                    if found:
                        break
            finally:
                release(&below)
            if not found:
                return False
        return True

    cdef bint exists(self, const FlatTwig *wide, const FlatTwig *narrow) except -1:
        """Whether the wide twig can be laid on the narrow one, start on start."""
        cdef int32_t words = (narrow.size + 63) >> 6, node, word, place, above, label, kind
        cdef const int32_t *kinds
        cdef Py_ssize_t wanted = <Py_ssize_t>(wide.size + 1) * words
        cdef uint64_t bits, kept
        cdef uint64_t *row
        cdef uint64_t *up
        cdef uint64_t *over
        cdef bint found
        if wanted > self._room:
            row = <uint64_t *>realloc(self._rows, <size_t>wanted * sizeof(uint64_t))
            if row == NULL:
                raise MemoryError
            self._rows = row
            self._room = wanted
        memset(self._rows, 255, <size_t>wanted * sizeof(uint64_t))
        up = self._rows + <Py_ssize_t>wide.size * words
        kinds = self.labels.kinds.at
        for node in range(wide.size - 1, 0, -1):
            row = self._rows + <Py_ssize_t>node * words
            label = wide.labels[node]
            kind = kinds[label]
            memset(up, 0, <size_t>words * sizeof(uint64_t))
            found = False
            for place in range(1, narrow.size):
                if narrow.labels[place] != label:
                    if not kind & (STAR | RULES):
                        continue
                    if not self.labels.subsumes(label, narrow.labels[place]):
                        continue
                if not (row[place >> 6] >> (place & 63)) & 1:
                    continue
                above = narrow.parents[place]
                if wide.descendant[node]:
                    while above >= 0 and not (up[above >> 6] >> (above & 63)) & 1:
                        up[above >> 6] |= <uint64_t>1 << (above & 63)
                        above = narrow.parents[above]
                elif narrow.descendant[place]:
                    continue
                else:
                    up[above >> 6] |= <uint64_t>1 << (above & 63)
                found = True
            if not found:
                return False
            over = self._rows + <Py_ssize_t>wide.parents[node] * words
            for word in range(words):
                over[word] &= up[word]
        return self._rows[0] & 1


cdef class TwigScan:
    """Many twigs, each by its number, and the search that asks each of them."""

    def __init__(self, HomomorphismTest homomorphism not None):
        self.homomorphism = homomorphism
        self._free = []

    def __dealloc__(self):
        cdef Py_ssize_t number
        for number in range(self.size):
            release(&self.twigs[number])
        free(self.twigs)
        release(&self._query)

    def __len__(self):
        return self.size - len(self._free)

    def add(self, labels, parents, descendant):
        """Take a twig in; its number."""
        cdef FlatTwig *moved
        cdef Py_ssize_t number
        if self._free:
            number = self._free.pop()
        else:
            if self.size == self._room:
                self._room = self._room * 2 if self._room else 64
                moved = <FlatTwig *>realloc(self.twigs, <size_t>self._room * sizeof(FlatTwig))
                if moved == NULL:
                    raise MemoryError
                self.twigs = moved
            number = self.size
            memset(&self.twigs[number], 0, sizeof(FlatTwig))
            self.size += 1
        fill(&self.twigs[number], labels, parents, descendant)
        return number

    def remove(self, Py_ssize_t number):
        """Forget a twig; its number may be given again."""
        if not 0 <= number < self.size or self.twigs[number].labels == NULL:
            raise KeyError(number)
        release(&self.twigs[number])
        self._free.append(number)

    def exists(self, Py_ssize_t wide, Py_ssize_t narrow):
        """Whether one of them can be laid on another."""
        return self.homomorphism.exists(&self.twigs[wide], &self.twigs[narrow])

    def covered_by(self, labels, parents, descendant, flags=None):
        """The numbers of those onto which a twig can be laid; with `flags` (bytes), only those whose byte is set."""
        return self._asked(labels, parents, descendant, flags, True)

    def covering(self, labels, parents, descendant, flags=None):
        """The numbers of those that can be laid on a twig; with `flags` (bytes), only those whose byte is set."""
        return self._asked(labels, parents, descendant, flags, False)

    def _asked(self, labels, parents, descendant, flags, bint wide):
        cdef Py_ssize_t number
        cdef bint found
        cdef const unsigned char[::1] wanted
        cdef array.array numbers = _array.array("i")
        release(&self._query)
        fill(&self._query, labels, parents, descendant)
        if flags is not None:
            wanted = flags
        for number in range(self.size):
            if self.twigs[number].labels == NULL or (flags is not None and not wanted[number]):
                continue
            if wide:
                found = self.homomorphism.exists(&self._query, &self.twigs[number])
            else:
                found = self.homomorphism.exists(&self.twigs[number], &self._query)
            if found:
                numbers.append(number)
        return numbers
