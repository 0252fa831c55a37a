"""The arena of a pattern that is being read: conditions, paths and steps in flat arrays.

The constructors are those of `pathcast.xpath.canonical`, for the conditions of `PatternReader`:
equivalent patterns become equal, and have one text. `canonical` explains the rules; the tests
compare the results.

A condition, step or path is a number. Lists of them lie in `lists`; a list under construction lies
on `stack`, from a mark on. The arena is cleared before each pattern, so reading allocates nothing
but Python strings.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy

from pathcast.matching.compiled.core.labels cimport NODE, Vocabulary
from pathcast.vectors cimport free_vector, grow, push

cdef tuple OPERATOR_TEXTS = (b" = ", b" != ", b" < ", b" <= ", b" > ", b" >= ")


cdef class PatternArena:
    """Conditions in canonical form."""

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary

    def __dealloc__(self):
        free(self.conditions)
        free(self.steps)
        free(self.paths)
        free_vector(&self.lists)
        free_vector(&self.stack)
        free(self.chars.at)
        free(self.texts.at)

    cdef int clear(self) except -1:
        """Drop all conditions, steps and paths."""
        self.condition_count = self.step_count = self.path_count = 0
        self.lists.size = self.stack.size = self.chars.size = self.texts.size = 0
        return 0

    # parts

    cdef int32_t add_condition(self, ArenaCondition condition) except -1:
        if self.condition_count == self.condition_capacity:
            grow(
                <void **>&self.conditions,
                &self.condition_capacity,
                self.condition_count + 1,
                sizeof(ArenaCondition),
            )
        self.conditions[self.condition_count] = condition
        self.condition_count += 1
        return <int32_t>self.condition_count - 1

    cdef int32_t add_step(self, int32_t axis, int32_t test, Py_ssize_t mark) except -1:
        """Add a step with the conditions on the stack from a mark on."""
        cdef int32_t count = <int32_t>(self.stack.size - mark), index
        cdef bint positional = False
        if self.step_count == self.step_capacity:
            grow(
                <void **>&self.steps, &self.step_capacity, self.step_count + 1, sizeof(ArenaStep)
            )
        for index in range(count):
            positional |= self.conditions[self.stack.at[mark + index]].positional != 0
        self.steps[self.step_count] = ArenaStep(
            axis, test, self.pop_list(mark), count, positional
        )
        self.step_count += 1
        return <int32_t>self.step_count - 1

    cdef int32_t add_path(self, bint absolute, Py_ssize_t mark) except -1:
        """Add a path with the steps on the stack from a mark on."""
        cdef int32_t count = <int32_t>(self.stack.size - mark)
        if self.path_count == self.path_capacity:
            grow(
                <void **>&self.paths, &self.path_capacity, self.path_count + 1, sizeof(ArenaPath)
            )
        self.paths[self.path_count] = ArenaPath(absolute, self.pop_list(mark), count)
        self.path_count += 1
        return <int32_t>self.path_count - 1

    cdef int32_t pop_list(self, Py_ssize_t mark) except -1:
        """Move the list on the stack from a mark on to `lists`; return its start there."""
        cdef int32_t start = <int32_t>self.lists.size
        cdef Py_ssize_t index
        for index in range(mark, self.stack.size):
            push(&self.lists, self.stack.at[index])
        self.stack.size = mark
        return start

    # canonical conditions

    cdef int32_t existence(self, int32_t path, int32_t value) except -1:
        """Return the condition that a path selects a node, with a value condition if >= 0."""
        cdef ArenaPath given = self.paths[path]
        cdef Py_ssize_t mark = self.stack.size, low, high
        cdef int32_t index, step, last = given.step_count - 1
        if last < 0:
            return value
        for index in range(last, -1, -1):  # the stack holds the steps in reverse order
            step = self._canonical_step(
                self.lists.at[given.steps + index], value if index == last else -1
            )
            self._prepend_step(step, mark)
        low, high = mark, self.stack.size - 1
        while low < high:
            step = self.stack.at[low]
            self.stack.at[low] = self.stack.at[high]
            self.stack.at[high] = step
            low += 1
            high -= 1
        return self.add_condition(
            ArenaCondition(
                EXISTS_CONDITION, 0, self.add_path(given.absolute, mark), 0, 0, 0, 0, 0, 0, 0
            )
        )

    cdef int32_t selection(self, int32_t path) except -1:
        """Return the path with canonical steps; it selects the same nodes."""
        cdef ArenaPath given = self.paths[path]
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t index
        for index in range(given.step_count):
            push(&self.stack, self._canonical_step(self.lists.at[given.steps + index], -1))
        return self.add_path(given.absolute, mark)

    cdef int32_t connect(self, int32_t kind, Py_ssize_t mark) except -1:
        """Return the AND or OR of the conditions on the stack from a mark on."""
        cdef Py_ssize_t index, size = self.stack.size
        cdef int32_t part, count, start
        cdef bint positional = False
        cdef Py_ssize_t flat
        for index in range(mark, size):
            part = self.stack.at[index]
            if self.conditions[part].kind == kind:
                for flat in range(self.conditions[part].second):
                    push(&self.stack, self.lists.at[self.conditions[part].first + flat])
            else:
                push(&self.stack, part)
        self._sort_distinct(size)
        count = <int32_t>(self.stack.size - size)
        if count == 1:
            part = self.stack.at[size]
            self.stack.size = mark
            return part
        for index in range(size, self.stack.size):
            positional |= self.conditions[self.stack.at[index]].positional != 0
        start = self.pop_list(size)
        self.stack.size = mark
        return self.add_condition(
            ArenaCondition(kind, positional, start, count, 0, 0, 0, 0, 0, 0)
        )

    cdef int32_t negate(self, int32_t part) except -1:
        """Return the negation of a condition that is not positional."""
        if self.conditions[part].kind == NOT_CONDITION:
            return self.conditions[part].first
        return self.add_condition(ArenaCondition(NOT_CONDITION, 0, part, 0, 0, 0, 0, 0, 0, 0))

    cdef int32_t _canonical_step(self, int32_t step, int32_t value) except -1:
        """Return a step with each run between positional conditions sorted and distinct."""
        cdef ArenaStep given = self.steps[step]
        cdef Py_ssize_t mark = self.stack.size, run = mark
        cdef int32_t index, condition
        if given.condition_count == 0 and value < 0:
            return step
        for index in range(given.condition_count + (value >= 0)):
            condition = value
            if index < given.condition_count:
                condition = self.lists.at[given.conditions + index]
            if self.conditions[condition].positional:
                self._sort_distinct(run)
                push(&self.stack, condition)
                run = self.stack.size
            elif self.conditions[condition].kind == AND_CONDITION:
                self._push_run(
                    &self.lists.at[self.conditions[condition].first],
                    self.conditions[condition].second,
                )
            else:
                push(&self.stack, condition)
        self._sort_distinct(run)
        return self.add_step(given.axis, given.test, mark)

    cdef int _push_run(self, const int32_t *conditions, int32_t count) except -1:
        cdef int32_t index
        for index in range(count):
            push(&self.stack, conditions[index])
        return 0

    cdef int _sort_distinct(self, Py_ssize_t mark) except -1:
        """Sort the conditions on the stack from a mark on by text, without duplicates."""
        cdef Py_ssize_t index
        if self.stack.size - mark < 2:
            return 0
        by_text = {}
        for index in range(mark, self.stack.size):
            by_text.setdefault(self.text_of(self.stack.at[index], None, False), index)
        order = [self.stack.at[<Py_ssize_t>by_text[text]] for text in sorted(by_text)]
        self.stack.size = mark
        for condition in order:
            push(&self.stack, condition)
        return 0

    cdef bint _is_double_slash(self, int32_t step) noexcept nogil:
        return (
            self.steps[step].axis == DESCENDANT_OR_SELF_STEP
            and self.steps[step].test == NODE
            and self.steps[step].condition_count == 0
        )

    cdef bint _is_relative_existence(self, int32_t condition) noexcept nogil:
        return (
            self.conditions[condition].kind == EXISTS_CONDITION
            and not self.paths[self.conditions[condition].first].absolute
        )

    cdef int _prepend_step(self, int32_t step, Py_ssize_t mark) except -1:
        """Prepend a step to the reversed path on the stack; choose the branch that continues it.

        The longest continues it; ties prefer one that does not end in an attribute, then the last.
        """
        cdef ArenaStep given = self.steps[step]
        cdef ArenaPath path
        cdef const int32_t *conditions
        cdef Py_ssize_t branches = self.stack.size, index
        cdef int32_t start = given.condition_count, best = -1, best_rank = -1, rank, last
        cdef bint any_existence = False
        conditions = self.lists.at + given.conditions
        for index in range(given.condition_count):
            any_existence |= self.conditions[conditions[index]].kind == EXISTS_CONDITION
        if any_existence:
            while start and not self.conditions[conditions[start - 1]].positional:
                start -= 1
            if branches > mark:
                for index in range(branches - 1, mark - 1, -1):
                    push(&self.stack, self.stack.at[index])
                rank = self.add_condition(
                    ArenaCondition(
                        EXISTS_CONDITION, 0, self.add_path(False, branches), 0, 0, 0, 0, 0, 0, 0
                    )
                )
                push(&self.stack, rank)
            for index in range(start, given.condition_count):
                push(&self.stack, self.lists.at[given.conditions + index])
            self._sort_distinct(branches)
            for index in range(branches, self.stack.size):
                if self._is_relative_existence(self.stack.at[index]):
                    path = self.paths[self.conditions[self.stack.at[index]].first]
                    last = self.lists.at[path.steps + path.step_count - 1]
                    rank = 2 * path.step_count + (self.steps[last].axis != ATTRIBUTE_STEP)
                    if rank >= best_rank:
                        best = self.stack.at[index]
                        best_rank = rank
            # The conditions of the step: those before the branches, and the other branches.
            for index in range(branches, self.stack.size):
                if self.stack.at[index] == best:
                    self.stack.at[index] = -1
            last = <int32_t>self.stack.size
            for index in range(start):
                push(&self.stack, self.lists.at[given.conditions + index])
            for index in range(branches, last):
                if self.stack.at[index] >= 0:
                    push(&self.stack, self.stack.at[index])
            step = self.add_step(given.axis, given.test, last)
            self.stack.size = mark
            if best >= 0:
                path = self.paths[self.conditions[best].first]
                for index in range(path.step_count - 1, -1, -1):
                    push(&self.stack, self.lists.at[path.steps + index])
        if self._is_double_slash(step) and self.stack.size > mark:
            last = self.stack.at[self.stack.size - 1]
            if self._is_double_slash(last):
                return 0
            given = self.steps[last]
            if given.axis != ATTRIBUTE_STEP and not given.positional:
                self.stack.size -= 1
                branches = self.stack.size
                for index in range(given.condition_count):
                    push(&self.stack, self.lists.at[given.conditions + index])
                step = self.add_step(
                    given.axis if given.axis == DESCENDANT_OR_SELF_STEP else DESCENDANT_STEP,
                    given.test,
                    branches,
                )
        push(&self.stack, step)
        return 0

    # text

    cdef str text_of(self, int32_t condition, dict prefixes, bint top):
        """Return the text of a condition; `prefixes` None: with names in Clark notation."""
        self.texts.size = 0
        self._write_condition(condition, prefixes, top)
        return self.texts.at[: self.texts.size].decode()

    cdef int _write(self, bytes text) except -1:
        return write_chars(&self.texts, text, len(text))

    cdef int _write_condition(self, int32_t number, dict prefixes, bint top) except -1:
        cdef ArenaCondition condition = self.conditions[number]
        cdef int32_t index, part
        cdef bint union = top
        if condition.kind == EXISTS_CONDITION:
            self._write_path(condition.first, prefixes)
        elif condition.kind == VALUE_CONDITION:
            self._write_value(&condition, -1, prefixes)
        elif condition.kind == FIRST_CONDITION:
            self._write_value(&self.conditions[condition.second], condition.first, prefixes)
        elif condition.kind == COUNT_CONDITION:
            self._write(b"count(")
            self._write_path(condition.first, prefixes)
            self._write(b")")
            self._write(OPERATOR_TEXTS[condition.op])
            self._write_operand(&condition, False)
        elif condition.kind == POSITION_CONDITION:
            self._write(b"last()" if condition.left_last else b"position()")
            self._write(OPERATOR_TEXTS[condition.op])
            self._write_operand(&condition, False)
        elif condition.kind == NOT_CONDITION:
            self._write(b"not(")
            self._write_condition(condition.first, prefixes, top)
            self._write(b")")
        else:
            for index in range(condition.second):
                part = self.lists.at[condition.first + index]
                union &= self.conditions[part].kind == EXISTS_CONDITION
            for index in range(condition.second):
                part = self.lists.at[condition.first + index]
                if index and condition.kind == AND_CONDITION:
                    self._write(b" and ")
                elif index:
                    self._write(b" | " if union else b" or ")
                if condition.kind == AND_CONDITION and self.conditions[part].kind == OR_CONDITION:
                    self._write(b"(")
                    self._write_condition(part, prefixes, top)
                    self._write(b")")
                else:
                    self._write_condition(part, prefixes, top)
        return 0

    cdef int _write_value(
        self, const ArenaCondition *value, int32_t path, dict prefixes
    ) except -1:
        """Write a value condition on the context node, or on the first node of a path if >= 0."""
        if value.value_kind == STRING_VALUE or value.value_kind == NUMBER_VALUE:
            self._write(b".")
            self._write(OPERATOR_TEXTS[value.op])
            return self._write_operand(value, value.value_kind == STRING_VALUE)
        if value.value_kind == LENGTH_VALUE:
            self._write(b"string-length(")
        else:
            self._write(b"contains(" if value.value_kind == CONTAINS_VALUE else b"starts-with(")
        if path >= 0:
            self._write_path(path, prefixes)
        elif value.value_kind != LENGTH_VALUE:
            self._write(b".")
        if value.value_kind == LENGTH_VALUE:
            self._write(b")")
            self._write(OPERATOR_TEXTS[value.op])
            return self._write_operand(value, False)
        self._write(b", ")
        self._write_operand(value, True)
        return self._write(b")")

    cdef int _write_path(self, int32_t number, dict prefixes) except -1:
        cdef ArenaPath path = self.paths[number]
        cdef ArenaStep step, next_step
        cdef int32_t index, at
        cdef bint deep = False, first, first_is_double_slash = False
        for index in range(path.step_count):
            step = self.steps[self.lists.at[path.steps + index]]
            if (
                index + 1 < path.step_count
                and self._is_double_slash(self.lists.at[path.steps + index])
            ):
                next_step = self.steps[self.lists.at[path.steps + index + 1]]
                if next_step.axis == ATTRIBUTE_STEP or (
                    next_step.axis == CHILD_STEP and next_step.positional
                ):
                    deep = True
                    first_is_double_slash |= index == 0
                    continue
            first = index == 0 or (deep and index == 1 and first_is_double_slash)
            deep |= step.axis == DESCENDANT_STEP
            if path.absolute or not first:
                self._write(b"//" if deep else b"/")
            elif deep:
                self._write(b".//")
            if step.axis == ATTRIBUTE_STEP:
                self._write(b"@")
            self._write_test(step.test, prefixes)
            for at in range(step.condition_count):
                self._write(b"[")
                self._write_predicate(self.lists.at[step.conditions + at], prefixes)
                self._write(b"]")
            deep = False
        return 0

    cdef int _write_predicate(self, int32_t number, dict prefixes) except -1:
        cdef const ArenaCondition *condition = &self.conditions[number]
        if (
            condition.kind == POSITION_CONDITION and not condition.left_last and condition.op == 0
        ):
            return self._write_operand(condition, False)
        return self._write_condition(number, prefixes, False)

    cdef int _write_test(self, int32_t test, dict prefixes) except -1:
        cdef bytes key = self.vocabulary.encoded[test]
        if prefixes is not None and key.startswith(b"{"):
            uri, _, local = key[1:].rpartition(b"}")
            key = prefixes[uri] + b":" + local
        return self._write(key)

    cdef int _write_operand(self, const ArenaCondition *condition, bint quoted) except -1:
        cdef bytes quote = b"'"
        if condition.kind == POSITION_CONDITION and condition.right_last:
            return self._write(b"last()")
        if not quoted:
            return write_chars(
                &self.texts, self.chars.at + condition.operand, condition.operand_size
            )
        if condition.operand_size and memchr(
            self.chars.at + condition.operand, c"'", <size_t>condition.operand_size
        ) != NULL:
            quote = b'"'
        self._write(quote)
        write_chars(&self.texts, self.chars.at + condition.operand, condition.operand_size)
        return self._write(quote)


cdef int write_chars(CharVector *chars, const char *text, Py_ssize_t size) except -1:
    """Append bytes."""
    if chars.size + size > chars.capacity:
        grow(<void **>&chars.at, &chars.capacity, chars.size + size, 1)
    memcpy(chars.at + chars.size, text, <size_t>size)
    chars.size += size
    return 0
