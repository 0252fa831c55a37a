cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.string_functions cimport StringFunctions
from pathcast.matching.compiled.core.strings cimport StringTable
from pathcast.vectors cimport IntMap, IntVector

cdef enum AxisCode:
    CHILD
    ATTRIBUTE
    DESCENDANT
    DESCENDANT_OR_SELF
    PARENT
    FOLLOWING_SIBLING  # from here on sideways, the sibling axes first
    PRECEDING_SIBLING
    FOLLOWING
    PRECEDING
    ANCESTOR
    ANCESTOR_OR_SELF

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
    NO_NAMESPACE = 0  # namespaces are numbered from 1
    ANY_TARGET = -1
    NO_FUNCTIONS = -1


# All nodes that pass a test. `name`: a label for NAME, a namespace for ANY_IN, a target for
# INSTRUCTION.
cdef struct NodeStream:
    int32_t kind
    int32_t name
    bint attribute
    bint document  # the document node passes, too


cdef struct CompiledStep:
    int32_t axis
    int32_t stream
    int32_t start  # of its conditions, in `lists`
    int32_t count
    bint per_context  # positional on a descendant axis: the context node decides the result


cdef struct CompiledPath:
    int32_t start  # of its suffixes, in `lists`
    int32_t count
    bint absolute


# `first` and `second` by kind: EXISTS path; COUNT path; FIRST path, value; VALUE_* operand, its
# chain of string functions (or NO_FUNCTIONS); IS stream; POSITION whether left is
# last(), whether right is last(); AND and OR start and count in `lists`; NOT part; ALWAYS truth.
cdef struct CompiledCondition:
    unsigned char kind
    unsigned char op
    unsigned char positional
    unsigned char context_free  # the same truth at every node
    int32_t first
    int32_t second
    double number


cdef struct ProgramArrays:
    CompiledCondition *conditions
    Py_ssize_t condition_capacity
    CompiledStep *steps
    Py_ssize_t step_capacity
    CompiledPath *paths
    Py_ssize_t path_capacity
    Py_ssize_t path_count
    NodeStream *streams
    Py_ssize_t stream_capacity
    Py_ssize_t stream_count
    IntVector suffixes  # suffix -> its first step
    IntVector lists
    IntVector evaluation_orders  # for deep conditions: step count, then steps, inner ones first
    StringTable condition_digests  # the number of a digest is the number of its condition
    StringTable step_digests
    StringTable namespaces
    StringTable labels  # local names, salted with their namespace
    StringTable targets
    StringTable operands
    IntMap stream_numbers
    IntMap path_numbers
    IntMap suffix_numbers
    IntMap deep_conditions  # condition -> its list in `evaluation_orders`


@cython.final
cdef class ConditionProgram:
    cdef ProgramArrays program
    cdef StringFunctions functions
    cdef int32_t _compile_condition(self, object condition) except -1
    cdef int32_t _list_conditions(self, object conditions) except -1
    cdef int _compile_value(self, object value, CompiledCondition *compiled) except -1
    cdef int32_t _compile_path(self, object path) except -1
    cdef int32_t _suffix(self, int32_t step, int32_t next_suffix) except -1
    cdef int32_t _compile_step(self, object step) except -1
    cdef int32_t _stream(self, object test, bint attribute, bint document) except -1
    cdef int32_t _name(self, object test) except -2
    cdef int _order_steps(self, int32_t number) except -1
