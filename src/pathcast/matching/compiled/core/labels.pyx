"""Labels as numbers, and the linear paths of all subscriptions in one array.

A label is a node test and an edge: `test << 3 | edge`. Tests are interned in a `Vocabulary` by a key: `name` or `{uri}name`
for names, `{uri}*` for any name of a namespace, `?target` for processing instructions; value tests have
numbers of their own. Numbers are never given twice, so labels stay what they are while automata come and go; what nobody
asks for any more is left behind when those that stay are written down in a new vocabulary (`Paths.kept`).

`Paths` holds, for every number of a subscription, its path if it is linear. Most subscriptions are
plain: steps of `/` and `//` with names and stars in ASCII, an attribute perhaps at the end. Those are read here in one
pass over the text; all others are left to the language's own parser, and come back as labels.

>>> paths = Paths(Vocabulary())
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

from pathcast.matching.compiled.core.strings cimport Strings, string_add, strings_drop
from pathcast.vectors cimport IntVector, append, free_vector, push

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object text)

cdef enum:
    _LONGEST = 1000  # what is longer may pass a limit of the language, which knows them

cdef array.array _EMPTY = _array("i")

_FIXED = ("", "*", "node()", "text()", "comment()", "processing-instruction()")

# What a byte may be in a name: 0 nothing, 1 inside only, 2 anywhere.
cdef unsigned char _NAME[256]


cdef void _prepare() noexcept:
    cdef int code
    for code in range(256):
        _NAME[code] = 0
    for code in range(ord("a"), ord("z") + 1):
        _NAME[code] = _NAME[code - 32] = 2
    _NAME[ord("_")] = 2
    for code in range(ord("0"), ord("9") + 1):
        _NAME[code] = 1
    _NAME[ord("-")] = _NAME[ord(".")] = 1


_prepare()


cdef class Vocabulary:
    """Tests and value tests by number."""

    def __init__(self):
        self.keys = list(_FIXED)
        self.encoded = [key.encode() for key in _FIXED]
        self.codes = {}
        self.value_tests = []
        self.value_codes = {}
        for _ in _FIXED:
            push(&self.kinds, A_KIND)

    def __dealloc__(self):
        free_vector(&self.kinds)

    cdef int32_t intern(self, str key) except -1:
        code = self.codes.get(key)
        if code is None:
            code = len(self.keys)
            self.encoded.append(key.encode())
            self.keys.append(key)
            if key.startswith("?"):
                push(&self.kinds, A_TARGET)
            elif key.startswith("{"):
                push(&self.kinds, A_SPACE if key.endswith("}*") else A_NAME_IN_SPACE)
            else:
                push(&self.kinds, A_NAME)
            self.codes[key] = code
        return code

    def code(self, str key):
        """The number of a name, a namespace or a target."""
        return self.intern(key)

    def value(self, str kind, str op, str operand):
        """The number of a value test."""
        test = (kind, op, operand)
        code = self.value_codes.get(test)
        if code is None:
            code = len(self.value_tests)
            self.value_codes[test] = code
            self.value_tests.append(test)
        return code


cdef class Paths:
    """For every number from 0: its path, the hop it was registered with, the entry it belongs to (-1: none)."""

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
        """Give the next number to a linear path; False, and nothing done, if the text is anything else."""
        cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = 0, start, before = self.labels.size
        cdef const unsigned char *bytes
        cdef int32_t edge
        if not PyUnicode_IS_COMPACT_ASCII(text) or length > _LONGEST or length == 0:
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
                edge = DESCENDANT  # a relative path starts anywhere
            else:
                break
            if at < length and bytes[at] == b"@":
                at += 1
                edge += ATTRIBUTE
            start = at
            if at < length and bytes[at] == b"*":
                at += 1
                push(&self.labels, ANY << EDGE_BITS | edge)
            elif at < length and _NAME[bytes[at]] == 2:
                while at < length and _NAME[bytes[at]]:
                    at += 1
                name = PyUnicode_DecodeASCII(<const char *>bytes + start, at - start, NULL)
                push(&self.labels, self.vocabulary.intern(name) << EDGE_BITS | edge)
            else:
                break
            if edge >= ATTRIBUTE:
                if at == length:
                    self._close(hop, -1)
                    return True
                break
            if at == length:
                self._close(hop, -1)
                return True
        self.labels.size = before
        return False

    def add(self, labels, int32_t hop=-1, int32_t entry=-1):
        """Give the next number to a path that is known by its labels (or to an entry, and then to none)."""
        cdef Py_ssize_t before = self.labels.size
        try:
            for label in labels:
                push(&self.labels, label)
        except BaseException:
            self.labels.size = before
            raise
        self._close(hop, entry)

    cdef int _close(self, int32_t hop, int32_t entry) except -1:
        push(&self.ends, <int32_t>self.labels.size)
        push(&self.hops, hop)
        push(&self.entries, entry)
        return 0

    def labels_of(self, Py_ssize_t number):
        """The labels of a number's path."""
        if not 0 <= number < self.ends.size:
            raise IndexError(number)
        cdef Py_ssize_t start = self.ends.at[number - 1] if number else 0
        return [self.labels.at[index] for index in range(start, self.ends.at[number])]

    def path(self, Py_ssize_t number):
        """The labels of a number's path, as pairs of an edge and a test's key."""
        keys = self.vocabulary.keys
        return tuple((label & EDGE_MASK, keys[label >> EDGE_BITS]) for label in self.labels_of(number))

    def hop(self, Py_ssize_t number):
        """The hop of a number, -1 if it has none."""
        return self.hops.at[self._checked(number)]

    def entry(self, Py_ssize_t number):
        """The entry that a number belongs to, -1 if it has a path of its own."""
        return self.entries.at[self._checked(number)]

    cdef Py_ssize_t _checked(self, Py_ssize_t number) except -1:
        if not 0 <= number < self.ends.size:
            raise IndexError(number)
        return number

    def living(self, numbers, bytearray alive not None):
        """Those of the numbers that are alive, as an array."""
        cdef int32_t[::1] given = numbers if isinstance(numbers, _array) else _array("i", numbers)
        cdef Py_ssize_t index, count = 0
        cdef array.array found = array.clone(_EMPTY, given.shape[0], False)
        cdef int32_t number
        for index in range(given.shape[0]):
            number = given[index]
            if alive[number >> 3] >> (number & 7) & 1:
                found.data.as_ints[count] = number
                count += 1
        array.resize(found, count)
        return found

    def distinct(self, numbers):
        """How many different paths these numbers have."""
        cdef Strings seen
        cdef int32_t[::1] given = numbers if isinstance(numbers, _array) else _array("i", numbers)
        cdef Py_ssize_t index, start, number
        memset(&seen, 0, sizeof(Strings))
        try:
            for index in range(given.shape[0]):
                number = self._checked(given[index])
                start = self.ends.at[number - 1] if number else 0
                string_add(
                    &seen, <const char *>(self.labels.at + start), 4 * (self.ends.at[number] - start), 0
                )
            return seen.ends.size
        finally:
            strings_drop(&seen)

    def kept(self, numbers, Vocabulary vocabulary not None):
        """The paths of these numbers alone, which are 0, 1, 2 ... there, in the words of another vocabulary."""
        cdef Paths found = Paths(vocabulary)
        cdef Py_ssize_t number, at
        cdef int32_t label, code
        cdef IntVector moved = IntVector(NULL, 0, 0)
        try:
            for code in range(<int32_t>len(self.vocabulary.keys)):
                push(&moved, code if code < FIRST_NAME else -1)
            for given in numbers:
                number = self._checked(given)
                for at in range(self.ends.at[number - 1] if number else 0, self.ends.at[number]):
                    label = self.labels.at[at]
                    code = label >> EDGE_BITS
                    if moved.at[code] < 0:
                        moved.at[code] = vocabulary.intern(self.vocabulary.keys[code])
                    push(&found.labels, moved.at[code] << EDGE_BITS | label & EDGE_MASK)
                found._close(self.hops.at[number], self.entries.at[number])
        finally:
            free_vector(&moved)
        return found

    def dump(self):
        """(labels, ends, hops, entries), each as the bytes of an array of int32."""
        return tuple([_dumped(&self.labels), _dumped(&self.ends), _dumped(&self.hops), _dumped(&self.entries)])

    def fill(self, const int32_t[::1] labels, const int32_t[::1] ends, const int32_t[::1] hops, const int32_t[::1] entries):
        """Take what `dump` gave, checked; there must be nothing here yet."""
        cdef Py_ssize_t index, count = ends.shape[0]
        cdef int32_t last = 0
        cdef int32_t known = <int32_t>len(self.vocabulary.keys)
        if self.ends.size or hops.shape[0] != count or entries.shape[0] != count:
            raise ValueError("arrays of different lengths")
        for index in range(count):
            if ends[index] < last:
                raise ValueError("ends that are not in order")
            last = ends[index]
        if last != labels.shape[0]:
            raise ValueError("labels that belong to nothing")
        for index in range(labels.shape[0]):
            if not (0 < labels[index] >> EDGE_BITS < known and labels[index] & EDGE_MASK < VALUE):
                raise ValueError("a label that is none")
        if count:
            if last:
                append(&self.labels, &labels[0], labels.shape[0])
            append(&self.ends, &ends[0], count)
            append(&self.hops, &hops[0], count)
            append(&self.entries, &entries[0], count)

    @property
    def memory(self):
        """Bytes."""
        return 4 * (self.labels.capacity + self.ends.capacity + self.hops.capacity + self.entries.capacity)


cdef bytes _dumped(const IntVector *ints):
    return (<const char *>ints.at)[: 4 * ints.size] if ints.size else b""
