"""LabelTable as numbers, and which subsumes which.

Names allow themselves and a wildcard any element: that is decided here. All else (values, places, denials) is a rule in Python, asked
once for each pair and remembered.
"""

from libc.stdint cimport int32_t

from pathcast.vectors cimport find, free_map, free_vector, insert, pack_key, push


cdef class LabelTable:
    """`rule(wide, narrow)` decides for labels that are no names."""

    def __init__(self, rule):
        self._numbers = {}
        self._names = {}
        self.labels = []
        self._rule = rule
        self.star = -1

    def __dealloc__(self):
        free_vector(&self.kinds)
        free_vector(&self.names)
        free_map(&self._known)

    def __len__(self):
        return len(self.labels)

    def number(self, label, int32_t kind, name=None):
        """The number of a label; `kind` says how it is compared.

        `name`, if not None, is something that every label which this one subsumes has as its name, too.
        """
        found = self._numbers.get(label)
        if found is None:
            found = self._numbers[label] = len(self.labels)
            self.labels.append(label)
            push(&self.kinds, kind)
            push(&self.names, -1 if name is None else self._names.setdefault(name, len(self._names)))
            if kind & STAR:
                self.star = found
        return found

    cdef bint _asked(self, int32_t wide, int32_t narrow) except -1:
        cdef int32_t known = find(&self._known, pack_key(wide, narrow))
        if known < 0:
            known = bool(self._rule(self.labels[wide], self.labels[narrow]))
            insert(&self._known, pack_key(wide, narrow), known)
        return known
