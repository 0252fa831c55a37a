"""A table of distinct byte strings, numbered from 0; look-up by bytes, without the GIL.

The map's keys are 64-bit hashes. A string whose hash is taken uses the next free key, so a look-up
always compares the bytes. The `salt` separates equal names of different namespaces.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free
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


# Bytes that belong to another owner, not terminated.
cdef struct TextView:
    const char *at
    Py_ssize_t size


cdef struct StringTable:
    IntMap numbers
    IntVector ends
    IntVector salts
    char *bytes
    Py_ssize_t size
    Py_ssize_t capacity


cdef inline uint64_t hash_bytes(const char *text, Py_ssize_t size, int32_t salt) noexcept nogil:
    """Return a hash; never 0."""
    cdef uint64_t code = <uint64_t>0xCBF29CE484222325 ^ <uint64_t>salt, word
    cdef Py_ssize_t at = 0
    while at + 8 <= size:
        memcpy(&word, text + at, 8)
        code = (code ^ word) * <uint64_t>0x9FB21C651E98DF25
        code ^= code >> 32
        at += 8
    if at < size:
        word = 0
        memcpy(&word, text + at, <size_t>(size - at))
        code = (code ^ word) * <uint64_t>0x9FB21C651E98DF25
        code ^= code >> 32
    code = (code ^ <uint64_t>size) * <uint64_t>0x9E3779B97F4A7C15
    return code | 1


cdef inline int32_t find_string(
    const StringTable *strings, const char *text, Py_ssize_t size, int32_t salt
) noexcept nogil:
    """Return the number of a string, -1 if it is absent."""
    cdef uint64_t key
    cdef int32_t number
    cdef Py_ssize_t start
    if strings.ends.size == 0:
        return -1
    key = hash_bytes(text, size, salt)
    while True:
        number = find(&strings.numbers, key)
        if number < 0:
            return -1
        start = strings.ends.at[number - 1] if number else 0
        if (
            strings.ends.at[number] - start == size
            and strings.salts.at[number] == salt
            and memcmp(strings.bytes + start, text, <size_t>size) == 0
        ):
            return number
        key += 2


cdef inline int32_t add_string(
    StringTable *strings, const char *text, Py_ssize_t size, int32_t salt
) except -1:
    """Return the number of a string; add the string if it is absent."""
    cdef int32_t number = find_string(strings, text, size, salt)
    cdef uint64_t key
    if number >= 0:
        return number
    if strings.size + size > strings.capacity:
        grow(<void **>&strings.bytes, &strings.capacity, strings.size + size, 1)
    memcpy(strings.bytes + strings.size, text, <size_t>size)
    strings.size += size
    push(&strings.ends, <int32_t>strings.size)
    push(&strings.salts, salt)
    key = hash_bytes(text, size, salt)
    while find(&strings.numbers, key) >= 0:
        key += 2
    number = <int32_t>strings.ends.size - 1
    insert(&strings.numbers, key, number)
    return number


cdef inline void free_strings(StringTable *strings) noexcept nogil:
    free_map(&strings.numbers)
    free_vector(&strings.ends)
    free_vector(&strings.salts)
    free(strings.bytes)
    strings.bytes = NULL


cdef inline Py_ssize_t strings_bytes(const StringTable *strings) noexcept nogil:
    """Return the memory of the table, in bytes."""
    return (
        map_bytes(&strings.numbers)
        + strings.capacity
        + 4 * (strings.ends.capacity + strings.salts.capacity)
    )
