"""normalize-space() and translate() on UTF-8 texts; results lie in an arena."""

from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy

from pathcast.matching.compiled.core.evaluator.arena cimport Arena, allocate
from pathcast.matching.compiled.core.strings cimport TextView


cdef inline int normalize_space(TextView *text, Arena *arena) except -1 nogil:
    """Strip white space at both ends; replace each run of it inside by one space."""
    cdef char *at = <char *>allocate(arena, <size_t>text.size)
    cdef Py_ssize_t index, size = 0
    cdef bint pending = False
    cdef char character
    for index in range(text.size):
        character = text.at[index]
        if character == b" " or character == b"\t" or character == b"\r" or character == b"\n":
            pending = size > 0
            continue
        if pending:
            at[size] = b" "
            size += 1
            pending = False
        at[size] = character
        size += 1
    text.at = at
    text.size = size
    return 0


cdef inline Py_ssize_t _character_size(const char *at) noexcept nogil:
    """Return the number of bytes of a UTF-8 character, by its first byte."""
    cdef unsigned char first = <unsigned char>at[0]
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4


cdef enum:
    _UNKNOWN = -2
    _UNCHANGED = -1


cdef inline Py_ssize_t _replacement(
    const char *character, Py_ssize_t size, const TextView *old, const TextView *new
) noexcept nogil:
    """Return where in `new` the replacement of a character starts; behind its end: removed."""
    cdef Py_ssize_t place = 0, replacement = 0, width
    while place < old.size:
        width = _character_size(old.at + place)
        if width == size and memcmp(old.at + place, character, <size_t>size) == 0:
            return replacement
        place += width
        if replacement < new.size:
            replacement += _character_size(new.at + replacement)
    return _UNCHANGED


cdef inline int translate(
    TextView *text, const TextView *old, const TextView *new, Arena *arena
) except -1 nogil:
    """Replace the characters of `old` by those of `new`, or remove them where `new` is shorter."""
    cdef Py_ssize_t replacements[128]
    cdef Py_ssize_t index, size = 0, width, replacement, widest = 1
    cdef unsigned char first
    cdef char *at
    for index in range(128):
        replacements[index] = _UNKNOWN
    for index in range(new.size):
        if <unsigned char>new.at[index] >= 0x80:
            widest = 4
            break
    at = <char *>allocate(arena, <size_t>(text.size * widest))
    index = 0
    while index < text.size:
        first = <unsigned char>text.at[index]
        width = _character_size(text.at + index)
        replacement = replacements[first] if first < 0x80 else _UNKNOWN
        if replacement == _UNKNOWN:
            replacement = _replacement(text.at + index, width, old, new)
            if first < 0x80:
                replacements[first] = replacement
        if replacement == _UNCHANGED:
            memcpy(at + size, text.at + index, <size_t>width)
            size += width
        elif replacement < new.size:
            memcpy(
                at + size,
                new.at + replacement,
                <size_t>_character_size(new.at + replacement),
            )
            size += _character_size(new.at + replacement)
        index += width
    text.at = at
    text.size = size
    return 0
