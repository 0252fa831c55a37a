"""Name look-up: from the names of a document to the codes of the subscriptions' node tests.

`NameTable` finds a code by the bytes of a name. libxml2 interns all names in a dictionary, so a
name keeps its address as long as that dictionary exists: `NameCache` maps addresses to codes, and
most names are never hashed by their bytes again. The owner clears the cache when the dictionary
changes.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport strlen
from lxml.includes cimport tree

from pathcast.matching.compiled.core.labels cimport NAME_KEY, UNKNOWN_NAME, Vocabulary
from pathcast.matching.compiled.core.strings cimport (
    add_string,
    find_string,
    free_strings,
    strings_bytes,
)
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
    _MAX_ADDRESSES = 65536  # the cache starts again when it is full
    _NAMESPACE_BITS = 17


cdef class NameTable:
    """Names, namespaces and targets of processing instructions; immutable once it is in use."""

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary

    def __dealloc__(self):
        free_strings(&self.names)
        free_strings(&self.namespaces)
        free_strings(&self.targets)
        free_vector(&self.name_codes)
        free_vector(&self.namespace_codes)
        free_vector(&self.target_codes)
        free_map(&self.codes)
        free_map(&self.namespaces_by_name)
        free_map(&self.namespace_set)

    cdef int add(self, int32_t code) except -1:
        """Add the key of a code; it must be absent."""
        cdef str key
        cdef bytes text
        cdef int32_t namespace = 0
        insert(&self.codes, pack_key(code, 0), 1)
        if self.vocabulary.kinds.at[code] == NAME_KEY:
            text = self.vocabulary.encoded[code]
            add_string(&self.names, text, len(text), 0)
            push(&self.name_codes, code)
            return 0
        key = self.vocabulary.keys[code]
        if key.startswith("?"):
            text = key[1:].encode()
            if add_string(&self.targets, text, len(text), 0) == self.target_codes.size:
                push(&self.target_codes, code)
            return 0
        if key.startswith("{"):
            uri, _, key = key[1:].rpartition("}")
            namespace = self.vocabulary.intern(f"{{{uri}}}*")
            text = uri.encode()
            if add_string(&self.namespaces, text, len(text), 0) == self.namespace_codes.size:
                push(&self.namespace_codes, namespace)
                insert(&self.namespace_set, pack_key(namespace, 0), 1)
            if key == "*":
                return 0
            insert(&self.namespaces_by_name, pack_key(code, 0), namespace)
        text = key.encode()
        add_string(&self.names, text, len(text), namespace)
        push(&self.name_codes, code)
        return 0

    cdef bint has_code(self, int32_t code) noexcept nogil:
        return find(&self.codes, pack_key(code, 0)) >= 0

    cdef int32_t namespace_of(self, int32_t code) noexcept nogil:
        """Return the code of a name's namespace, -1 if it has none."""
        return find(&self.namespaces_by_name, pack_key(code, 0))

    cdef bint is_namespace(self, int32_t code) noexcept nogil:
        return find(&self.namespace_set, pack_key(code, 0)) >= 0

    cdef int32_t target(self, const tree.xmlChar *name) noexcept nogil:
        """Return the code of an instruction's target; UNKNOWN_NAME if no subscription tests it."""
        cdef int32_t index = find_string(
            &self.targets, <const char *>name, <Py_ssize_t>strlen(<const char *>name), 0
        )
        return self.target_codes.at[index] if index >= 0 else UNKNOWN_NAME

    @property
    def memory(self):
        """The memory of the table, in bytes."""
        return (
            strings_bytes(&self.names)
            + map_bytes(&self.codes)
            + map_bytes(&self.namespaces_by_name)
        )


cdef class NameCache:
    """Codes by the addresses of names; used by one thread, with one `NameTable` until cleared."""

    def __dealloc__(self):
        free_map(&self.codes)

    cdef void clear(self) noexcept nogil:
        clear_map(&self.codes)

    cdef void start_document(self) noexcept nogil:
        """Forget the last namespace node: it belonged to the previous document."""
        self._namespace = NULL

    cdef int32_t code(
        self, NameTable names, const tree.xmlChar *name, tree.xmlNs *namespace
    ) except -1 nogil:
        """Return the code of a name, else that of its namespace, else UNKNOWN_NAME."""
        cdef int32_t number = 0, code
        cdef uint64_t key
        if namespace != NULL and namespace.href != NULL and namespace.href[0] != 0:
            if namespace != self._namespace:
                self._namespace = namespace
                self._namespace_number = 1 + find_string(
                    &names.namespaces,
                    <const char *>namespace.href,
                    <Py_ssize_t>strlen(<const char *>namespace.href),
                    0,
                )
            number = self._namespace_number
            if number == 0:
                return UNKNOWN_NAME
        key = <uint64_t>name << _NAMESPACE_BITS | <uint64_t>number
        if number < 1 << _NAMESPACE_BITS:
            code = find(&self.codes, key)
            if code >= 0:
                return code
        code = find_string(
            &names.names,
            <const char *>name,
            <Py_ssize_t>strlen(<const char *>name),
            names.namespace_codes.at[number - 1] if number else 0,
        )
        if code >= 0:
            code = names.name_codes.at[code]
        else:
            code = names.namespace_codes.at[number - 1] if number else UNKNOWN_NAME
        if number < 1 << _NAMESPACE_BITS:
            if self.codes.size >= _MAX_ADDRESSES:
                clear_map(&self.codes)
            insert(&self.codes, key, code)
        return code
