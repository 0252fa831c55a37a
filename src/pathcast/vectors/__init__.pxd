"""Growing arrays and a hash table of 64-bit keys, in plain C, for code that runs without the interpreter.

Whoever declares one starts it zeroed and frees it; growing doubles, and fails with MemoryError.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset


cdef struct Ints:
    int32_t *at
    Py_ssize_t size
    Py_ssize_t room


cdef inline int _grow(void **at, Py_ssize_t *room, Py_ssize_t wanted, size_t item) except -1 nogil:
    cdef Py_ssize_t new = room[0] * 2 if room[0] else 16
    cdef void *moved
    while new < wanted:
        new *= 2
    moved = realloc(at[0], <size_t>new * item)
    if moved == NULL:
        with gil:
            raise MemoryError
    at[0] = moved
    room[0] = new
    return 0


cdef inline int reserve(Ints *ints, Py_ssize_t more) except -1 nogil:
    """Room for so many more."""
    if ints.size + more > ints.room:
        _grow(<void **>&ints.at, &ints.room, ints.size + more, sizeof(int32_t))
    return 0


cdef inline int push(Ints *ints, int32_t value) except -1 nogil:
    if ints.size == ints.room:
        _grow(<void **>&ints.at, &ints.room, ints.size + 1, sizeof(int32_t))
    ints.at[ints.size] = value
    ints.size += 1
    return 0


cdef inline int append(Ints *ints, const int32_t *values, Py_ssize_t count) except -1 nogil:
    reserve(ints, count)
    memcpy(ints.at + ints.size, values, <size_t>count * sizeof(int32_t))
    ints.size += count
    return 0


cdef inline void drop(Ints *ints) noexcept nogil:
    free(ints.at)
    ints.at = NULL
    ints.size = ints.room = 0


cdef inline bint has(const uint64_t *bits, int32_t bit) noexcept nogil:
    """Whether a bit of a row is set."""
    return bits[bit >> 6] >> (bit & 63) & 1


# A hash table of 64-bit keys (never 0) and 32-bit values: open addressing, at most two thirds full.

cdef struct Slot:
    uint64_t key
    int32_t value


cdef struct Table:
    Slot *at
    Py_ssize_t size
    uint64_t mask  # room - 1, or 0 while there is none


cdef inline uint64_t mixed(uint64_t key) noexcept nogil:
    key ^= key >> 32
    key *= <uint64_t>0x9E3779B97F4A7C15
    return key ^ (key >> 29)


cdef inline uint64_t joined(int32_t high, int32_t low) noexcept nogil:
    """Two numbers from 0 as a key that is never 0."""
    return ((<uint64_t><uint32_t>high + 1) << 32) | <uint32_t>low


cdef inline int32_t find(const Table *table, uint64_t key) noexcept nogil:
    """The value of a key, or -1."""
    cdef uint64_t place
    if table.at == NULL:
        return -1
    place = mixed(key) & table.mask
    while table.at[place].key:
        if table.at[place].key == key:
            return table.at[place].value
        place = (place + 1) & table.mask
    return -1


cdef inline const Slot *slot_of(const Table *table, uint64_t key) noexcept nogil:
    """Where a key is looked for first; there must be a table."""
    return &table.at[mixed(key) & table.mask]


cdef inline void _put(Table *table, uint64_t key, int32_t value) noexcept nogil:
    cdef uint64_t place = mixed(key) & table.mask
    while table.at[place].key:
        place = (place + 1) & table.mask
    table.at[place].key = key
    table.at[place].value = value


cdef inline int resize(Table *table, Py_ssize_t room) except -1 nogil:
    """Make room for `room` slots, a power of two."""
    cdef Slot *old = table.at
    cdef Py_ssize_t count = <Py_ssize_t>table.mask + 1 if old != NULL else 0, index
    cdef Slot *new = <Slot *>calloc(<size_t>room, sizeof(Slot))
    if new == NULL:
        with gil:
            raise MemoryError
    table.at = new
    table.mask = <uint64_t>room - 1
    for index in range(count):
        if old[index].key:
            _put(table, old[index].key, old[index].value)
    free(old)
    return 0


cdef inline int insert(Table *table, uint64_t key, int32_t value) except -1 nogil:
    """Add a key that is not there yet."""
    if table.at == NULL:
        resize(table, 64)
    elif (table.size + 1) * 3 > (<Py_ssize_t>table.mask + 1) * 2:
        resize(table, (<Py_ssize_t>table.mask + 1) * 2)
    _put(table, key, value)
    table.size += 1
    return 0


cdef inline bint erase(Table *table, uint64_t key) noexcept nogil:
    """Take a key out, if it is there; those that had to make room for it move up."""
    cdef uint64_t place, next, home
    if table.at == NULL:
        return False
    place = mixed(key) & table.mask
    while table.at[place].key != key:
        if not table.at[place].key:
            return False
        place = (place + 1) & table.mask
    next = place
    while True:
        next = (next + 1) & table.mask
        if not table.at[next].key:
            break
        home = mixed(table.at[next].key) & table.mask
        if ((next - home) & table.mask) >= ((next - place) & table.mask):
            table.at[place] = table.at[next]
            place = next
    table.at[place].key = 0
    table.size -= 1
    return True


cdef inline void empty(Table *table) noexcept nogil:
    """Forget everything, keep the room."""
    if table.at != NULL:
        memset(table.at, 0, (<size_t>table.mask + 1) * sizeof(Slot))
    table.size = 0


cdef inline void discard(Table *table) noexcept nogil:
    free(table.at)
    table.at = NULL
    table.size = 0
    table.mask = 0


cdef inline int64_t table_bytes(const Table *table) noexcept nogil:
    return (<int64_t>table.mask + 1) * <int64_t>sizeof(Slot) if table.at != NULL else 0
