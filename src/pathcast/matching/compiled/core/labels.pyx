"""Labels as ints, and the linear paths of all subscriptions in one array.

A label is a node test and an edge: `test << 3 | edge`. A `Vocabulary` interns tests by key: `name`
or `{uri}name` for names, `{uri}*` for any name of a namespace, `?target` for processing
instructions. Value tests have codes of their own. A code is never reused, so labels stay valid
while automata are rebuilt. `LinearPaths.subset` copies paths to a new vocabulary without the
unused codes.

`LinearPaths` holds a row for every subscription number: its path if it is linear, its next hop,
and the entry of its pattern if it is not. Most subscriptions are plain: `/` and `//` steps with
ASCII names and wildcards, perhaps a last attribute step. `read` parses those in one pass over the
text. The XPath parser handles all others, and `add` takes their labels.

>>> paths = LinearPaths(Vocabulary())
>>> paths.read("/news//item/*/@lang"), paths.read("//item[2]")
(True, False)
>>> paths.path(0)
((0, 'news'), (1, 'item'), (0, '*'), (2, 'lang'))
"""

from cpython.unicode cimport (
    PyUnicode_1BYTE_DATA,
    PyUnicode_DecodeASCII,
    PyUnicode_GET_LENGTH,
)
from cpython cimport array
from libc.stdint cimport int32_t
from libc.string cimport memset

from array import array as _array

from pathcast.matching.compiled.core.strings cimport StringTable, add_string, free_strings
from pathcast.vectors cimport IntVector, append, free_vector, push

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object text)

cdef enum:
    _MAX_TEXT = 1000  # characters; the XPath parser checks the language's limits on longer ones

cdef array.array _NO_NUMBERS = _array("i")

_KIND_TESTS = ("", "*", "node()", "text()", "comment()", "processing-instruction()")

# Whether a byte may stand in a name: 0 no, 1 not at its start, 2 anywhere.
cdef unsigned char _NAME_BYTES[256]


cdef void _fill_name_bytes() noexcept:
    cdef int code
    for code in range(256):
        _NAME_BYTES[code] = 0
    for code in range(ord("a"), ord("z") + 1):
        _NAME_BYTES[code] = _NAME_BYTES[code - 32] = 2
    _NAME_BYTES[ord("_")] = 2
    for code in range(ord("0"), ord("9") + 1):
        _NAME_BYTES[code] = 1
    _NAME_BYTES[ord("-")] = _NAME_BYTES[ord(".")] = 1


_fill_name_bytes()


cdef class Vocabulary:
    """Interned node tests and value tests; append-only."""

    def __init__(self):
        self.keys = list(_KIND_TESTS)
        self.encoded = [key.encode() for key in _KIND_TESTS]
        self.codes = {}
        self.value_tests = []
        self.value_codes = {}
        for _ in _KIND_TESTS:
            push(&self.kinds, KIND_KEY)

    def __dealloc__(self):
        free_vector(&self.kinds)

    cdef int32_t intern(self, str key) except -1:
        code = self.codes.get(key)
        if code is None:
            code = len(self.keys)
            self.encoded.append(key.encode())
            self.keys.append(key)
            if key.startswith("?"):
                push(&self.kinds, TARGET_KEY)
            elif key.startswith("{"):
                push(&self.kinds, NAMESPACE_KEY if key.endswith("}*") else QUALIFIED_NAME_KEY)
            else:
                push(&self.kinds, NAME_KEY)
            self.codes[key] = code
        return code

    def code(self, str key):
        """Return the code of a name, a namespace or a target; intern it if it is new."""
        return self.intern(key)

    def value(self, str kind, str op, str operand):
        """Return the code of a value test; intern it if it is new."""
        test = (kind, op, operand)
        code = self.value_codes.get(test)
        if code is None:
            code = len(self.value_tests)
            self.value_codes[test] = code
            self.value_tests.append(test)
        return code


cdef class LinearPaths:
    """The paths, next hops and entries (-1: none) of the subscription numbers 0, 1, 2, ..."""

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary

    def __dealloc__(self):
        free_vector(&self.labels)
        free_vector(&self.ends)
        free_vector(&self.hops)
        free_vector(&self.entries)

    def __len__(self):
        return self.ends.size

    def read(self, str text not None, int32_t hop=-1):
        """Append a linear path; return False and append nothing if the text is anything else."""
        cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = 0, start
        cdef Py_ssize_t old_size = self.labels.size
        cdef const unsigned char *bytes
        cdef int32_t edge
        if not PyUnicode_IS_COMPACT_ASCII(text) or length > _MAX_TEXT or length == 0:
            return False
        bytes = PyUnicode_1BYTE_DATA(text)
        while at < length:
            if bytes[at] == b"/":
                at += 1
                edge = CHILD
                if at < length and bytes[at] == b"/":
                    at += 1
                    edge = DESCENDANT
            elif at == 0:
                edge = DESCENDANT  # a relative path matches at any depth
            else:
                break
            if at < length and bytes[at] == b"@":
                at += 1
                edge += ATTRIBUTE
            start = at
            if at < length and bytes[at] == b"*":
                at += 1
                push(&self.labels, ANY << EDGE_BITS | edge)
            elif at < length and _NAME_BYTES[bytes[at]] == 2:
                while at < length and _NAME_BYTES[bytes[at]]:
                    at += 1
                name = PyUnicode_DecodeASCII(<const char *>bytes + start, at - start, NULL)
                push(&self.labels, self.vocabulary.intern(name) << EDGE_BITS | edge)
            else:
                break
            if edge >= ATTRIBUTE:
                if at == length:
                    self._finish(hop, -1)
                    return True
                break
            if at == length:
                self._finish(hop, -1)
                return True
        self.labels.size = old_size
        return False

    def add(self, labels, int32_t hop=-1, int32_t entry=-1):
        """Append a path by its labels; an entry has none."""
        cdef Py_ssize_t old_size = self.labels.size
        try:
            for label in labels:
                push(&self.labels, label)
        except BaseException:
            self.labels.size = old_size
            raise
        self._finish(hop, entry)

    cdef int _finish(self, int32_t hop, int32_t entry) except -1:
        push(&self.ends, <int32_t>self.labels.size)
        push(&self.hops, hop)
        push(&self.entries, entry)
        return 0

    def labels_of(self, Py_ssize_t number):
        """Return the labels of a subscription's path."""
        self._check_number(number)
        cdef Py_ssize_t start = self.ends.at[number - 1] if number else 0
        return [self.labels.at[index] for index in range(start, self.ends.at[number])]

    def path(self, Py_ssize_t number):
        """Return a subscription's path as pairs of an edge and a test's key."""
        keys = self.vocabulary.keys
        labels = self.labels_of(number)
        return tuple((label & EDGE_MASK, keys[label >> EDGE_BITS]) for label in labels)

    def hop(self, Py_ssize_t number):
        """Return the next hop of a subscription, -1 if it has none."""
        return self.hops.at[self._check_number(number)]

    def entry(self, Py_ssize_t number):
        """Return the entry of a subscription's pattern, -1 if the pattern is a linear path."""
        return self.entries.at[self._check_number(number)]

    cdef Py_ssize_t _check_number(self, Py_ssize_t number) except -1:
        """Return the number; raise IndexError if it has no row."""
        if not 0 <= number < self.ends.size:
            raise IndexError(number)
        return number

    def select_alive(self, numbers, bytearray alive not None):
        """Return the numbers whose bit in `alive` is set, as an array."""
        cdef int32_t[::1] given = numbers if isinstance(numbers, _array) else _array("i", numbers)
        cdef Py_ssize_t index, count = 0
        cdef array.array selected = array.clone(_NO_NUMBERS, given.shape[0], False)
        cdef int32_t number
        for index in range(given.shape[0]):
            number = given[index]
            if alive[number >> 3] >> (number & 7) & 1:
                selected.data.as_ints[count] = number
                count += 1
        array.resize(selected, count)
        return selected

    def count_distinct(self, numbers):
        """Return how many distinct paths the subscriptions have."""
        cdef StringTable seen
        cdef int32_t[::1] given = numbers if isinstance(numbers, _array) else _array("i", numbers)
        cdef Py_ssize_t index, start, number
        memset(&seen, 0, sizeof(StringTable))
        try:
            for index in range(given.shape[0]):
                number = self._check_number(given[index])
                start = self.ends.at[number - 1] if number else 0
                add_string(
                    &seen,
                    <const char *>(self.labels.at + start),
                    4 * (self.ends.at[number] - start),
                    0,
                )
            return seen.ends.size
        finally:
            free_strings(&seen)

    def subset(self, numbers, Vocabulary vocabulary not None):
        """Copy the rows of `numbers`, renumbered from 0, in the codes of `vocabulary`."""
        cdef LinearPaths copy = LinearPaths(vocabulary)
        cdef Py_ssize_t number, at
        cdef int32_t label, code
        cdef IntVector new_codes = IntVector(NULL, 0, 0)
        try:
            for code in range(<int32_t>len(self.vocabulary.keys)):
                push(&new_codes, code if code < FIRST_NAME else -1)
            for given in numbers:
                number = self._check_number(given)
                for at in range(self.ends.at[number - 1] if number else 0, self.ends.at[number]):
                    label = self.labels.at[at]
                    code = label >> EDGE_BITS
                    if new_codes.at[code] < 0:
                        new_codes.at[code] = vocabulary.intern(self.vocabulary.keys[code])
                    push(&copy.labels, new_codes.at[code] << EDGE_BITS | label & EDGE_MASK)
                copy._finish(self.hops.at[number], self.entries.at[number])
        finally:
            free_vector(&new_codes)
        return copy

    def dump(self):
        """Return (labels, ends, hops, entries), each as the bytes of an int32 array."""
        return (
            _to_bytes(&self.labels),
            _to_bytes(&self.ends),
            _to_bytes(&self.hops),
            _to_bytes(&self.entries),
        )

    def load(
        self,
        const int32_t[::1] labels,
        const int32_t[::1] ends,
        const int32_t[::1] hops,
        const int32_t[::1] entries,
    ):
        """Load the arrays of `dump` into an empty table; raise ValueError if they are malformed."""
        cdef Py_ssize_t index, count = ends.shape[0]
        cdef int32_t last = 0
        cdef int32_t code_count = <int32_t>len(self.vocabulary.keys)
        if self.ends.size or hops.shape[0] != count or entries.shape[0] != count:
            raise ValueError("arrays of different lengths")
        for index in range(count):
            if ends[index] < last:
                raise ValueError("ends are not ascending")
            last = ends[index]
        if last != labels.shape[0]:
            raise ValueError("labels behind the last path")
        for index in range(labels.shape[0]):
            if not (
                0 < labels[index] >> EDGE_BITS < code_count
                and labels[index] & EDGE_MASK < VALUE
            ):
                raise ValueError("invalid label")
        if count:
            if last:
                append(&self.labels, &labels[0], labels.shape[0])
            append(&self.ends, &ends[0], count)
            append(&self.hops, &hops[0], count)
            append(&self.entries, &entries[0], count)

    @property
    def memory(self):
        """The memory of the table, in bytes."""
        return 4 * (
            self.labels.capacity
            + self.ends.capacity
            + self.hops.capacity
            + self.entries.capacity
        )


cdef bytes _to_bytes(const IntVector *vector):
    return (<const char *>vector.at)[: 4 * vector.size] if vector.size else b""
