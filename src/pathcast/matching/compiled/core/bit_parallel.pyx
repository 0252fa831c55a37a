"""Bit-parallel matching of a few recent paths: every step of every path is a bit.

Recent subscriptions are matched here until there are enough of them for an automaton. Building one
and refilling its memo costs more than simulating a hundred paths, some ten per machine word.
Nothing is cached between documents.

A bit is set while an element matches the path up to that step. The bits of an element follow from
those of its parent (child steps) and of all its ancestors (descendant steps): shifted by one step
and masked by the steps whose test the element's name passes (Shift-And).

If the main NFA knows all names of these paths, its name table and its symbols serve here, too.

>>> from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
>>> paths = LinearPaths(Vocabulary())
>>> paths.read("/a//b"), paths.read("//c/*/d"), paths.read("/a/@x")
(True, True, True)
>>> [is_bit_parallel(paths, number) for number in range(3)]
[True, True, False]
>>> BitParallelPaths(paths, [0, 1]).words
1
"""

from cpython cimport array
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pathcast.matching.compiled.core.labels cimport (
    ANY,
    ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    NAMESPACE_KEY,
    TARGET_KEY,
    LinearPaths,
)
from pathcast.matching.compiled.core.names cimport NameCache, NameTable
from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.node_table cimport NodeRow, NodeTable
from pathcast.vectors cimport (
    IntVector,
    find,
    free_map,
    free_vector,
    insert,
    pack_key,
    push,
    reserve,
)

# The rows of `masks`.
cdef enum:
    _CHILD_STEPS = 0  # first steps excepted
    _DESCENDANT_STEPS = 1  # first steps excepted
    _FIRST_STEPS = 2  # all first steps: the document element may match them
    _FIRST_DESCENDANT_STEPS = 3  # deeper elements may match them, too
    _LAST_STEPS = 4
    _MASK_ROWS = 5

cdef enum:
    _WORD_BITS = 64

# Rows that do not overlap, so that the compiler can vectorise.
cdef extern from *:
    """
    typedef const uint64_t *__restrict__ pathcast_input_row;
    typedef uint64_t *__restrict__ pathcast_output_row;
    """
    ctypedef const uint64_t *InputRow "pathcast_input_row"
    ctypedef uint64_t *OutputRow "pathcast_output_row"


def is_bit_parallel(LinearPaths paths not None, Py_ssize_t number):
    """Return whether a path has element steps only and fits a machine word."""
    cdef Py_ssize_t at = paths.ends.at[paths._check_number(number) - 1] if number else 0
    cdef Py_ssize_t end = paths.ends.at[number]
    cdef int32_t test
    if not 0 < end - at <= _WORD_BITS:
        return False
    while at < end:
        test = paths.labels.at[at] >> EDGE_BITS
        if paths.labels.at[at] & EDGE_MASK >= ATTRIBUTE or ANY < test < FIRST_NAME:
            return False
        if paths.vocabulary.kinds.at[test] == TARGET_KEY:
            return False
        at += 1
    return True


cdef class BitParallelPaths:
    """The bit masks of some paths; immutable."""

    def __cinit__(self):
        self.masks = self.passes = NULL

    def __init__(self, LinearPaths paths not None, numbers, CompiledNfa main_nfa=None):
        """Build the masks of the paths of `numbers`; all must be bit-parallel.

        `main_nfa` is the NFA that traverses each document first.
        """
        cdef int32_t[::1] chosen = (
            numbers if isinstance(numbers, array.array) else array.array("i", numbers)
        )
        cdef Py_ssize_t count = chosen.shape[0]
        cdef IntVector starts = IntVector(NULL, 0, 0)
        self.largest_number = self.largest_hop = -1
        push(&self.row_codes, ANY)
        try:
            if count:
                self._assign_bits(paths, &chosen[0], count, &starts)
            self._choose_names(paths, main_nfa)
            if count:
                self._set_masks(paths, &chosen[0], count, &starts)
        finally:
            free_vector(&starts)

    def __dealloc__(self):
        free(self.masks)
        free(self.passes)
        free_map(&self.rows)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_vector(&self.row_codes)

    cdef int _assign_bits(
        self, LinearPaths paths, const int32_t *numbers, Py_ssize_t count, IntVector *starts
    ) except -1:
        """Assign bits to the paths, none across two words, and a row to each name and namespace."""
        cdef Py_ssize_t index
        cdef int32_t number, at, end, test, bit = 0
        for index in range(count):
            number = numbers[index]
            at = paths.ends.at[paths._check_number(number) - 1] if number else 0
            end = paths.ends.at[number]
            if bit % _WORD_BITS + end - at > _WORD_BITS:
                bit += _WORD_BITS - bit % _WORD_BITS
            push(starts, bit)
            bit += end - at
            while at < end:
                test = paths.labels.at[at] >> EDGE_BITS
                if test >= FIRST_NAME and find(&self.rows, pack_key(test, 0)) < 0:
                    insert(&self.rows, pack_key(test, 0), <int32_t>self.row_codes.size)
                    push(&self.row_codes, test)
                    if paths.vocabulary.kinds.at[test] == NAMESPACE_KEY:
                        self.tests_namespaces = True
                at += 1
        self.words = (bit + _WORD_BITS - 1) // _WORD_BITS
        return 0

    cdef int _choose_names(self, LinearPaths paths, CompiledNfa main_nfa) except -1:
        """Use the name table of the main NFA if it has all names, else build one."""
        cdef Py_ssize_t index
        cdef bint shared = main_nfa is not None
        for index in range(1, self.row_codes.size):
            shared = shared and main_nfa.names.has_code(self.row_codes.at[index])
        if shared:
            self.names = main_nfa.names
            return 0
        self.names = NameTable(paths.vocabulary)
        for index in range(1, self.row_codes.size):
            self.names.add(self.row_codes.at[index])
        return 0

    cdef int32_t _row(self, int32_t code) noexcept nogil:
        """Return the row of a name, else that of its namespace, else 0."""
        cdef int32_t row = find(&self.rows, pack_key(code, 0)), namespace
        if row < 0 and self.tests_namespaces:
            namespace = self.names.namespace_of(code)
            if namespace > 0:
                row = find(&self.rows, pack_key(namespace, 0))
        return row if row > 0 else 0

    cdef int _set_masks(
        self, LinearPaths paths, const int32_t *numbers, Py_ssize_t count, const IntVector *starts
    ) except -1:
        cdef Py_ssize_t index
        cdef int32_t number, at, first, end, bit, edge, test
        self.masks = <uint64_t *>calloc(<size_t>(_MASK_ROWS * self.words), sizeof(uint64_t))
        self.passes = <uint64_t *>calloc(
            <size_t>(self.row_codes.size * self.words), sizeof(uint64_t)
        )
        if self.masks == NULL or self.passes == NULL:
            raise MemoryError
        reserve(&self.numbers, self.words * _WORD_BITS)
        reserve(&self.hops, self.words * _WORD_BITS)
        for index in range(count):
            number = numbers[index]
            bit = starts.at[index]
            first = at = paths.ends.at[number - 1] if number else 0
            end = paths.ends.at[number]
            while at < end:
                edge = paths.labels.at[at] & EDGE_MASK
                test = paths.labels.at[at] >> EDGE_BITS
                if at > first:
                    _set_bit(
                        self.masks
                        + (_DESCENDANT_STEPS if edge == DESCENDANT else _CHILD_STEPS) * self.words,
                        bit,
                    )
                else:
                    _set_bit(self.masks + _FIRST_STEPS * self.words, bit)
                    if edge == DESCENDANT:
                        _set_bit(self.masks + _FIRST_DESCENDANT_STEPS * self.words, bit)
                _set_bit(self.passes + (0 if test == ANY else self._row(test)) * self.words, bit)
                at += 1
                bit += 1
            _set_bit(self.masks + _LAST_STEPS * self.words, bit - 1)
            self.numbers.at[bit - 1] = number
            self.hops.at[bit - 1] = paths.hops.at[number]
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, paths.hops.at[number])
        self._inherit_passes()
        return 0

    cdef void _inherit_passes(self) noexcept nogil:
        """Let every name pass the tests for any name, and for any name of its namespace."""
        cdef int32_t row, namespace
        for row in range(1, <int32_t>self.row_codes.size):
            self._merge_row(row, 0)
        for row in range(1, <int32_t>self.row_codes.size):
            namespace = self.names.namespace_of(self.row_codes.at[row])
            if namespace > 0:
                self._merge_row(row, self._row(namespace))

    cdef void _merge_row(self, int32_t row, int32_t other) noexcept nogil:
        cdef int32_t word
        for word in range(self.words):
            self.passes[row * self.words + word] |= self.passes[other * self.words + word]

    @property
    def memory(self):
        """The memory of the masks, in bytes."""
        return (
            (_MASK_ROWS + self.row_codes.size) * self.words * 8
            + 4 * (self.numbers.capacity + self.hops.capacity)
        )


cdef inline void _set_bit(uint64_t *row, int32_t bit) noexcept nogil:
    row[bit >> 6] |= <uint64_t>1 << (bit & 63)


cdef class BitParallelTraversal:
    """The scratch space of bit-parallel traversals; used by one thread at a time."""

    def __cinit__(self):
        self.active = self.active_above = self.matched = NULL

    def __init__(self):
        self.name_cache = NameCache()

    def __dealloc__(self):
        free(self.active)
        free(self.active_above)
        free(self.matched)

    cdef int bind(self, BitParallelPaths paths) except -1:
        """Match other paths from now on."""
        cdef void *moved = realloc(self.matched, <size_t>(paths.words + 1) * sizeof(uint64_t))
        if moved == NULL:
            raise MemoryError
        self.matched = <uint64_t *>moved
        self.paths = paths
        self.name_cache.clear()
        return 0

    cdef int _reserve(self, Py_ssize_t words) except -1 nogil:
        """Ensure that both stacks have room for `words` words."""
        if words > self.capacity:
            free(self.active)
            free(self.active_above)
            self.capacity = 0
            self.active = <uint64_t *>calloc(<size_t>words, sizeof(uint64_t))
            self.active_above = <uint64_t *>calloc(<size_t>words, sizeof(uint64_t))
            if self.active == NULL or self.active_above == NULL:
                with gil:
                    raise MemoryError
            self.capacity = words
        return 0

    cdef int run(self, NodeTable nodes, const int32_t *symbols) except -1 nogil:
        """Traverse a document; set the bits of the matching last steps in `matched`.

        `symbols` are the elements' name codes if another traversal found them in the same name
        table, else NULL.
        """
        cdef int32_t words = self.paths.words, code
        cdef Py_ssize_t row
        cdef const NodeRow *node
        cdef const uint64_t *masks = self.paths.masks
        self.name_cache.start_document()
        self._reserve((nodes.depth + 1) * words)
        memset(self.matched, 0, <size_t>words * sizeof(uint64_t))
        memset(self.active, 0, <size_t>words * sizeof(uint64_t))
        memset(self.active_above, 0, <size_t>words * sizeof(uint64_t))
        for row in range(1, nodes.elements + 1):
            node = &nodes.rows[row]
            if symbols != NULL:
                code = symbols[row]
            else:
                code = self.name_cache.code(self.paths.names, node.node.name, node.node.ns)
            _step(
                words,
                masks + _CHILD_STEPS * words,
                masks + _DESCENDANT_STEPS * words,
                masks + (_FIRST_STEPS if node.depth == 1 else _FIRST_DESCENDANT_STEPS) * words,
                masks + _LAST_STEPS * words,
                self.paths.passes + self.paths._row(code) * words,
                self.active + (node.depth - 1) * words,
                self.active_above + (node.depth - 1) * words,
                self.active + node.depth * words,
                self.active_above + node.depth * words,
                self.matched,
            )
        return 0


cdef inline void _step(
    int32_t words,
    InputRow child_steps,
    InputRow descendant_steps,
    InputRow first_steps,
    InputRow last_steps,
    InputRow passes,
    InputRow parent,
    InputRow ancestors,
    OutputRow active,
    OutputRow active_above,
    OutputRow matched,
) noexcept nogil:
    """Compute the bits of one element from those of its parent and its ancestors."""
    cdef int32_t word
    cdef uint64_t steps
    for word in range(words):
        steps = (
            (parent[word] << 1 & child_steps[word])
            | (ancestors[word] << 1 & descendant_steps[word])
            | first_steps[word]
        ) & passes[word]
        active[word] = steps
        active_above[word] = ancestors[word] | steps
        matched[word] |= steps & last_steps[word]
