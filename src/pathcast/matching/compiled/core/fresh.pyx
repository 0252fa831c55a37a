"""A few paths without an automaton: every step of every path is a bit, and one word takes some ten paths along.

What was added a moment ago is matched this way, until there is enough of it for an automaton: to build one, and to
teach its memo all label paths again, costs more than a hundred paths cost here. Nothing is remembered between documents.

A bit stands for a step that an element has reached. From the bits of its parent (for steps to children) and of all elements
above (for steps to any depth), moved on by one, those are kept whose test its name passes.

Names are those of an automaton that is run anyway, if it has all that are asked for: then its codes of the elements serve here, too.

>>> from pathcast.matching.compiled.core.labels import Paths, Vocabulary
>>> paths = Paths(Vocabulary())
>>> paths.read("/a//b"), paths.read("//c/*/d"), paths.read("/a/@x")
(True, True, True)
>>> [fits(paths, number) for number in range(3)]
[True, True, False]
>>> Fresh(paths, [0, 1]).words
1
"""

from cpython cimport array
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.matching.compiled.core.labels cimport (
    A_SPACE,
    A_TARGET,
    ANY,
    ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    Paths,
)
from pathcast.matching.compiled.core.names cimport Addresses, Names
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
from pathcast.matching.compiled.core.walk cimport Spot, Walk

# The rows of `masks`: steps to children and to any depth, but not the first ones; first steps that lead from the
# document to its element or to any depth, and to any depth alone; last steps.
cdef enum:
    _NEAR = 0
    _DEEP = 1
    _FIRST = 2
    _FIRST_DEEP = 3
    _LAST = 4
    _ROWS = 5

cdef enum:
    _BITS = 64

# Rows that do not overlap: the compiler may take several words at a time.
cdef extern from *:
    """
    typedef const uint64_t *__restrict__ pathcast_given;
    typedef uint64_t *__restrict__ pathcast_room;
    """
    ctypedef const uint64_t *Given "pathcast_given"
    ctypedef uint64_t *Room "pathcast_room"


def fits(Paths paths not None, Py_ssize_t number):
    """Whether a path is one of elements alone, and not too long."""
    cdef Py_ssize_t at = paths.ends.at[paths._checked(number) - 1] if number else 0
    cdef Py_ssize_t end = paths.ends.at[number]
    cdef int32_t test
    if not 0 < end - at <= _BITS:
        return False
    while at < end:
        test = paths.labels.at[at] >> EDGE_BITS
        if paths.labels.at[at] & EDGE_MASK >= ATTRIBUTE or ANY < test < FIRST_NAME:
            return False
        if paths.vocabulary.kinds.at[test] == A_TARGET:
            return False
        at += 1
    return True


cdef class Fresh:
    """Some paths, all of which fit; not changed after it was made."""

    def __cinit__(self):
        self.masks = self.passes = NULL

    def __init__(self, Paths paths not None, numbers, Automaton beside=None):
        """`beside`: the automaton that is run before."""
        cdef int32_t[::1] chosen = numbers if isinstance(numbers, array.array) else array.array("i", numbers)
        cdef Py_ssize_t count = chosen.shape[0]
        cdef IntVector starts = IntVector(NULL, 0, 0)
        self.largest_number = self.largest_hop = -1
        push(&self.row_codes, ANY)
        try:
            if count:
                self._pack(paths, &chosen[0], count, &starts)
            self._name(paths, beside)
            if count:
                self._fill(paths, &chosen[0], count, &starts)
        finally:
            free_vector(&starts)

    def __dealloc__(self):
        free(self.masks)
        free(self.passes)
        free_map(&self.rows)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_vector(&self.row_codes)

    cdef int _pack(self, Paths paths, const int32_t *numbers, Py_ssize_t count, IntVector *starts) except -1:
        """Find the place of every path, so that none lies in two words, and a row for every name and namespace."""
        cdef Py_ssize_t index
        cdef int32_t number, at, end, test, bit = 0
        for index in range(count):
            number = numbers[index]
            at = paths.ends.at[paths._checked(number) - 1] if number else 0
            end = paths.ends.at[number]
            if bit % _BITS + end - at > _BITS:
                bit += _BITS - bit % _BITS
            push(starts, bit)
            bit += end - at
            while at < end:
                test = paths.labels.at[at] >> EDGE_BITS
                if test >= FIRST_NAME and find(&self.rows, pack_key(test, 0)) < 0:
                    insert(&self.rows, pack_key(test, 0), <int32_t>self.row_codes.size)
                    push(&self.row_codes, test)
                    if paths.vocabulary.kinds.at[test] == A_SPACE:
                        self.spaces = True
                at += 1
        self.words = (bit + _BITS - 1) // _BITS
        return 0

    cdef int _name(self, Paths paths, Automaton beside) except -1:
        """Have names by which rows can be found."""
        cdef Py_ssize_t index
        cdef bint known = beside is not None
        for index in range(1, self.row_codes.size):
            known = known and beside.names.has(self.row_codes.at[index])
        if known:
            self.names = beside.names
            return 0
        self.names = Names(paths.vocabulary)
        for index in range(1, self.row_codes.size):
            self.names.add(self.row_codes.at[index])
        return 0

    cdef int32_t _row(self, int32_t code) noexcept nogil:
        """The row of a name or a namespace, or that of its namespace; 0 if nobody asks for either."""
        cdef int32_t row = find(&self.rows, pack_key(code, 0)), space
        if row < 0 and self.spaces:
            space = self.names.space(code)
            if space > 0:
                row = find(&self.rows, pack_key(space, 0))
        return row if row > 0 else 0

    cdef int _fill(self, Paths paths, const int32_t *numbers, Py_ssize_t count, const IntVector *starts) except -1:
        """Set the bits of all steps."""
        cdef Py_ssize_t index
        cdef int32_t number, at, first, end, bit, edge, test
        self.masks = <uint64_t *>calloc(<size_t>(_ROWS * self.words), sizeof(uint64_t))
        self.passes = <uint64_t *>calloc(<size_t>(self.row_codes.size * self.words), sizeof(uint64_t))
        if self.masks == NULL or self.passes == NULL:
            raise MemoryError
        reserve(&self.numbers, self.words * _BITS)
        reserve(&self.hops, self.words * _BITS)
        for index in range(count):
            number = numbers[index]
            bit = starts.at[index]
            first = at = paths.ends.at[number - 1] if number else 0
            end = paths.ends.at[number]
            while at < end:
                edge = paths.labels.at[at] & EDGE_MASK
                test = paths.labels.at[at] >> EDGE_BITS
                if at > first:
                    _put(self.masks + (_DEEP if edge == DESCENDANT else _NEAR) * self.words, bit)
                else:
                    _put(self.masks + _FIRST * self.words, bit)
                    if edge == DESCENDANT:
                        _put(self.masks + _FIRST_DEEP * self.words, bit)
                _put(self.passes + (0 if test == ANY else self._row(test)) * self.words, bit)
                at += 1
                bit += 1
            _put(self.masks + _LAST * self.words, bit - 1)
            self.numbers.at[bit - 1] = number
            self.hops.at[bit - 1] = paths.hops.at[number]
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, paths.hops.at[number])
        self._spread()
        return 0

    cdef void _spread(self) noexcept nogil:
        """What any name passes, and any of a namespace, those pass that have rows of their own."""
        cdef int32_t row, space
        for row in range(1, <int32_t>self.row_codes.size):
            self._join(row, 0)
        for row in range(1, <int32_t>self.row_codes.size):
            space = self.names.space(self.row_codes.at[row])
            if space > 0:
                self._join(row, self._row(space))

    cdef void _join(self, int32_t row, int32_t other) noexcept nogil:
        cdef int32_t word
        for word in range(self.words):
            self.passes[row * self.words + word] |= self.passes[other * self.words + word]

    @property
    def memory(self):
        """Bytes."""
        return (
            (_ROWS + self.row_codes.size) * self.words * 8
            + 4 * (self.numbers.capacity + self.hops.capacity)
        )


cdef inline void _put(uint64_t *row, int32_t bit) noexcept nogil:
    row[bit >> 6] |= <uint64_t>1 << (bit & 63)


cdef class FreshRun:
    """Room to run fresh paths in; used by one thread at a time."""

    def __cinit__(self):
        self.reached = self.above = self.found = NULL

    def __init__(self):
        self.addresses = Addresses()

    def __dealloc__(self):
        free(self.reached)
        free(self.above)
        free(self.found)

    cdef int use(self, Fresh fresh) except -1:
        """Take other paths from now on."""
        cdef void *room = realloc(self.found, <size_t>(fresh.words + 1) * sizeof(uint64_t))
        if room == NULL:
            raise MemoryError
        self.found = <uint64_t *>room
        self.fresh = fresh
        self.addresses.forget()
        return 0

    cdef int _make_room(self, Py_ssize_t wanted) except -1 nogil:
        """Have room for so many words in both stacks."""
        if wanted > self.capacity:
            free(self.reached)
            free(self.above)
            self.capacity = 0
            self.reached = <uint64_t *>calloc(<size_t>wanted, sizeof(uint64_t))
            self.above = <uint64_t *>calloc(<size_t>wanted, sizeof(uint64_t))
            if self.reached == NULL or self.above == NULL:
                with gil:
                    raise MemoryError
            self.capacity = wanted
        return 0

    cdef int run(self, Walk walk, const int32_t *codes) except -1 nogil:
        """Run over a document; `found` has the last steps that were reached.

        `codes` are those of its elements, if somebody has found them by the same names, or NULL.
        """
        cdef int32_t words = self.fresh.words, code
        cdef Py_ssize_t spot
        cdef const Spot *known
        cdef const uint64_t *masks = self.fresh.masks
        self.addresses.begin()
        self._make_room((walk.depth + 1) * words)
        memset(self.found, 0, <size_t>words * sizeof(uint64_t))
        memset(self.reached, 0, <size_t>words * sizeof(uint64_t))
        memset(self.above, 0, <size_t>words * sizeof(uint64_t))
        for spot in range(1, walk.elements + 1):
            known = &walk.spots[spot]
            if codes != NULL:
                code = codes[spot]
            else:
                code = self.addresses.code(self.fresh.names, known.node.name, known.node.ns)
            _step(
                words,
                masks + _NEAR * words,
                masks + _DEEP * words,
                masks + (_FIRST if known.depth == 1 else _FIRST_DEEP) * words,
                masks + _LAST * words,
                self.fresh.passes + self.fresh._row(code) * words,
                self.reached + (known.depth - 1) * words,
                self.above + (known.depth - 1) * words,
                self.reached + known.depth * words,
                self.above + known.depth * words,
                self.found,
            )
        return 0


cdef inline void _step(
    int32_t words,
    Given near,
    Given deep,
    Given first,
    Given last,
    Given passes,
    Given parent,
    Given all_above,
    Room reached,
    Room above,
    Room found,
) noexcept nogil:
    """One element, from what its parent and all above it have reached."""
    cdef int32_t word
    cdef uint64_t new
    for word in range(words):
        new = ((parent[word] << 1 & near[word]) | (all_above[word] << 1 & deep[word]) | first[word]) & passes[word]
        reached[word] = new
        above[word] = all_above[word] | new
        found[word] |= new & last[word]
