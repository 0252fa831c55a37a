"""Does a condition hold in this document? The twig join by region codes, on libxml2's own tree.

The same answers as `pathcast.matching.plain.evaluate`, by the same joins; that module tells how they
work. What is different is where things are: nodes are numbered from libxml2's tree when the
first condition is asked for, conditions are numbers in `Conditions`, and what is known about
streams, steps and paths is found by these numbers. The ends of paths are remembered too, and
whatever is asked at the document node.

One evaluation belongs to one thread; any number of them may read the same `Conditions`. `ask`
needs no lock.

>>> from lxml import etree
>>> from pathcast.xpath import parse
>>> conditions = ConditionProgram()
>>> handle = conditions.add(parse("//item[price > 9][not(@sold)]").condition)
>>> shop = etree.fromstring("<shop><item><price>10</price></item></shop>")
>>> Evaluation(conditions, shop).holds(handle)
True
"""

cimport cython
from libc.math cimport NAN
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from pathcast.matching.compiled.core.evaluator.arena cimport ArenaMark, mark, release
from pathcast.matching.compiled.core.evaluator.program cimport (
    ALWAYS,
    AND,
    ANY,
    COMMENT,
    COUNT,
    EXISTS,
    FIRST,
    INSTRUCTION,
    NODE,
    NOT,
    OR,
    POSITION,
    TEXT,
    VALUE_LENGTH,
    VALUE_NUMBER,
    VALUE_STARTS_WITH,
    VALUE_STRING,
    CompiledPath,
    NodeStream,
)
from pathcast.matching.compiled.core.evaluator.joins cimport lookup
from pathcast.matching.compiled.core.evaluator.nodes cimport (
    COMMENT_NODE,
    ELEMENT_NODE,
    PI_NODE,
    TEXT_NODE,
)
from pathcast.matching.compiled.core.evaluator.sets cimport NodeSet
from pathcast.matching.compiled.core.predicates cimport (
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    LESS_OR_EQUAL,
)
from pathcast.matching.compiled.core.strings cimport StringTable, TextView
from pathcast.vectors cimport find, pack_key

from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["ConditionProgram", "Evaluation"]

cdef extern from "string.h":
    void *memmem(const void *text, size_t size, const void *part, size_t length) noexcept nogil


@cython.final
cdef class Evaluation(StepJoins):
    """Conditions on one document."""

    def holds(self, Py_ssize_t handle):
        """Whether a condition holds at the document node."""
        if not 0 <= handle < self.count:
            raise IndexError(f"no condition had the number {handle} when the document came")
        return self.evaluate(<int32_t>handle)

    cdef bint evaluate(self, int32_t handle) except -1 nogil:
        """The same, for those who know that there is such a condition."""
        cdef int32_t place, index
        cdef ArenaMark before
        if self.at == NULL:
            self.start()
        before = mark(&self.scratch)
        try:
            place = find(&self.program.deep, pack_key(handle, 0))
            if place >= 0:  # so that no evaluation recurses far
                for index in range(self.program.ordered.at[place]):
                    self.candidates(self.program.ordered.at[place + 1 + index])
            return self._at_document(handle)
        finally:
            release(&self.scratch, before)

    cdef Py_ssize_t filter(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil:
        """Keep the nodes at which a condition holds; for places, the nodes are the whole group."""
        if count == 0:
            return 0
        self.work += count
        if self.program.conditions[number].context_free:
            return count if self._at_document(number) else 0
        if count == 1 and nodes[0] == 0:
            return self._at_document(number)
        return self._filter_uncached(number, nodes, count)

    cdef bint _at_document(self, int32_t number) except -1 nogil:
        """Whether a condition holds at the document node; for some that is: anywhere."""
        cdef void *known = lookup(&self.truths, number)
        cdef int32_t document = 0
        cdef bint truth
        if known != NULL:
            return known == <void *>&self.truths
        self.work += 1
        truth = self._filter_uncached(number, &document, 1) != 0
        self.memoize(&self.truths, number, <void *>&self.truths if truth else <void *>&self.levels)
        return truth

    cdef Py_ssize_t _filter_uncached(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil:
        cdef const CompiledCondition *condition = self.program.conditions + number
        cdef Py_ssize_t kept = 0, index
        cdef double left, right
        if condition.kind == EXISTS:
            return self.filter_by_path(self.program.paths + condition.first, nodes, count)
        if condition.kind == COUNT or condition.kind == FIRST:
            return self._filter_by_selection(condition, nodes, count)
        if VALUE_NUMBER <= condition.kind <= VALUE_LENGTH:
            return self._filter_by_value(condition, nodes, count)
        if condition.kind == AND:
            return self._and(condition, nodes, count)
        if condition.kind == OR:
            return self._or(condition, nodes, count)
        if condition.kind == NOT:
            return self._not(condition, nodes, count)
        if condition.kind == ALWAYS:
            return count if condition.first else 0
        for index in range(count):
            if condition.kind == POSITION:
                left = <double>(count if condition.first else index + 1)
                right = <double>count if condition.second else condition.number
                if not _compare(condition.op, left, right):
                    continue
            elif not self._passes_test(nodes[index], condition.first):
                continue
            nodes[kept] = nodes[index]
            kept += 1
        return kept

    cdef Py_ssize_t _filter_by_value(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef Py_ssize_t kept = 0, index
        cdef ArenaMark before = mark(&self.scratch)
        for index in range(count):
            if self._value_holds(condition, nodes[index]):
                nodes[kept] = nodes[index]
                kept += 1
            release(&self.scratch, before)
        return kept

    cdef Py_ssize_t _and(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef const int32_t *parts = self.program.lists.at + condition.first
        cdef Py_ssize_t whole = count, found
        cdef int32_t index
        cdef int32_t *every
        cdef int32_t *some
        cdef ArenaMark before
        if not condition.positional:
            for index in range(condition.second):
                count = self.filter(parts[index], nodes, count)
            return count
        before = mark(&self.scratch)
        every = self.copy_to_scratch(nodes, whole)
        some = self.copy_to_scratch(nodes, whole)
        for index in range(condition.second):  # every part sees the whole group
            memcpy(some, every, <size_t>whole * sizeof(int32_t))
            found = self.filter(parts[index], some, whole)
            count = _keep_members(nodes, count, some, found, True)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _or(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef const int32_t *parts = self.program.lists.at + condition.first
        cdef ArenaMark before = mark(&self.scratch)
        cdef int32_t *none = self.copy_to_scratch(nodes, count)  # those at which no part holds so far
        cdef int32_t *some = self.copy_to_scratch(nodes, count)
        cdef Py_ssize_t left = count, found
        cdef int32_t index
        for index in range(condition.second):
            if self.program.conditions[parts[index]].positional:
                memcpy(some, nodes, <size_t>count * sizeof(int32_t))
                found = self.filter(parts[index], some, count)
            else:
                memcpy(some, none, <size_t>left * sizeof(int32_t))
                found = self.filter(parts[index], some, left)
            left = _keep_members(none, left, some, found, False)
            if left == 0:
                break
        count = _keep_members(nodes, count, none, left, False)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _not(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef ArenaMark before = mark(&self.scratch)
        cdef int32_t *some = self.copy_to_scratch(nodes, count)
        cdef Py_ssize_t found = self.filter(condition.first, some, count)
        count = _keep_members(nodes, count, some, found, False)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _filter_by_selection(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Conditions on all that a path selects from a node: how many, or the first."""
        cdef const CompiledPath *path = self.program.paths + condition.first
        cdef ArenaMark before = mark(&self.scratch)
        cdef Py_ssize_t kept = 0, index
        cdef NodeSet found
        cdef bint truth
        for index in range(count):
            self.select(path, nodes[index], &found)
            if condition.kind == COUNT:
                truth = _compare(condition.op, <double>found.size, condition.number)
            else:
                truth = self._value_holds(
                    self.program.conditions + condition.second, found.at[0] if found.size else -1
                )
            if truth:
                nodes[kept] = nodes[index]
                kept += 1
            release(&self.scratch, before)
        return kept

    cdef bint _passes_test(self, int32_t node, int32_t stream) noexcept nogil:
        cdef const NodeStream *wanted = self.program.streams + stream
        cdef int32_t kind = self.at[node].kind
        if wanted.kind == NODE:
            return True
        if wanted.kind == TEXT:
            return kind == TEXT_NODE
        if wanted.kind == COMMENT:
            return kind == COMMENT_NODE
        if wanted.kind == INSTRUCTION:
            return kind == PI_NODE and self.named(node, wanted)
        return kind == ELEMENT_NODE and (wanted.kind == ANY or self.named(node, wanted))

    cdef bint _value_holds(self, const CompiledCondition *condition, int32_t node) except -1 nogil:
        """Whether a value test is true of a node's string-value; node -1 is none, its value ''."""
        cdef const StringTable *operands = &self.program.operands
        cdef Py_ssize_t start = operands.ends.at[condition.first - 1] if condition.first else 0
        cdef Py_ssize_t size = operands.ends.at[condition.first] - start
        cdef const char *operand = operands.bytes + start
        cdef TextView text
        cdef bint same
        if condition.kind == VALUE_STRING or condition.kind == VALUE_STARTS_WITH:
            same = size == 0
            if node >= 0:
                same = self.nodes.starts_with(
                    node, operand, size, condition.kind == VALUE_STRING, &self.scratch
                )
            return same == (condition.kind == VALUE_STARTS_WITH or condition.op == EQUAL)
        if condition.kind == VALUE_NUMBER:
            return _compare(
                condition.op,
                self.nodes.number_value(node, &self.scratch) if node >= 0 else NAN,
                condition.number,
            )
        text.at = ""
        text.size = 0
        if node >= 0:
            self.nodes.string(node, &self.scratch, &text)
        if condition.kind == VALUE_LENGTH:
            return _compare(condition.op, <double>_count_characters(&text), condition.number)
        if size == 0:
            return True
        return memmem(text.at, <size_t>text.size, operand, <size_t>size) != NULL


cdef Py_ssize_t _keep_members(
    int32_t *nodes, Py_ssize_t count, const int32_t *some, Py_ssize_t size, bint inside
) noexcept nogil:
    """Keep those nodes that are, or are not, among some; both are sorted."""
    cdef Py_ssize_t kept = 0, index, met = 0
    cdef bint among
    for index in range(count):
        while met < size and some[met] < nodes[index]:
            met += 1
        among = met < size and some[met] == nodes[index]
        if among == inside:
            nodes[kept] = nodes[index]
            kept += 1
    return kept


cdef inline bint _compare(int op, double left, double right) noexcept nogil:
    if op == EQUAL:
        return left == right
    if op == DIFFERENT:
        return left != right
    if op == LESS:
        return left < right
    if op == LESS_OR_EQUAL:
        return left <= right
    return left > right if op == GREATER else left >= right


cdef Py_ssize_t _count_characters(const TextView *text) noexcept nogil:
    """How many characters: bytes that do not continue one."""
    cdef Py_ssize_t index, found = 0
    for index in range(text.size):
        found += (text.at[index] & 0xC0) != 0x80
    return found
