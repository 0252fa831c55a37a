"""A set of byte strings with numbers from 0, looked up by their bytes without the interpreter.

Keys are 64-bit hashes; two strings of one hash take the next free key, so what is found is always compared.
`salt` tells names of one namespace from those of another.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcmp, memcpy

from pathcast.vectors cimport (
    IntMap,
    IntVector,
    find,
    free_map,
    free_vector,
    grow,
    insert,
    map_bytes,
    push,
)

from libc.stdlib cimport free


cdef struct Strings:
    IntMap table
    IntVector ends
    IntVector salts
    char *bytes
    Py_ssize_t size
    Py_ssize_t capacity


cdef inline uint64_t hashed(const char *text, Py_ssize_t length, int32_t salt) noexcept nogil:
    """A hash that is never 0."""
    cdef uint64_t code = <uint64_t>0xCBF29CE484222325 ^ <uint64_t>salt, word
    cdef Py_ssize_t at = 0
    while at + 8 <= length:
        memcpy(&word, text + at, 8)
        code = (code ^ word) * <uint64_t>0x9FB21C651E98DF25
        code ^= code >> 32
        at += 8
    if at < length:
        word = 0
        memcpy(&word, text + at, <size_t>(length - at))
        code = (code ^ word) * <uint64_t>0x9FB21C651E98DF25
        code ^= code >> 32
    code = (code ^ <uint64_t>length) * <uint64_t>0x9E3779B97F4A7C15
    return code | 1


cdef inline int32_t string_number(
    const Strings *strings, const char *text, Py_ssize_t length, int32_t salt
) noexcept nogil:
    """The number of a string, or -1."""
    cdef uint64_t key
    cdef int32_t found
    cdef Py_ssize_t start
    if strings.ends.size == 0:
        return -1
    key = hashed(text, length, salt)
    while True:
        found = find(&strings.table, key)
        if found < 0:
            return -1
        start = strings.ends.at[found - 1] if found else 0
        if (
            strings.ends.at[found] - start == length
            and strings.salts.at[found] == salt
            and memcmp(strings.bytes + start, text, <size_t>length) == 0
        ):
            return found
        key += 2


cdef inline int32_t string_add(
    Strings *strings, const char *text, Py_ssize_t length, int32_t salt
) except -1:
    """The number of a string, a new one if it is new."""
    cdef int32_t found = string_number(strings, text, length, salt)
    cdef uint64_t key
    if found >= 0:
        return found
    if strings.size + length > strings.capacity:
        grow(<void **>&strings.bytes, &strings.capacity, strings.size + length, 1)
    memcpy(strings.bytes + strings.size, text, <size_t>length)
    strings.size += length
    push(&strings.ends, <int32_t>strings.size)
    push(&strings.salts, salt)
    key = hashed(text, length, salt)
    while find(&strings.table, key) >= 0:
        key += 2
    found = <int32_t>strings.ends.size - 1
    insert(&strings.table, key, found)
    return found


cdef inline void strings_drop(Strings *strings) noexcept nogil:
    free_map(&strings.table)
    free_vector(&strings.ends)
    free_vector(&strings.salts)
    free(strings.bytes)
    strings.bytes = NULL


cdef inline Py_ssize_t strings_bytes(const Strings *strings) noexcept nogil:
    return map_bytes(&strings.table) + strings.capacity + 4 * (strings.ends.capacity + strings.salts.capacity)
