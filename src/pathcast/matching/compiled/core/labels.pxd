cimport cython
from libc.stdint cimport int32_t

from pathcast.vectors cimport IntVector

# The edge of a label: the axis of a transition. A value edge stays at its node and tests the
# string-value.
cdef enum:
    CHILD = 0
    DESCENDANT = 1
    ATTRIBUTE = 2
    DEEP_ATTRIBUTE = 3
    VALUE = 4
    EDGE_BITS = 3
    EDGE_MASK = 7

# Node tests other than names. UNKNOWN_NAME is the code of every document name that no
# subscription tests.
cdef enum:
    UNKNOWN_NAME = 0
    ANY = 1
    NODE = 2
    TEXT = 3
    COMMENT = 4
    INSTRUCTION = 5
    FIRST_NAME = 6

# The kind of a test's key.
cdef enum:
    KIND_KEY = 0
    NAME_KEY = 1
    NAMESPACE_KEY = 2
    TARGET_KEY = 3
    QUALIFIED_NAME_KEY = 4


@cython.final
cdef class Vocabulary:
    cdef readonly dict codes
    cdef readonly list keys
    cdef IntVector kinds
    cdef list encoded  # the keys in UTF-8
    cdef readonly dict value_codes
    cdef readonly list value_tests
    cdef int32_t intern(self, str key) except -1


@cython.final
cdef class LinearPaths:
    cdef readonly Vocabulary vocabulary
    cdef IntVector labels
    cdef IntVector ends
    cdef IntVector hops
    cdef IntVector entries
    cdef int _finish(self, int32_t hop, int32_t entry) except -1
    cdef Py_ssize_t _check_number(self, Py_ssize_t number) except -1
