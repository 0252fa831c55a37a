"""Memory that is given back all at once, or down to a mark: what the evaluation of one document
lives on.

Blocks never move, so what was taken stays where it is until it is released. A stack of
temporary lists takes a mark, and releases to it; one block is kept at hand, so that crossing
its edge again and again costs nothing.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef struct ArenaBlock:
    ArenaBlock *below
    size_t capacity
    size_t used


cdef struct Arena:
    ArenaBlock *top
    ArenaBlock *spare
    size_t total


cdef struct ArenaMark:
    ArenaBlock *block
    size_t used


cdef enum:
    _HEAD = 32  # of a block, and what follows it is aligned
    _LEAST = 16 * 1024
    _MOST = 1024 * 1024


cdef inline int _extend(Arena *arena, size_t size) except -1 nogil:
    cdef ArenaBlock *block = arena.spare
    cdef size_t room = _LEAST if arena.top == NULL else 2 * arena.top.capacity
    if block != NULL and block.capacity >= size:
        arena.spare = NULL
    else:
        room = max(min(room, <size_t>_MOST), size)
        block = <ArenaBlock *>malloc(_HEAD + room)
        if block == NULL:
            with gil:
                raise MemoryError
        block.capacity = room
        arena.total += room
    block.used = 0
    block.below = arena.top
    arena.top = block
    return 0


cdef inline void *allocate(Arena *arena, size_t size) except NULL nogil:
    """So many bytes, aligned for anything; never NULL."""
    cdef void *found
    size = (size + 15) & ~<size_t>15
    if arena.top == NULL or arena.top.capacity - arena.top.used < size:
        _extend(arena, size)
    found = <char *>arena.top + _HEAD + arena.top.used
    arena.top.used += size
    return found


cdef inline void *allocate_zeroed(Arena *arena, size_t size) except NULL nogil:
    cdef void *found = allocate(arena, size)
    memset(found, 0, size)
    return found


cdef inline ArenaMark mark(const Arena *arena) noexcept nogil:
    cdef ArenaMark here
    here.block = arena.top
    here.used = arena.top.used if arena.top != NULL else 0
    return here


cdef inline void release(Arena *arena, ArenaMark to) noexcept nogil:
    """Give back all that was taken since the mark."""
    cdef ArenaBlock *block
    cdef ArenaBlock *other
    while arena.top != to.block:
        block = arena.top
        arena.top = block.below
        other = arena.spare
        if other == NULL or other.capacity < block.capacity:
            arena.spare = block
            block = other
        if block != NULL:
            arena.total -= block.capacity
            free(block)
    if arena.top != NULL:
        arena.top.used = to.used


cdef inline void free_arena(Arena *arena) noexcept nogil:
    cdef ArenaMark bottom
    bottom.block = NULL
    bottom.used = 0
    release(arena, bottom)
    free(arena.spare)
    arena.spare = NULL
    arena.total = 0
