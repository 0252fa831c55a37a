"""Labels as ids, and subsumption between them.

A name subsumes itself, and a wildcard subsumes every element; both are decided here. For all other
labels (values, positions, negations) a rule in Python decides, once for each pair.
"""

from libc.stdint cimport int32_t

from pathcast.vectors cimport find, free_map, free_vector, insert, pack_key, push


cdef class LabelTable:
    """Interned labels. `rule(wide, narrow)` decides subsumption for labels that are not names."""

    def __init__(self, rule):
        self._ids = {}
        self._feature_ids = {}
        self.labels = []
        self._rule = rule
        self.star = -1

    def __dealloc__(self):
        free_vector(&self.kinds)
        free_vector(&self.features)
        free_map(&self._rule_results)

    def __len__(self):
        return len(self.labels)

    def intern(self, label, int32_t kind, feature=None):
        """Return the id of a label; `kind` says how it is compared.

        `feature`, if not None, is a key that every label has which this one subsumes.
        """
        id = self._ids.get(label)
        if id is None:
            id = self._ids[label] = len(self.labels)
            self.labels.append(label)
            push(&self.kinds, kind)
            if feature is None:
                push(&self.features, -1)
            else:
                push(
                    &self.features,
                    self._feature_ids.setdefault(feature, len(self._feature_ids)),
                )
            if kind & STAR:
                self.star = id
        return id

    cdef bint _subsumes_by_rule(self, int32_t wide, int32_t narrow) except -1:
        cdef int32_t result = find(&self._rule_results, pack_key(wide, narrow))
        if result < 0:
            result = bool(self._rule(self.labels[wide], self.labels[narrow]))
            insert(&self._rule_results, pack_key(wide, narrow), result)
        return result
