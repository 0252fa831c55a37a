from libc.stdint cimport int32_t

from pathcast.vectors cimport IntVector

# What a transition does. A value edge stays at its node and asks for its string-value.
cdef enum:
    CHILD = 0
    DESCENDANT = 1
    ATTRIBUTE = 2
    DEEP_ATTRIBUTE = 3
    VALUE = 4
    EDGE_BITS = 3
    EDGE_MASK = 7

# Node tests that are no names. OTHER is what a document's name is if no subscription asks for it.
cdef enum:
    OTHER = 0
    ANY = 1
    NODE = 2
    TEXT = 3
    COMMENT = 4
    INSTRUCTION = 5
    FIRST_NAME = 6

# What the key of a test stands for.
cdef enum:
    A_KIND = 0
    A_NAME = 1
    A_SPACE = 2
    A_TARGET = 3
    A_NAME_IN_SPACE = 4


cdef class Vocabulary:
    cdef readonly dict codes
    cdef readonly list keys
    cdef IntVector kinds
    cdef list encoded  # the keys in UTF-8
    cdef readonly dict value_codes
    cdef readonly list value_tests
    cdef int32_t intern(self, str key) except -1


cdef class Paths:
    cdef readonly Vocabulary vocabulary
    cdef IntVector labels
    cdef IntVector ends
    cdef IntVector hops
    cdef IntVector entries
    cdef int _close(self, int32_t hop, int32_t entry) except -1
    cdef Py_ssize_t _checked(self, Py_ssize_t number) except -1
