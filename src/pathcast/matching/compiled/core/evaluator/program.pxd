"""Conditions as flat arrays of structs that refer to each other by number; see compiled.pyx."""

cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.strings cimport StringTable
from pathcast.vectors cimport IntMap, IntVector

cdef enum AxisCode:
    CHILD
    ATTRIBUTE
    DESCENDANT
    DESCENDANT_OR_SELF

cdef enum TestCode:
    NAME
    ANY
    ANY_IN
    NODE
    TEXT
    COMMENT
    INSTRUCTION

cdef enum ConditionCode:
    EXISTS
    FIRST
    COUNT
    VALUE_NUMBER
    VALUE_STRING
    VALUE_CONTAINS
    VALUE_STARTS_WITH
    VALUE_LENGTH
    IS
    POSITION
    AND
    OR
    NOT
    ALWAYS

cdef enum:
    NO_NAMESPACE = 0  # the number of no namespace; others count from 1
    ANY_TARGET = -1


# The nodes that pass a test, wherever they are. `name`: a label for NAME, a namespace for ANY_IN, a
# target for INSTRUCTION.
cdef struct NodeStream:
    int32_t kind
    int32_t name
    bint attribute
    bint itself  # the document node is among them


cdef struct CompiledStep:
    int32_t axis
    int32_t stream
    int32_t start  # its conditions, in `lists`
    int32_t count
    bint per_context  # what it selects depends on the node it starts from


cdef struct CompiledPath:
    int32_t start  # its suffixes, in `lists`
    int32_t count
    bint absolute


# What `first` and `second` are: EXISTS path; COUNT path; FIRST path, value; VALUE_* operand;
# IS stream; POSITION left is last(), right is last(); AND and OR start and count in `lists`;
# NOT part; ALWAYS truth.
cdef struct CompiledCondition:
    unsigned char kind
    unsigned char op
    unsigned char positional
    unsigned char context_free  # the same at every node
    int32_t first
    int32_t second
    double number


cdef struct ProgramArrays:
    CompiledCondition *conditions
    Py_ssize_t condition_room
    CompiledStep *steps
    Py_ssize_t step_room
    CompiledPath *paths
    Py_ssize_t path_room
    Py_ssize_t path_count
    NodeStream *streams
    Py_ssize_t stream_room
    Py_ssize_t stream_count
    IntVector suffixes  # the first step of each distinct end of a path
    IntVector lists
    IntVector ordered  # for deep conditions: how many steps, then these, inner ones first
    StringTable condition_digests  # the number of a digest is the number of its condition
    StringTable step_digests
    StringTable spaces
    StringTable labels  # local names, salted with their namespace
    StringTable targets
    StringTable operands
    IntMap stream_numbers
    IntMap path_numbers
    IntMap suffix_numbers
    IntMap deep  # condition -> its place in `ordered`


@cython.final
cdef class ConditionProgram:
    cdef ProgramArrays program
    cdef int32_t _condition(self, object condition) except -1
    cdef int32_t _conditions(self, object conditions) except -1
    cdef int32_t _value(self, object value, CompiledCondition *made) except -1
    cdef int32_t _path(self, object path) except -1
    cdef int32_t _suffix(self, int32_t step, int32_t rest) except -1
    cdef int32_t _step(self, object step) except -1
    cdef int32_t _stream(self, object test, bint attribute, bint itself) except -1
    cdef int32_t _name(self, object test) except -2
    cdef int _order(self, int32_t number) except -1
