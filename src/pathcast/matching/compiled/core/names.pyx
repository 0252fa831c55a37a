"""The names that subscriptions ask for, and which of them a name of a document is.

`Names` are found by their text. That is done once: libxml2 keeps one copy of every name as long as its dictionary lives, so
that `Addresses` remember what an address stood for. Whoever uses them makes sure that this is so
(`forget` when the dictionary changes).
"""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport strlen
from lxml.includes cimport tree

from pathcast.matching.compiled.core.labels cimport A_NAME, OTHER, Vocabulary
from pathcast.matching.compiled.core.strings cimport string_add, string_number, strings_bytes, strings_drop
from pathcast.vectors cimport (
    clear_map,
    find,
    free_map,
    free_vector,
    insert,
    map_bytes,
    pack_key,
    push,
)

cdef enum:
    _MOST = 65536  # addresses that are remembered
    _SPACE_BITS = 17


cdef class Names:
    """Names, namespaces and targets of processing instructions, with their codes; not changed once it is used."""

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary

    def __dealloc__(self):
        strings_drop(&self.names)
        strings_drop(&self.spaces)
        strings_drop(&self.targets)
        free_vector(&self.name_codes)
        free_vector(&self.space_codes)
        free_vector(&self.target_codes)
        free_map(&self.known)
        free_map(&self.space_of)
        free_map(&self.space_set)

    cdef int add(self, int32_t code) except -1:
        """One more; not twice the same."""
        cdef str key
        cdef bytes text
        cdef int32_t space = 0
        insert(&self.known, pack_key(code, 0), 1)
        if self.vocabulary.kinds.at[code] == A_NAME:
            text = self.vocabulary.encoded[code]
            string_add(&self.names, text, len(text), 0)
            push(&self.name_codes, code)
            return 0
        key = self.vocabulary.keys[code]
        if key.startswith("?"):
            text = key[1:].encode()
            if string_add(&self.targets, text, len(text), 0) == self.target_codes.size:
                push(&self.target_codes, code)
            return 0
        if key.startswith("{"):
            uri, _, key = key[1:].rpartition("}")
            space = self.vocabulary.intern(f"{{{uri}}}*")
            text = uri.encode()
            if string_add(&self.spaces, text, len(text), 0) == self.space_codes.size:
                push(&self.space_codes, space)
                insert(&self.space_set, pack_key(space, 0), 1)
            if key == "*":
                return 0
            insert(&self.space_of, pack_key(code, 0), space)
        text = key.encode()
        string_add(&self.names, text, len(text), space)
        push(&self.name_codes, code)
        return 0

    cdef bint has(self, int32_t code) noexcept nogil:
        """Whether a code was added."""
        return find(&self.known, pack_key(code, 0)) >= 0

    cdef int32_t space(self, int32_t code) noexcept nogil:
        """The code of a name's namespace, -1 if it has none."""
        return find(&self.space_of, pack_key(code, 0))

    cdef bint is_space(self, int32_t code) noexcept nogil:
        """Whether a code stands for a namespace."""
        return find(&self.space_set, pack_key(code, 0)) >= 0

    cdef int32_t target(self, const tree.xmlChar *name) noexcept nogil:
        """The code of the target of a processing instruction, OTHER if nobody asks for it."""
        cdef int32_t found = string_number(
            &self.targets, <const char *>name, <Py_ssize_t>strlen(<const char *>name), 0
        )
        return self.target_codes.at[found] if found >= 0 else OTHER

    @property
    def memory(self):
        """Bytes."""
        return strings_bytes(&self.names) + map_bytes(&self.known) + map_bytes(&self.space_of)


cdef class Addresses:
    """What the addresses of names stand for; used by one thread at a time, and with the same names until it forgets."""

    def __dealloc__(self):
        free_map(&self.codes)

    cdef void forget(self) noexcept nogil:
        """Addresses may stand for other names from now on."""
        clear_map(&self.codes)

    cdef void begin(self) noexcept nogil:
        """Before a document: namespaces are its own."""
        self._space = NULL

    cdef int32_t code(self, Names names, const tree.xmlChar *name, tree.xmlNs *space) except -1 nogil:
        """The code of a name: its own, that of its namespace, or OTHER."""
        cdef int32_t number = 0, code
        cdef uint64_t key
        if space != NULL and space.href != NULL and space.href[0] != 0:
            if space != self._space:
                self._space = space
                self._space_number = 1 + string_number(
                    &names.spaces,
                    <const char *>space.href,
                    <Py_ssize_t>strlen(<const char *>space.href),
                    0,
                )
            number = self._space_number
            if number == 0:
                return OTHER
        key = <uint64_t>name << _SPACE_BITS | <uint64_t>number
        if number < 1 << _SPACE_BITS:
            code = find(&self.codes, key)
            if code >= 0:
                return code
        code = string_number(
            &names.names,
            <const char *>name,
            <Py_ssize_t>strlen(<const char *>name),
            names.space_codes.at[number - 1] if number else 0,
        )
        if code >= 0:
            code = names.name_codes.at[code]
        else:
            code = names.space_codes.at[number - 1] if number else OTHER
        if number < 1 << _SPACE_BITS:
            if self.codes.size >= _MOST:
                clear_map(&self.codes)
            insert(&self.codes, key, code)
        return code
