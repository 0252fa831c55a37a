"""The nodes of one document, numbered in document order straight from libxml2's tree.

Numbers, region codes and string-values equal those of `pathcast.documents.Document`: node 0 is the
document, attributes follow their element, `right` is the last number inside. Adjacent characters
and CDATA are one text. The document type declaration and entity references are no nodes, but such
a reference ends a text.

Names are looked up among those that the conditions test. libxml2 interns the names of a document,
so each distinct pair of pointers (name, namespace) is compared by its bytes once. Names that no
condition tests are not listed. String-values stay in libxml2's memory; only those of elements with
several texts are concatenated, and memoized within a bound.

Cost: some 20 ns and 24 bytes a node. The tree must not change meanwhile.

>>> from lxml import etree
>>> number_document(etree.fromstring("<a x='1'>hot <b>tea</b></a>"))[1:4]
[(1, 0, 5, 'hot tea'), (2, 1, 2, '1'), (3, 1, 3, 'hot ')]
"""

cimport cython
from libc.stdint cimport INT32_MAX, int32_t, uint64_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport (
    Arena,
    ArenaMark,
    allocate,
    allocate_zeros,
    free_arena,
    mark,
    release,
)
from pathcast.matching.compiled.core.evaluator.program cimport NO_NAMESPACE, ConditionProgram
from pathcast.matching.compiled.core.evaluator.sets cimport NodeSet
from pathcast.matching.compiled.core.numbers cimport number_of
from pathcast.matching.compiled.core.strings cimport TextView, find_string
from pathcast.vectors cimport find, free_map, grow, insert, mix_bits, pack_key

__all__ = ["number_document"]

cetree.import_lxml__etree()

cdef enum:
    STRING_BUDGET = 4 * 1024 * 1024  # bytes; each level may repeat the text of the document


@cython.final
cdef class NumberedNodes:
    """The nodes of a document; one evaluation reads them."""

    def __cinit__(self, ConditionProgram conditions not None, cetree._Element root not None):
        self.root = root  # keeps libxml2's tree alive
        self.conditions = conditions
        self.program = &conditions.program
        self.string_budget = STRING_BUDGET

    def __dealloc__(self):
        free(self.at)
        free(self.names)
        free_map(&self.name_numbers)
        free_map(&self.slots)
        free_arena(&self.arena)

    # numbering

    cdef int number(self) except -1 nogil:
        """Number all nodes of the document."""
        cdef tree.xmlNode *node = self.root._doc._c_doc.children
        cdef int32_t parent = 0, text = -1, number
        self.size = 0
        memset(self.counts, 0, sizeof(self.counts))
        self._push(DOCUMENT_NODE, NULL, -1, 0)
        while node != NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                text = -1
                number = self._push(
                    ELEMENT_NODE, node, parent, self._name(node.name, node.ns, False)
                )
                if node.properties != NULL:
                    self._push_attributes(node, number)
                if node.children != NULL:
                    parent = number
                    node = node.children
                    continue
                self.at[number].right = <int32_t>self.size - 1
            elif node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE:
                if text >= 0:
                    self.at[text].name = 1
                elif parent:
                    text = self._push(TEXT_NODE, node, parent, 0)
            elif node.type == tree.XML_COMMENT_NODE:
                text = -1
                self._push(COMMENT_NODE, node, parent, 0)
            elif node.type == tree.XML_PI_NODE:
                text = -1
                self._push(PI_NODE, node, parent, 0)
            elif not _continues_text(node):
                text = -1
            while node.next == NULL and parent:
                text = -1
                node = <tree.xmlNode *>self.at[parent].at
                self.at[parent].right = <int32_t>self.size - 1
                parent = self.at[parent].parent
            node = node.next
        self.at[0].right = <int32_t>self.size - 1
        return 0

    cdef int32_t _push(self, int32_t kind, void *at, int32_t parent, int32_t name) except -1 nogil:
        cdef NumberedNode *node
        if self.size == self.capacity:
            if self.size > INT32_MAX // 2:
                with gil:
                    raise MemoryError
            grow(<void **>&self.at, &self.capacity, self.size + 1, sizeof(NumberedNode))
        node = self.at + self.size
        node.at = at
        node.parent = parent
        node.right = <int32_t>self.size
        node.name = name
        node.kind = kind
        self.counts[kind] += 1
        self.size += 1
        return node.right

    cdef int _push_attributes(self, tree.xmlNode *element, int32_t parent) except -1 nogil:
        cdef tree.xmlAttr *attribute = element.properties
        while attribute != NULL:
            if attribute.type == tree.XML_ATTRIBUTE_NODE:
                self._push(
                    ATTRIBUTE_NODE,
                    attribute,
                    parent,
                    self._name(attribute.name, attribute.ns, True),
                )
            attribute = attribute.next
        return 0

    # names

    cdef int32_t _name(
        self, const tree.xmlChar *local, tree.xmlNs *ns, bint attribute
    ) except -1 nogil:
        """Return the index of a name: by its pointers or, if these are new, by its bytes."""
        cdef uint64_t key = mix_bits(<uintptr_t>local * 31 + <uintptr_t>ns * 2 + attribute) | 1
        cdef int32_t index
        cdef DocumentName *name
        cdef const char *href
        while True:
            index = find(&self.name_numbers, key)
            if index < 0:
                break
            name = self.names + index
            if name.local == local and name.ns == ns and name.attribute == attribute:
                name.count += 1
                return index
            key += 2
        if self.name_count == self.name_capacity:
            grow(
                <void **>&self.names,
                &self.name_capacity,
                self.name_count + 1,
                sizeof(DocumentName),
            )
        name = self.names + self.name_count
        name.local = local
        name.ns = ns
        name.attribute = attribute
        name.label = -1
        name.space = NO_NAMESPACE
        name.slot = 0
        name.count = 1
        if ns != NULL and ns.href != NULL:
            href = <const char *>ns.href
            name.space = find_string(&self.program.namespaces, href, <Py_ssize_t>strlen(href), 0)
            name.space = name.space + 1 if name.space >= 0 else -1
        if name.space >= 0:
            name.label = find_string(
                &self.program.labels,
                <const char *>local,
                <Py_ssize_t>strlen(<const char *>local),
                name.space,
            )
        if name.label >= 0:
            name.slot = find(&self.slots, pack_key(name.label, attribute))
            if name.slot < 0:
                name.slot = <int32_t>self.slots.size + 1
                insert(&self.slots, pack_key(name.label, attribute), name.slot)
        insert(&self.name_numbers, key, <int32_t>self.name_count)
        self.name_count += 1
        return <int32_t>self.name_count - 1

    # node sets

    cdef const NodeSet *of_kind(self, int32_t kind) except NULL nogil:
        """Return all nodes of a kind."""
        cdef NodeSet *nodes = &self.kinds[kind]
        cdef int32_t number
        if nodes.at == NULL:
            nodes.at = <int32_t *>allocate(
                &self.arena, <size_t>self.counts[kind] * sizeof(int32_t)
            )
            for number in range(<int32_t>self.size):
                if self.at[number].kind == kind:
                    nodes.at[nodes.size] = number
                    nodes.size += 1
        return nodes

    cdef const NodeSet *of_label(self, int32_t label, bint attribute) except NULL nogil:
        """Return all elements, or attributes, with a name that some condition tests."""
        cdef int32_t slot = find(&self.slots, pack_key(label, attribute))
        if slot < 0:
            return &self.no_nodes
        if self.listed == NULL:
            self._list_names()
        return self.listed + slot

    cdef int _list_names(self) except -1 nogil:
        """List the nodes of all names that conditions test (counting sort by name)."""
        cdef Py_ssize_t slots = self.slots.size + 1, slot
        cdef NodeSet *listed = <NodeSet *>allocate_zeros(
            &self.arena, <size_t>slots * sizeof(NodeSet)
        )
        cdef NodeSet *into
        cdef int32_t *at
        cdef int32_t number, kind
        for number in range(<int32_t>self.name_count):
            listed[self.names[number].slot].size += self.names[number].count
        at = <int32_t *>allocate(
            &self.arena, <size_t>(self.size - listed[0].size) * sizeof(int32_t)
        )
        for slot in range(1, slots):
            listed[slot].at = at
            at += listed[slot].size
            listed[slot].size = 0
        for number in range(<int32_t>self.size):
            kind = self.at[number].kind
            if kind == ELEMENT_NODE or kind == ATTRIBUTE_NODE:
                slot = self.names[self.at[number].name].slot
                if slot:
                    into = listed + slot
                    into.at[into.size] = number
                    into.size += 1
        self.listed = listed
        return 0

    # values

    cdef int string_value(self, int32_t node, Arena *scratch, TextView *value) except -1 nogil:
        """Write a node's string-value; it lies in `scratch` if it cannot be memoized."""
        cdef NumberedNode *numbered = self.at + node
        cdef tree.xmlNode *first
        if self.strings == NULL:
            self.strings = <TextView *>allocate_zeros(
                &self.arena, <size_t>self.size * sizeof(TextView)
            )
        value[0] = self.strings[node]
        if value.at != NULL:
            return 0
        if numbered.kind <= ELEMENT_NODE:
            return self._element_string(node, scratch, value)
        if numbered.kind == ATTRIBUTE_NODE:
            first = (<tree.xmlAttr *>numbered.at).children
            if first != NULL and first.next != NULL:
                self._join_pieces(first, True, value)
            else:
                value[0] = _content(first)
        elif numbered.kind == TEXT_NODE and numbered.name:
            self._join_pieces(<tree.xmlNode *>numbered.at, False, value)
        else:
            value[0] = _content(<tree.xmlNode *>numbered.at)
        self.strings[node] = value[0]
        return 0

    cdef const NodeSet *_ranked_texts(self) except NULL nogil:
        """Return all texts; compute `ranks`, which gives those inside a node."""
        cdef int32_t number, texts = 0
        cdef int32_t *ranks
        if self.ranks == NULL:
            ranks = <int32_t *>allocate(&self.arena, <size_t>self.size * sizeof(int32_t))
            for number in range(<int32_t>self.size):
                texts += self.at[number].kind == TEXT_NODE
                ranks[number] = texts
            self.ranks = ranks
        return self.of_kind(TEXT_NODE)

    cdef double number_value(self, int32_t node, Arena *scratch) except? -1.0 nogil:
        """Return a node's string-value as a number."""
        cdef uint64_t *bits
        cdef TextView text
        cdef size_t size = <size_t>self.size * sizeof(double)
        if self.numbers == NULL:
            bits = <uint64_t *>allocate(&self.arena, size)
            memset(bits, 0xFF, size)  # a NaN that neither parsing nor arithmetic yields
            self.numbers = <double *>bits
        bits = <uint64_t *>self.numbers + node
        if bits[0] == <uint64_t>-1:
            self.string_value(node, scratch, &text)
            self.numbers[node] = number_of(text.at, text.size)
        return self.numbers[node]

    cdef bint starts_with(
        self, int32_t node, const char *text, Py_ssize_t size, bint exact, Arena *scratch
    ) except -1 nogil:
        """Return whether a node's string-value starts with a text or, if `exact`, equals it.

        Reads the texts of an element one by one, and stops at the first difference.
        """
        cdef const NodeSet *texts
        cdef Py_ssize_t index, last, part
        cdef TextView piece
        if self.at[node].kind > ELEMENT_NODE or (
            self.strings != NULL and self.strings[node].at != NULL
        ):
            self.string_value(node, scratch, &piece)
            if piece.size < size or (exact and piece.size > size):
                return False
            return memcmp(piece.at, text, <size_t>size) == 0
        texts = self._ranked_texts()
        index = self.ranks[node]
        last = self.ranks[self.at[node].right]
        if last - index == 1:
            self.string_value(node, scratch, &piece)  # memoizes it
            return self.starts_with(node, text, size, exact, scratch)
        while index < last and (size or exact):
            self.string_value(texts.at[index], scratch, &piece)
            if piece.size > size and exact:
                return False
            part = min(piece.size, size)
            if memcmp(piece.at, text, <size_t>part) != 0:
                return False
            text += part
            size -= part
            index += 1
        return size == 0

    cdef int _element_string(self, int32_t node, Arena *scratch, TextView *value) except -1 nogil:
        cdef const NodeSet *texts = self._ranked_texts()
        cdef Py_ssize_t first = self.ranks[node], last = self.ranks[self.at[node].right], index
        cdef TextView piece
        cdef char *at
        value.at = ""
        value.size = 0
        if last - first == 1:
            self.string_value(texts.at[first], scratch, value)
            self.strings[node] = value[0]
        elif last > first:
            for index in range(first, last):
                self.string_value(texts.at[index], scratch, &piece)
                value.size += piece.size
            if value.size <= self.string_budget:
                self.string_budget -= value.size
                at = <char *>allocate(&self.arena, <size_t>value.size)
                value.at = at
                self.strings[node] = value[0]
            else:
                at = <char *>allocate(scratch, <size_t>value.size)
                value.at = at
            for index in range(first, last):
                piece = self.strings[texts.at[index]]
                memcpy(at, piece.at, <size_t>piece.size)
                at += piece.size
        return 0

    cdef int _join_pieces(
        self, tree.xmlNode *first, bint attribute, TextView *value
    ) except -1 nogil:
        """Concatenate the pieces of an attribute's value, or of one text."""
        cdef TextView piece
        cdef tree.xmlNode *node = first
        cdef char *at
        value.size = 0
        while node != NULL and (attribute or _is_text(node) or _continues_text(node)):
            if _is_text(node):
                value.size += _content(node).size
            node = node.next
        at = <char *>allocate(&self.arena, <size_t>value.size)
        value.at = at
        node = first
        while node != NULL and (attribute or _is_text(node) or _continues_text(node)):
            if _is_text(node):
                piece = _content(node)
                memcpy(at, piece.at, <size_t>piece.size)
                at += piece.size
            node = node.next
        return 0


cdef inline bint _is_text(const tree.xmlNode *node) noexcept nogil:
    return node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE


cdef inline bint _continues_text(const tree.xmlNode *node) noexcept nogil:
    """Return whether a text continues behind the node."""
    return node.type == tree.XML_XINCLUDE_START or node.type == tree.XML_XINCLUDE_END


cdef inline TextView _content(const tree.xmlNode *node) noexcept nogil:
    cdef TextView content
    content.at = ""
    if node != NULL and node.content != NULL:
        content.at = <const char *>node.content
    content.size = <Py_ssize_t>strlen(content.at)
    return content


def number_document(cetree._Element root not None):
    """Return (kind, parent, right, string-value) of each node of root's document, for tests."""
    cdef NumberedNodes nodes = NumberedNodes(ConditionProgram(), root)
    cdef Arena scratch
    cdef TextView text
    cdef NumberedNode node
    cdef ArenaMark bottom
    cdef Py_ssize_t number
    scratch.top = scratch.spare = NULL
    bottom = mark(&scratch)
    nodes.number()
    rows = []
    try:
        for number in range(nodes.size):
            node = nodes.at[number]
            nodes.string_value(<int32_t>number, &scratch, &text)
            rows.append((node.kind, node.parent, node.right, text.at[: text.size].decode()))
            release(&scratch, bottom)
    finally:
        free_arena(&scratch)
    return rows
