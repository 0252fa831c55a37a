"""normalize-space() and translate() on texts in UTF-8, in chains.

A chain is a sequence of calls, each applied to the result of the one before. `add` compiles it
once: a translation has a table for the ASCII characters, so a character costs one look-up.

>>> functions = StringFunctions()
>>> functions.call([("normalize-space",), ("translate", "ABC", "ab")], "  CAB  a ")
'ab a'
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy

from pathcast.matching.compiled.core.evaluator.arena cimport Arena, allocate, free_arena
from pathcast.matching.compiled.core.strings cimport TextView
from pathcast.vectors cimport free_vector, grow, push


cdef class StringFunctions:
    """Compiled chains of string functions, by number."""

    def __cinit__(self):
        self.translations = NULL

    def __init__(self):
        self._numbers = {}
        self._arguments = []

    def __dealloc__(self):
        free(self.translations)
        free_vector(&self.calls)
        free_vector(&self.ends)

    def __len__(self):
        return self.ends.size

    def call(self, functions, str text not None):
        """Return the result of a chain of functions for a text; for tests."""
        cdef bytes encoded = text.encode()
        cdef TextView view = TextView(encoded, len(encoded))
        cdef Arena arena = Arena(NULL, NULL)
        try:
            self.apply(self.add(functions), &view, &arena)
            return view.at[: view.size].decode()
        finally:
            free_arena(&arena)

    cdef int32_t add(self, functions) except -1:
        """Return the number of a chain: tuples of a function's name and its arguments."""
        chain = tuple([tuple(function) for function in functions])
        if chain not in self._numbers:
            for name, *arguments in chain:
                if name == "translate":
                    push(&self.calls, <int32_t>self.translation_count)
                    self._add_translation(arguments[0], arguments[1])
                elif name == "normalize-space":
                    push(&self.calls, NORMALIZE_SPACE)
                else:
                    raise ValueError(f"no string function: {name}")
            push(&self.ends, <int32_t>self.calls.size)
            self._numbers[chain] = self.ends.size - 1
        return self._numbers[chain]

    cdef int _add_translation(self, str replaced, str replacements) except -1:
        cdef Translation *translation
        cdef Py_ssize_t place = 0, replacement = 0
        cdef int character
        if self.translation_count == self.translation_capacity:
            grow(
                <void **>&self.translations,
                &self.translation_capacity,
                self.translation_count + 1,
                sizeof(Translation),
            )
        translation = &self.translations[self.translation_count]
        self.translation_count += 1
        translation.replaced = self._argument(replaced)
        translation.replacements = self._argument(replacements)
        translation.widest = 1
        for character in range(128):
            translation.places[character] = UNCHANGED
        while replacement < translation.replacements.size:
            translation.widest = max(
                translation.widest, _character_size(translation.replacements.at + replacement)
            )
            replacement += _character_size(translation.replacements.at + replacement)
        replacement = 0
        while place < translation.replaced.size:
            character = <unsigned char>translation.replaced.at[place]
            if character < 128 and translation.places[character] == UNCHANGED:
                translation.places[character] = <int32_t>replacement  # the first one counts
            place += _character_size(translation.replaced.at + place)
            if replacement < translation.replacements.size:
                replacement += _character_size(translation.replacements.at + replacement)
        return 0

    cdef TextView _argument(self, str text):
        cdef bytes encoded = text.encode("utf-8", "surrogatepass")
        self._arguments.append(encoded)
        return TextView(encoded, len(encoded))

    cdef int apply(self, int32_t chain, TextView *text, Arena *arena) except -1 nogil:
        """Replace a text by the result of a chain of functions; the result lies in an arena."""
        cdef int32_t at
        for at in range(self.ends.at[chain - 1] if chain else 0, self.ends.at[chain]):
            if self.calls.at[at] == NORMALIZE_SPACE:
                _normalize_space(text, arena)
            else:
                _translate(text, &self.translations[self.calls.at[at]], arena)
        return 0

    @property
    def memory(self):
        """The memory of the chains, in bytes."""
        return (
            self.translation_capacity * <Py_ssize_t>sizeof(Translation)
            + 4 * (self.calls.capacity + self.ends.capacity)
        )


cdef int _normalize_space(TextView *text, Arena *arena) except -1 nogil:
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


cdef int _translate(
    TextView *text, const Translation *translation, Arena *arena
) except -1 nogil:
    """Replace characters by others, or remove them where there are fewer others."""
    cdef Py_ssize_t index = 0, size = 0, width
    cdef Py_ssize_t place
    cdef unsigned char first
    cdef const char *source
    cdef char *at = <char *>allocate(arena, <size_t>(text.size * translation.widest))
    while index < text.size:
        first = <unsigned char>text.at[index]
        width = 1
        if first < 0x80:
            place = translation.places[first]
        else:
            width = _character_size(text.at + index)
            place = _find_replacement(text.at + index, width, translation)
        source = text.at + index
        index += width
        if place != UNCHANGED:
            if place >= translation.replacements.size:
                continue  # removed
            source = translation.replacements.at + place
            width = _character_size(source)
        if width == 1:
            at[size] = source[0]
        else:
            memcpy(at + size, source, <size_t>width)
        size += width
    text.at = at
    text.size = size
    return 0


cdef Py_ssize_t _find_replacement(
    const char *character, Py_ssize_t size, const Translation *translation
) noexcept nogil:
    """Return the place of the replacement of a character; behind their end: it is removed."""
    cdef Py_ssize_t place = 0, replacement = 0, width
    while place < translation.replaced.size:
        width = _character_size(translation.replaced.at + place)
        if width == size and (
            memcmp(translation.replaced.at + place, character, <size_t>size) == 0
        ):
            return replacement
        place += width
        if replacement < translation.replacements.size:
            replacement += _character_size(translation.replacements.at + replacement)
    return UNCHANGED


cdef int32_t _character_size(const char *at) noexcept nogil:
    """Return the number of bytes of a UTF-8 character, by its first byte."""
    cdef unsigned char first = <unsigned char>at[0]
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4
