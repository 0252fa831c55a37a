"""The plan and the condition of a pattern that was read.

`PlannedReader.plan` gives the same plan as `pathcast.matching.plan`, in the codes of
`pathcast.matching.encode`; that module explains the forms. The tests compare both.

>>> from pathcast.matching.compiled.core.labels import Vocabulary
>>> patterns = PlannedReader(Vocabulary())
>>> patterns.read("//a[b][c] | //a[2]"), patterns.plan()
(True, [('general', ((49,),)), ('twig', (((49,), (((56,), ()), ((64,), ()))),))])
"""

from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.labels cimport (
    ATTRIBUTE,
    CHILD,
    DEEP_ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    VALUE,
)
from pathcast.matching.compiled.core.pattern_arena cimport (
    AND_CONDITION,
    ATTRIBUTE_STEP,
    CONTAINS_VALUE,
    COUNT_CONDITION,
    DESCENDANT_OR_SELF_STEP,
    DESCENDANT_STEP,
    EXISTS_CONDITION,
    FIRST_CONDITION,
    LENGTH_VALUE,
    NOT_CONDITION,
    NUMBER_VALUE,
    OR_CONDITION,
    POSITION_CONDITION,
    STARTS_WITH_VALUE,
    VALUE_CONDITION,
    ArenaCondition,
    ArenaPath,
    ArenaStep,
)
from pathcast.matching.compiled.core.pattern_reader cimport PatternReader
from pathcast.vectors cimport push

from pathcast.matching import paths as required_paths
from pathcast.matching.encode import decode_test
from pathcast.xpath import tree
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis

cdef enum:
    _MAX_TWIG_DEPTH = 100  # as in `pathcast.matching.plan`

cdef tuple _VALUE_KINDS = (
    tree.ValueKind.NUMBER,
    tree.ValueKind.STRING,
    tree.ValueKind.CONTAINS,
    tree.ValueKind.STARTS_WITH,
    tree.ValueKind.LENGTH,
)
cdef tuple _VALUE_KIND_NAMES = tuple(kind.value for kind in _VALUE_KINDS)
cdef tuple _OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
cdef tuple _AXES = (Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE)


cdef class PlannedReader(PatternReader):
    """A reader that also returns plans and conditions."""

    def plan(self):
        """Return the plan of the pattern, as `PlanEncoder.encode_plan` does."""
        cdef ArenaCondition root = self.conditions[self.root]
        cdef int32_t index
        parts = [self.root]
        if root.kind == OR_CONDITION:
            parts = [self.lists.at[root.first + index] for index in range(root.second)]
        if not self._has_inner_disjunction():
            return [self._alternative(part) for part in parts]
        return [self._alternative(choice) for part in parts for choice in self._distribute(part)]

    cdef bint _has_inner_disjunction(self) noexcept:
        cdef int32_t number
        for number in range(<int32_t>self.condition_count):
            if self.conditions[number].kind == OR_CONDITION and number != self.root:
                return True
        return False

    def linear_path(self):
        """Return the labels if the pattern is a linear path without a value test, else None."""
        cdef ArenaCondition root = self.conditions[self.root]
        cdef ArenaPath path
        cdef int32_t index
        if root.kind != EXISTS_CONDITION:
            return None
        path = self.paths[root.first]
        for index in range(path.step_count):
            if self.steps[self.lists.at[path.steps + index]].condition_count:
                return None
        return self._branch(root.first, 1)[0]

    cdef tuple _alternative(self, int32_t condition):
        branches = self._branches(condition, True, 1)
        if branches is None:
            paths = {}
            self._collect(condition, (), paths)
            return "general", required_paths.maximal_paths(paths)
        if len(branches) == 1 and not branches[0][1]:
            return "exact", branches[0][0]
        return "twig", tuple(branches)

    # disjunctions in predicates, as in `pathcast.matching.paths`

    cdef list _distribute(self, int32_t number):
        """Return conditions of which one holds wherever the given one holds, and vice versa."""
        cdef ArenaCondition condition = self.conditions[number]
        cdef int32_t index
        if condition.kind == OR_CONDITION or condition.kind == AND_CONDITION:
            parts = [
                self._distribute(self.lists.at[condition.first + index])
                for index in range(condition.second)
            ]
            if condition.kind == OR_CONDITION:
                choices = [choice for part in parts for choice in part]
                return choices if len(choices) <= required_paths.MAX_ALTERNATIVES else [number]
            conjunctions = required_paths.products(parts)
            return [self._conjunction(chosen) for chosen in conjunctions] or [number]
        if condition.kind == EXISTS_CONDITION:
            steps = [
                self._distribute_step(
                    self.lists.at[self.paths[condition.first].steps + index]
                )
                for index in range(self.paths[condition.first].step_count)
            ]
            return [
                self._existence_of_steps(condition.first, chosen)
                for chosen in required_paths.products(steps)
            ] or [number]
        return [number]

    cdef list _distribute_step(self, int32_t number):
        cdef ArenaStep step = self.steps[number]
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t index
        if step.condition_count == 0 or step.positional:
            return [number]
        choices = [
            self._distribute(self.lists.at[step.conditions + index])
            for index in range(step.condition_count)
        ]
        steps = []
        for chosen in required_paths.products(choices):
            for condition in chosen:
                push(&self.stack, condition)
            steps.append(self.add_step(step.axis, step.test, mark))
        return steps or [number]

    cdef int32_t _conjunction(self, tuple parts) except -1:
        cdef Py_ssize_t mark = self.stack.size
        for part in parts:
            push(&self.stack, part)
        return self.add_condition(
            ArenaCondition(
                AND_CONDITION, 0, self.pop_list(mark), <int32_t>len(parts), 0, 0, 0, 0, 0, 0
            )
        )

    cdef int32_t _existence_of_steps(self, int32_t path, tuple steps) except -1:
        """Return the condition that a path with other steps selects a node."""
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t changed
        for step in steps:
            push(&self.stack, step)
        changed = self.add_path(self.paths[path].absolute, mark)
        return self.add_condition(
            ArenaCondition(EXISTS_CONDITION, 0, changed, 0, 0, 0, 0, 0, 0, 0)
        )

    # twigs

    cdef list _branches(self, int32_t number, bint top, int32_t depth):
        """Return a condition at a node as branches; None if it has no such form."""
        cdef ArenaCondition condition = self.conditions[number]
        cdef int32_t index
        if depth > _MAX_TWIG_DEPTH or condition.positional:
            return None
        if condition.kind == AND_CONDITION:
            conjunction = []
            for index in range(condition.second):
                branches = self._branches(self.lists.at[condition.first + index], top, depth)
                if branches is None:
                    return None
                conjunction += branches
            return conjunction
        if condition.kind == EXISTS_CONDITION and self.paths[condition.first].absolute == top:
            branch = self._branch(condition.first, depth)
            return None if branch is None else [branch]
        if condition.kind == VALUE_CONDITION and not top and condition.value_kind != LENGTH_VALUE:
            return [((self._value_label(number),), ())]
        return None

    cdef tuple _branch(self, int32_t path, int32_t depth):
        """Return a path as a branch: labels, and the branches at their end."""
        labels = []
        branches = self._walk(path, 0, labels, depth)
        return None if branches is None else (tuple(labels), branches)

    cdef tuple _walk(self, int32_t number, int32_t index, list labels, int32_t depth):
        """Append the labels of a path from a step on; return the branches after them."""
        cdef ArenaPath path = self.paths[number]
        cdef ArenaStep step
        cdef int32_t at
        cdef bint deep = False, last
        while index < path.step_count:
            step = self.steps[self.lists.at[path.steps + index]]
            last = index + 1 == path.step_count
            if step.axis == DESCENDANT_OR_SELF_STEP:
                if last or not self._is_double_slash(self.lists.at[path.steps + index]):
                    return None
                deep = True
                index += 1
                continue
            labels.append(self._label(&step, deep))
            deep = False
            if step.condition_count:
                branches = []
                for at in range(step.condition_count):
                    parts = self._branches(
                        self.lists.at[step.conditions + at], False, depth + 1
                    )
                    if parts is None:
                        return None
                    branches += parts
                if not last:
                    rest = []
                    below = self._walk(number, index + 1, rest, depth + 1)
                    if below is None:
                        return None
                    branches.append((tuple(rest), below))
                if len(branches) == 1:
                    labels.extend(branches[0][0])
                    return branches[0][1]
                return tuple(branches)
            index += 1
        return ()

    cdef int32_t _label(self, const ArenaStep *step, bint deep) except -1:
        cdef int32_t edge
        if step.axis == ATTRIBUTE_STEP:
            edge = DEEP_ATTRIBUTE if deep else ATTRIBUTE
        else:
            edge = DESCENDANT if deep or step.axis == DESCENDANT_STEP else CHILD
        return step.test << EDGE_BITS | edge

    cdef int32_t _value_label(self, int32_t value) except -1:
        cdef int32_t kind = self.conditions[value].value_kind
        cdef int32_t op = self.conditions[value].op
        operand = self._operand(value)
        if kind == NUMBER_VALUE:
            operand = (number(operand) + 0.0).hex()
        code = self.vocabulary.value(
            _VALUE_KIND_NAMES[kind], "" if self._is_search(kind) else _OPERATORS[op], operand
        )
        return code << EDGE_BITS | VALUE

    cdef bint _is_search(self, int32_t value_kind) noexcept:
        return value_kind == CONTAINS_VALUE or value_kind == STARTS_WITH_VALUE

    cdef str _operand(self, int32_t condition):
        cdef int32_t start = self.conditions[condition].operand
        return self.chars.at[start : start + self.conditions[condition].operand_size].decode()

    # required paths

    cdef int _collect(self, int32_t number, tuple start, dict paths) except -1:
        """Add the paths that must occur if a condition holds at a node below `start`."""
        cdef ArenaCondition condition = self.conditions[number]
        cdef int32_t index
        if condition.kind == AND_CONDITION:
            for index in range(condition.second):
                self._collect(self.lists.at[condition.first + index], start, paths)
        elif condition.kind == EXISTS_CONDITION:
            self._follow(condition.first, start, paths)
        elif condition.kind == FIRST_CONDITION:
            if not self._holds_for_empty(condition.second):
                end = self._follow(condition.first, start, paths)
                if end is not None:
                    self._collect(condition.second, end, paths)
        elif condition.kind == COUNT_CONDITION:
            if not tree.COMPARISONS[_OPERATORS[condition.op]](0, number_of_text(self, number)):
                self._follow(condition.first, start, paths)
        elif condition.kind == VALUE_CONDITION and start:
            if condition.value_kind != LENGTH_VALUE:
                paths[(*start, self._value_label(number))] = None
        return 0

    cdef tuple _follow(self, int32_t number, tuple start, dict paths):
        """Add the labels of a path, and what its conditions require; return the labels."""
        cdef ArenaPath path = self.paths[number]
        cdef ArenaStep step
        cdef int32_t index, at
        cdef bint deep = False
        labels = () if path.absolute else start
        for index in range(path.step_count):
            step = self.steps[self.lists.at[path.steps + index]]
            if step.axis == DESCENDANT_OR_SELF_STEP:
                deep = True
                continue
            labels = (*labels, self._label(&step, deep))
            deep = False
            for at in range(step.condition_count):
                self._collect(self.lists.at[step.conditions + at], labels, paths)
        if labels:
            paths[labels] = None
        return labels

    # conditions

    def condition(self):
        """Return the condition of the pattern as a value of `pathcast.xpath.tree`."""
        return self._condition(self.root)

    cdef object _condition(self, int32_t number):
        cdef ArenaCondition condition = self.conditions[number]
        cdef int32_t index
        if condition.kind == EXISTS_CONDITION:
            return tree.Exists(self._path(condition.first))
        if condition.kind == FIRST_CONDITION:
            return tree.First(self._path(condition.first), self._condition(condition.second))
        if condition.kind == COUNT_CONDITION:
            return tree.Count(
                self._path(condition.first), _OPERATORS[condition.op], self._operand(number)
            )
        if condition.kind == VALUE_CONDITION:
            return tree.Value(
                _VALUE_KINDS[condition.value_kind],
                "" if self._is_search(condition.value_kind) else _OPERATORS[condition.op],
                self._operand(number),
            )
        if condition.kind == POSITION_CONDITION:
            return tree.Position(
                "last" if condition.left_last else "position",
                _OPERATORS[condition.op],
                "last" if condition.right_last else self._operand(number),
            )
        if condition.kind == NOT_CONDITION:
            return tree.Not(self._condition(condition.first))
        parts = tuple(
            [
                self._condition(self.lists.at[condition.first + index])
                for index in range(condition.second)
            ]
        )
        return tree.And(parts) if condition.kind == AND_CONDITION else tree.Or(parts)

    cdef object _path(self, int32_t number):
        cdef ArenaPath path = self.paths[number]
        cdef ArenaStep step
        cdef int32_t index, at
        steps = []
        for index in range(path.step_count):
            step = self.steps[self.lists.at[path.steps + index]]
            conditions = [
                self._condition(self.lists.at[step.conditions + at])
                for at in range(step.condition_count)
            ]
            steps.append(
                tree.Step(
                    _AXES[step.axis],
                    decode_test(step.test, self.vocabulary.keys),
                    tuple(conditions),
                )
            )
        return tree.Path(bool(path.absolute), tuple(steps))


cdef double number_of_text(PlannedReader reader, int32_t condition) except? -1.0:
    return number(reader._operand(condition))
