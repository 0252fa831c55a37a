"""An arena: bump allocation that is released all at once, or down to a mark.

Blocks never move, so an allocation stays valid until it is released. Temporary lists form a stack:
take a mark, allocate, release to the mark. The arena keeps one spare block, so that crossing a
block's edge repeatedly costs no malloc.
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


cdef struct ArenaMark:
    ArenaBlock *block
    size_t used


cdef enum:
    _HEADER_BYTES = 32  # of a block; a multiple of the alignment
    _MIN_BLOCK_BYTES = 16 * 1024
    _MAX_BLOCK_BYTES = 1024 * 1024


cdef inline int _add_block(Arena *arena, size_t size) except -1 nogil:
    cdef ArenaBlock *block = arena.spare
    cdef size_t capacity = _MIN_BLOCK_BYTES if arena.top == NULL else 2 * arena.top.capacity
    if block != NULL and block.capacity >= size:
        arena.spare = NULL
    else:
        capacity = max(min(capacity, <size_t>_MAX_BLOCK_BYTES), size)
        block = <ArenaBlock *>malloc(_HEADER_BYTES + capacity)
        if block == NULL:
            with gil:
                raise MemoryError
        block.capacity = capacity
    block.used = 0
    block.below = arena.top
    arena.top = block
    return 0


cdef inline void *allocate(Arena *arena, size_t size) except NULL nogil:
    """Return `size` bytes, aligned to 16; never NULL."""
    cdef void *memory
    size = (size + 15) & ~<size_t>15
    if arena.top == NULL or arena.top.capacity - arena.top.used < size:
        _add_block(arena, size)
    memory = <char *>arena.top + _HEADER_BYTES + arena.top.used
    arena.top.used += size
    return memory


cdef inline void *allocate_zeros(Arena *arena, size_t size) except NULL nogil:
    cdef void *memory = allocate(arena, size)
    memset(memory, 0, size)
    return memory


cdef inline ArenaMark mark(const Arena *arena) noexcept nogil:
    cdef ArenaMark here
    here.block = arena.top
    here.used = arena.top.used if arena.top != NULL else 0
    return here


cdef inline void release(Arena *arena, ArenaMark to) noexcept nogil:
    """Release all allocations since the mark."""
    cdef ArenaBlock *block
    cdef ArenaBlock *old_spare
    while arena.top != to.block:
        block = arena.top
        arena.top = block.below
        old_spare = arena.spare
        if old_spare == NULL or old_spare.capacity < block.capacity:
            arena.spare = block
            block = old_spare
        if block != NULL:
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
