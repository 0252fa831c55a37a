"""The trie of label paths from which an NFA is built; state 0 is the document node."""

from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.labels cimport (
    EDGE_BITS,
    EDGE_MASK,
    NAME_KEY,
    QUALIFIED_NAME_KEY,
    VALUE,
    Vocabulary,
)
from pathcast.vectors cimport find, free_map, free_vector, insert, pack_key, push


cdef class Trie:
    """States with one incoming edge each; paths with a common prefix share its states."""

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary
        push(&self.parents, -1)
        push(&self.labels, -1)
        push(&self.rarities, 0)

    def __dealloc__(self):
        free_vector(&self.parents)
        free_vector(&self.labels)
        free_vector(&self.rarities)
        free_map(&self._edges)

    def __len__(self):
        return self.parents.size

    cdef int32_t add_edge(self, int32_t state, int32_t label) except -1:
        """Return the target of an edge; create the edge if it is new."""
        cdef int32_t target = find(&self._edges, pack_key(state, label))
        if target < 0:
            target = <int32_t>self.parents.size
            push(&self.rarities, self.rarities.at[state] + self._rarity(label))
            push(&self.parents, state)
            push(&self.labels, label)
            insert(&self._edges, pack_key(state, label), target)
        return target

    cdef int32_t add_path(self, int32_t state, const int32_t *labels, int32_t count) except -1:
        """Return the state at the end of a path of labels; create what is new."""
        cdef int32_t index
        for index in range(count):
            state = self.add_edge(state, labels[index])
        return state

    cdef int32_t _rarity(self, int32_t label) except -1:
        """Estimate how rare an edge is: equalities first, then other value tests, then names."""
        cdef int32_t kind
        if label & EDGE_MASK == VALUE:
            value_kind, op, _ = self.vocabulary.value_tests[label >> EDGE_BITS]
            if value_kind == "functions":
                return 0  # every node passes it
            return EQUALITY_RARITY if op == "=" else RANGE_RARITY
        kind = self.vocabulary.kinds.at[label >> EDGE_BITS]
        return NAME_RARITY if kind == NAME_KEY or kind == QUALIFIED_NAME_KEY else 1
