"""A growable array of ints and a hash map from 64-bit keys to ints, in plain C without the GIL.

A zeroed struct is an empty container. The owner frees it (`free_vector`, `free_map`). Capacity
doubles on growth; a failed allocation raises MemoryError.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset


cdef struct IntVector:
    int32_t *at
    Py_ssize_t size
    Py_ssize_t capacity


cdef inline int grow(
    void **at, Py_ssize_t *capacity, Py_ssize_t needed, size_t item_size
) except -1 nogil:
    """Reallocate an array for at least `needed` items."""
    cdef Py_ssize_t new_capacity = capacity[0] * 2 if capacity[0] else 16
    cdef void *moved
    while new_capacity < needed:
        new_capacity *= 2
    moved = realloc(at[0], <size_t>new_capacity * item_size)
    if moved == NULL:
        with gil:
            raise MemoryError
    at[0] = moved
    capacity[0] = new_capacity
    return 0


cdef inline int reserve(IntVector *vector, Py_ssize_t count) except -1 nogil:
    """Ensure capacity for `count` more items."""
    if vector.size + count > vector.capacity:
        grow(<void **>&vector.at, &vector.capacity, vector.size + count, sizeof(int32_t))
    return 0


cdef inline int push(IntVector *vector, int32_t value) except -1 nogil:
    if vector.size == vector.capacity:
        grow(<void **>&vector.at, &vector.capacity, vector.size + 1, sizeof(int32_t))
    vector.at[vector.size] = value
    vector.size += 1
    return 0


cdef inline int append(IntVector *vector, const int32_t *values, Py_ssize_t count) except -1 nogil:
    reserve(vector, count)
    memcpy(vector.at + vector.size, values, <size_t>count * sizeof(int32_t))
    vector.size += count
    return 0


cdef inline void free_vector(IntVector *vector) noexcept nogil:
    free(vector.at)
    vector.at = NULL
    vector.size = vector.capacity = 0


cdef inline bint has_bit(const uint64_t *bits, int32_t bit) noexcept nogil:
    return bits[bit >> 6] >> (bit & 63) & 1


# A hash map with open addressing and linear probing, at most two thirds full. Key 0 marks a free
# slot.

cdef struct MapSlot:
    uint64_t key
    int32_t value


cdef struct IntMap:
    MapSlot *at
    Py_ssize_t size
    uint64_t mask  # slots - 1; 0 while nothing is allocated


cdef inline uint64_t mix_bits(uint64_t key) noexcept nogil:
    key ^= key >> 32
    key *= <uint64_t>0x9E3779B97F4A7C15
    return key ^ (key >> 29)


cdef inline uint64_t pack_key(int32_t high, int32_t low) noexcept nogil:
    """Pack two non-negative ints into a key; never 0."""
    return ((<uint64_t><uint32_t>high + 1) << 32) | <uint32_t>low


cdef inline int32_t find(const IntMap *map, uint64_t key) noexcept nogil:
    """Return the value of a key, -1 if it is absent."""
    cdef uint64_t place
    if map.at == NULL:
        return -1
    place = mix_bits(key) & map.mask
    while map.at[place].key:
        if map.at[place].key == key:
            return map.at[place].value
        place = (place + 1) & map.mask
    return -1


cdef inline const MapSlot *home_slot(const IntMap *map, uint64_t key) noexcept nogil:
    """Return the slot at which the search for a key starts; the map must not be empty."""
    return &map.at[mix_bits(key) & map.mask]


cdef inline void _put(IntMap *map, uint64_t key, int32_t value) noexcept nogil:
    cdef uint64_t place = mix_bits(key) & map.mask
    while map.at[place].key:
        place = (place + 1) & map.mask
    map.at[place].key = key
    map.at[place].value = value


cdef inline int resize_map(IntMap *map, Py_ssize_t slots) except -1 nogil:
    """Rehash into `slots` slots, a power of two."""
    cdef MapSlot *old = map.at
    cdef Py_ssize_t count = <Py_ssize_t>map.mask + 1 if old != NULL else 0, index
    cdef MapSlot *new = <MapSlot *>calloc(<size_t>slots, sizeof(MapSlot))
    if new == NULL:
        with gil:
            raise MemoryError
    map.at = new
    map.mask = <uint64_t>slots - 1
    for index in range(count):
        if old[index].key:
            _put(map, old[index].key, old[index].value)
    free(old)
    return 0


cdef inline int insert(IntMap *map, uint64_t key, int32_t value) except -1 nogil:
    """Add a key; it must be absent."""
    if map.at == NULL:
        resize_map(map, 64)
    elif (map.size + 1) * 3 > (<Py_ssize_t>map.mask + 1) * 2:
        resize_map(map, (<Py_ssize_t>map.mask + 1) * 2)
    _put(map, key, value)
    map.size += 1
    return 0


cdef inline bint erase(IntMap *map, uint64_t key) noexcept nogil:
    """Remove a key if it is present (backward-shift deletion); return whether it was."""
    cdef uint64_t place, next, home
    if map.at == NULL:
        return False
    place = mix_bits(key) & map.mask
    while map.at[place].key != key:
        if not map.at[place].key:
            return False
        place = (place + 1) & map.mask
    next = place
    while True:
        next = (next + 1) & map.mask
        if not map.at[next].key:
            break
        home = mix_bits(map.at[next].key) & map.mask
        if ((next - home) & map.mask) >= ((next - place) & map.mask):
            map.at[place] = map.at[next]
            place = next
    map.at[place].key = 0
    map.size -= 1
    return True


cdef inline void clear_map(IntMap *map) noexcept nogil:
    """Remove all keys, keep the slots allocated."""
    if map.at != NULL:
        memset(map.at, 0, (<size_t>map.mask + 1) * sizeof(MapSlot))
    map.size = 0


cdef inline void free_map(IntMap *map) noexcept nogil:
    free(map.at)
    map.at = NULL
    map.size = 0
    map.mask = 0


cdef inline int64_t map_bytes(const IntMap *map) noexcept nogil:
    return (<int64_t>map.mask + 1) * <int64_t>sizeof(MapSlot) if map.at != NULL else 0
