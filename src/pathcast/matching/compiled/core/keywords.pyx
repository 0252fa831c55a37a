"""Keyword search: all `contains` and `starts-with` tests on a text in one pass over its bytes.

The index is the automaton of Aho and Corasick (1975): a trie of the keywords in UTF-8. The failure
link of a node leads to its longest proper suffix that is a node. The search follows it where the
trie has no edge for the next byte, so it never goes back in the text. The output link of a node
leads to its longest suffix that is a keyword.

A prefix test holds if the walk from the root along the start of the text, without failure links,
reaches its node. So both kinds of tests share one trie.

The cost of a search is the size of the text plus the number of distinct keywords in it, for any
number of keywords. The index is immutable after `__init__`.

>>> index = KeywordIndex(
...     [("contains", "", "rain"), ("contains", "", "in"), ("starts-with", "", "ra")], [4, 12, 20]
... )
>>> index.found_in("rain"), index.found_in("a train"), index.found_in("sun")
([0, 1, 2], [0, 1], [])
"""

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pathcast.vectors cimport (
    IntVector,
    find,
    free_map,
    free_vector,
    insert,
    map_bytes,
    pack_key,
    push,
)

cdef enum:
    _ROOT = 0


cdef class KeywordIndex:
    """The keywords of the value tests of one NFA, numbered from 0."""

    def __init__(self, list tests, list labels):
        """Index the tests, each (kind, op, operand), that are of a keyword kind.

        Their edges have the given labels; no keyword is empty.
        """
        cdef int32_t node
        self._numbers = {}
        memset(self._root, 0, sizeof(self._root))
        self._add_node(_ROOT, 0, 0)
        for (kind, _, operand), label in zip(tests, labels, strict=True):
            if kind == "contains" or kind == "starts-with":
                node = self._add(operand.encode())
                if kind == "contains":
                    self._substrings.at[node] = self.count
                    self._has_substrings = True
                else:
                    self._prefixes.at[node] = self.count
                self._numbers[kind, operand] = self.count
                push(&self.labels, label)
                self.count += 1
        self._link()

    def __dealloc__(self):
        free_vector(&self.labels)
        free_map(&self._edges)
        free_vector(&self._failures)
        free_vector(&self._outputs)
        free_vector(&self._substrings)
        free_vector(&self._prefixes)

    def number(self, str kind, str operand):
        """Return the number of a keyword."""
        return self._numbers[kind, operand]

    def found_in(self, str text not None):
        """Return the keywords whose tests hold for a text, ascending; for tests."""
        cdef bytes encoded = text.encode()
        cdef IntVector matches = IntVector(NULL, 0, 0)
        cdef uint32_t *stamps = <uint32_t *>calloc(<size_t>self.count + 1, sizeof(uint32_t))
        if stamps == NULL:
            raise MemoryError
        try:
            self.search(encoded, len(encoded), stamps, 1, &matches)
            return sorted([matches.at[index] for index in range(matches.size)])
        finally:
            free(stamps)
            free_vector(&matches)

    # construction

    cdef int32_t _add_node(self, int32_t parent, unsigned char byte, int32_t depth) except -1:
        push(&self._parents, parent)
        push(&self._bytes, byte)
        push(&self._depths, depth)
        push(&self._failures, _ROOT)
        push(&self._outputs, _ROOT)
        push(&self._substrings, -1)
        push(&self._prefixes, -1)
        return <int32_t>self._parents.size - 1

    cdef int32_t _add(self, bytes keyword) except -1:
        """Add the nodes of a keyword to the trie; return the last one."""
        cdef int32_t node = _ROOT, child, depth = 0
        cdef unsigned char byte
        for byte in keyword:
            depth += 1
            child = self._child(node, byte)
            if child == _ROOT:
                child = self._add_node(node, byte, depth)
                if node == _ROOT:
                    self._root[byte] = child
                else:
                    insert(&self._edges, pack_key(node, byte), child)
            node = child
        return node

    cdef int _link(self) except -1:
        """Set the failure and output links, those of shorter strings first."""
        cdef IntVector starts = IntVector(NULL, 0, 0), order = IntVector(NULL, 0, 0)
        cdef int32_t node, failure, longest = 0
        cdef Py_ssize_t at, size = self._parents.size
        try:
            for node in range(1, <int32_t>size):
                longest = max(longest, self._depths.at[node])
            for _ in range(longest + 2):
                push(&starts, 0)
            for node in range(<int32_t>size):
                push(&order, 0)
                starts.at[self._depths.at[node] + 1] += 1
            for at in range(1, starts.size):
                starts.at[at] += starts.at[at - 1]
            for node in range(<int32_t>size):  # counting sort by depth
                order.at[starts.at[self._depths.at[node]]] = node
                starts.at[self._depths.at[node]] += 1
            for at in range(1, size):
                node = order.at[at]
                if self._depths.at[node] > 1:
                    failure = self._failures.at[self._parents.at[node]]
                    self._failures.at[node] = self._step(
                        failure, <unsigned char>self._bytes.at[node]
                    )
                self._outputs.at[node] = (
                    node
                    if self._substrings.at[node] >= 0
                    else self._outputs.at[self._failures.at[node]]
                )
        finally:
            free_vector(&starts)
            free_vector(&order)
        free_vector(&self._parents)
        free_vector(&self._bytes)
        free_vector(&self._depths)
        return 0

    cdef int32_t _child(self, int32_t node, unsigned char byte) noexcept nogil:
        """Return the child of a node, `_ROOT` if there is none."""
        cdef int32_t child
        if node == _ROOT:
            return self._root[byte]
        child = find(&self._edges, pack_key(node, byte))
        return child if child >= 0 else _ROOT

    cdef int32_t _step(self, int32_t node, unsigned char byte) noexcept nogil:
        """Return the longest suffix of a node's string and a byte that is a node."""
        cdef int32_t child = self._child(node, byte)
        while child == _ROOT and node != _ROOT:
            node = self._failures.at[node]
            child = self._child(node, byte)
        return child

    # search

    cdef int search(
        self,
        const char *text,
        Py_ssize_t size,
        uint32_t *stamps,
        uint32_t stamp,
        IntVector *matches,
    ) except -1 nogil:
        """Append the keywords whose tests hold for a text to `matches`, each once.

        `stamps` has a number per keyword; the search sets it to `stamp` for those it appends.
        """
        cdef const unsigned char *bytes = <const unsigned char *>text
        cdef Py_ssize_t at = 0
        cdef int32_t node = _ROOT, output, keyword
        while at < size:  # prefixes, and the substrings of the same nodes
            node = self._child(node, bytes[at])
            if node == _ROOT:
                break
            at += 1
            keyword = self._prefixes.at[node]
            if keyword >= 0:
                push(matches, keyword)
        if not self._has_substrings:
            return 0
        node = _ROOT
        at = 0
        while at < size:
            node = self._step(node, bytes[at])
            at += 1
            if node == _ROOT:
                while at < size and self._root[bytes[at]] == _ROOT:
                    at += 1
                continue
            output = self._outputs.at[node]
            while output != _ROOT:
                keyword = self._substrings.at[output]
                if stamps[keyword] == stamp:
                    break  # its suffixes were added with it
                stamps[keyword] = stamp
                push(matches, keyword)
                output = self._outputs.at[self._failures.at[output]]
        return 0

    @property
    def memory(self):
        """The memory of the index, in bytes."""
        return (
            map_bytes(&self._edges)
            + 4 * self.labels.capacity
            + 4 * (self._failures.capacity + self._outputs.capacity)
            + 4 * (self._substrings.capacity + self._prefixes.capacity)
            + 100 * len(self._numbers)
        )
