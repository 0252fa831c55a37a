"""The evaluation of conditions on one document: twig joins by region codes on libxml2's tree.

The algorithms are those of `pathcast.matching.plain.evaluate`, which explains them. Here, nodes are
numbered from libxml2's tree when the first condition is evaluated, and conditions are numbers in a
`ConditionProgram`. Results of streams, steps and path suffixes are memoized by these numbers, as is
the truth of each condition at the document node.

An evaluation belongs to one thread; any number of them may read one program. `evaluate` does not
need the GIL.

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
from libc.string cimport memcmp, memcpy

from pathcast.matching.compiled.core.evaluator.arena cimport ArenaMark, mark, release
from pathcast.matching.compiled.core.evaluator.joins cimport compare_numbers, lookup
from pathcast.matching.compiled.core.evaluator.nodes cimport (
    COMMENT_NODE,
    ELEMENT_NODE,
    PI_NODE,
    TEXT_NODE,
)
from pathcast.matching.compiled.core.evaluator.program cimport (
    ALWAYS,
    AND,
    ANY,
    COMMENT,
    COUNT,
    EXISTS,
    FIRST,
    INSTRUCTION,
    NO_FUNCTIONS,
    NODE,
    NOT,
    OR,
    PARENT,
    POSITION,
    TEXT,
    VALUE_LENGTH,
    VALUE_NUMBER,
    VALUE_STARTS_WITH,
    VALUE_STRING,
    CompiledPath,
    NodeStream,
)
from pathcast.matching.compiled.core.evaluator.sets cimport NodeSet
from pathcast.matching.compiled.core.numbers cimport number_of
from pathcast.matching.compiled.core.predicates cimport EQUAL
from pathcast.matching.compiled.core.strings cimport StringTable, TextView
from pathcast.vectors cimport find, pack_key

from pathcast.matching.compiled.core.evaluator.program import ConditionProgram

__all__ = ["ConditionProgram", "Evaluation"]

cdef extern from "string.h":
    void *memmem(const void *text, size_t size, const void *part, size_t length) noexcept nogil


@cython.final
cdef class Evaluation(SidewaysJoins):
    """The conditions of a program on one document."""

    def holds(self, Py_ssize_t handle):
        """Return whether a condition holds at the document node."""
        if not 0 <= handle < self.count:
            raise IndexError(f"no condition had the number {handle} when the document came")
        return self.evaluate(<int32_t>handle)

    cdef bint evaluate(self, int32_t handle) except -1 nogil:
        """Return whether a condition holds; the handle is not checked."""
        cdef int32_t place, index
        cdef ArenaMark before
        if self.at == NULL:
            self.start()
        before = mark(&self.scratch)
        try:
            place = find(&self.program.deep_conditions, pack_key(handle, 0))
            if place >= 0:  # memoize inner steps first, so that the recursion stays shallow
                for index in range(self.program.evaluation_orders.at[place]):
                    self.candidates(self.program.evaluation_orders.at[place + 1 + index])
            return self._holds_at_document(handle)
        finally:
            release(&self.scratch, before)

    cdef Py_ssize_t filter(
        self, int32_t number, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep the nodes at which a condition holds; for position(), the nodes are its context."""
        if count == 0:
            return 0
        self.work += count
        if self.program.conditions[number].context_free:
            return count if self._holds_at_document(number) else 0
        if count == 1 and nodes[0] == 0:
            return self._holds_at_document(number)
        return self._filter_nodes(number, nodes, count)

    cdef bint _holds_at_document(self, int32_t number) except -1 nogil:
        """Return the memoized truth of a condition at the document node."""
        cdef void *truth_value = lookup(&self.truth_memo, number)
        # Two distinct addresses that are never NULL.
        cdef void *true_value = <void *>&self.truth_memo
        cdef void *false_value = <void *>&self.level_memo
        cdef int32_t document = 0
        cdef bint truth
        if truth_value != NULL:
            return truth_value == true_value
        self.work += 1
        truth = self._filter_nodes(number, &document, 1) != 0
        self.memoize(&self.truth_memo, number, true_value if truth else false_value)
        return truth

    cdef Py_ssize_t _filter_nodes(
        self, int32_t number, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
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
            return self._filter_and(condition, nodes, count)
        if condition.kind == OR:
            return self._filter_or(condition, nodes, count)
        if condition.kind == NOT:
            return self._filter_not(condition, nodes, count)
        if condition.kind == ALWAYS:
            return count if condition.first else 0
        for index in range(count):
            if condition.kind == POSITION:
                left = <double>(count if condition.first else index + 1)
                right = <double>count if condition.second else condition.number
                if not compare_numbers(condition.op, left, right):
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

    cdef Py_ssize_t _filter_and(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef const int32_t *parts = self.program.lists.at + condition.first
        cdef Py_ssize_t context_size = count, passed
        cdef int32_t index
        cdef int32_t *context
        cdef int32_t *passing
        cdef ArenaMark before
        if not condition.positional:
            for index in range(condition.second):
                count = self.filter(parts[index], nodes, count)
            return count
        before = mark(&self.scratch)
        context = self.copy_to_scratch(nodes, context_size)
        passing = self.copy_to_scratch(nodes, context_size)
        for index in range(condition.second):  # every part sees the complete context
            memcpy(passing, context, <size_t>context_size * sizeof(int32_t))
            passed = self.filter(parts[index], passing, context_size)
            count = _keep_members(nodes, count, passing, passed, True)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _filter_or(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef const int32_t *parts = self.program.lists.at + condition.first
        cdef ArenaMark before = mark(&self.scratch)
        cdef int32_t *failing = self.copy_to_scratch(nodes, count)  # no part holds there so far
        cdef int32_t *passing = self.copy_to_scratch(nodes, count)
        cdef Py_ssize_t failed = count, passed
        cdef int32_t index
        for index in range(condition.second):
            if self.program.conditions[parts[index]].positional:
                memcpy(passing, nodes, <size_t>count * sizeof(int32_t))
                passed = self.filter(parts[index], passing, count)
            else:
                memcpy(passing, failing, <size_t>failed * sizeof(int32_t))
                passed = self.filter(parts[index], passing, failed)
            failed = _keep_members(failing, failed, passing, passed, False)
            if failed == 0:
                break
        count = _keep_members(nodes, count, failing, failed, False)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _filter_not(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        cdef ArenaMark before = mark(&self.scratch)
        cdef int32_t *passing = self.copy_to_scratch(nodes, count)
        cdef Py_ssize_t passed = self.filter(condition.first, passing, count)
        count = _keep_members(nodes, count, passing, passed, False)
        release(&self.scratch, before)
        return count

    cdef Py_ssize_t _filter_by_selection(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep the nodes by the count, or the first node, of a path's selection."""
        cdef const CompiledPath *path = self.program.paths + condition.first
        cdef ArenaMark before = mark(&self.scratch)
        cdef Py_ssize_t kept = 0, index
        cdef NodeSet selected
        cdef bint truth
        cdef int32_t step = self.program.suffixes.at[self.program.lists.at[path.start]]
        cdef bint counts_sideways = (
            condition.kind == COUNT and self.program.steps[step].axis > PARENT
        )
        for index in range(count):
            if counts_sideways:  # without a list of the nodes
                selected.size = self.count_sideways(path, nodes[index])
            else:
                self.select(path, nodes[index], &selected)
            if condition.kind == COUNT:
                truth = compare_numbers(condition.op, <double>selected.size, condition.number)
            else:
                truth = self._value_holds(
                    self.program.conditions + condition.second,
                    selected.at[0] if selected.size else -1,
                )
            if truth:
                nodes[kept] = nodes[index]
                kept += 1
            release(&self.scratch, before)
        return kept

    cdef bint _passes_test(self, int32_t node, int32_t number) noexcept nogil:
        """Return whether a node passes the test of a stream."""
        cdef const NodeStream *stream = self.program.streams + number
        cdef int32_t kind = self.at[node].kind
        if stream.kind == NODE:
            return True
        if stream.kind == TEXT:
            return kind == TEXT_NODE
        if stream.kind == COMMENT:
            return kind == COMMENT_NODE
        if stream.kind == INSTRUCTION:
            return kind == PI_NODE and self.has_name(node, stream)
        return kind == ELEMENT_NODE and (stream.kind == ANY or self.has_name(node, stream))

    cdef bint _value_holds(
        self, const CompiledCondition *condition, int32_t node
    ) except -1 nogil:
        """Return whether a value test holds for a node; -1 is no node, its value is empty."""
        cdef TextView operand = self._operand(condition.first), text
        cdef bint same
        if condition.second != NO_FUNCTIONS:
            text.at = ""
            text.size = 0
            if node >= 0:
                self.nodes.string_value(node, &self.scratch, &text)
            self.conditions.functions.apply(condition.second, &text, &self.scratch)
            if condition.kind == VALUE_NUMBER:
                return compare_numbers(
                    condition.op, number_of(text.at, text.size), condition.number
                )
            same = text.size >= operand.size and (
                memcmp(text.at, operand.at, <size_t>operand.size) == 0
            )
            if condition.kind == VALUE_STARTS_WITH:
                return same
            if condition.kind == VALUE_STRING:
                return (same and text.size == operand.size) == (condition.op == EQUAL)
            return _text_holds(condition, &text, &operand)
        if condition.kind == VALUE_STRING or condition.kind == VALUE_STARTS_WITH:
            same = operand.size == 0
            if node >= 0:
                same = self.nodes.starts_with(
                    node, operand.at, operand.size, condition.kind == VALUE_STRING, &self.scratch
                )
            return same == (condition.kind == VALUE_STARTS_WITH or condition.op == EQUAL)
        if condition.kind == VALUE_NUMBER:
            return compare_numbers(
                condition.op,
                self.nodes.number_value(node, &self.scratch) if node >= 0 else NAN,
                condition.number,
            )
        text.at = ""
        text.size = 0
        if node >= 0:
            self.nodes.string_value(node, &self.scratch, &text)
        return _text_holds(condition, &text, &operand)

    cdef TextView _operand(self, int32_t number) noexcept nogil:
        cdef const StringTable *operands = &self.program.operands
        cdef Py_ssize_t start = operands.ends.at[number - 1] if number else 0
        cdef TextView operand
        operand.at = operands.bytes + start
        operand.size = operands.ends.at[number] - start
        return operand


cdef bint _text_holds(
    const CompiledCondition *condition, const TextView *text, const TextView *operand
) noexcept nogil:
    """Return whether a test of length or of a part holds for a text."""
    if condition.kind == VALUE_LENGTH:
        return compare_numbers(
            condition.op, <double>_count_characters(text), condition.number
        )
    if operand.size == 0:
        return True
    return memmem(text.at, <size_t>text.size, operand.at, <size_t>operand.size) != NULL


cdef Py_ssize_t _keep_members(
    int32_t *nodes, Py_ssize_t count, const int32_t *members, Py_ssize_t size, bint inside
) noexcept nogil:
    """Keep the nodes that are, or are not, among `members`; both are sorted."""
    cdef Py_ssize_t kept = 0, index, at = 0
    cdef bint is_member
    for index in range(count):
        while at < size and members[at] < nodes[index]:
            at += 1
        is_member = at < size and members[at] == nodes[index]
        if is_member == inside:
            nodes[kept] = nodes[index]
            kept += 1
    return kept


cdef Py_ssize_t _count_characters(const TextView *text) noexcept nogil:
    """Return the number of characters: bytes that are no UTF-8 continuation."""
    cdef Py_ssize_t index, count = 0
    for index in range(text.size):
        count += (text.at[index] & 0xC0) != 0x80
    return count
