"""Conditions compiled once, to be evaluated on any number of documents.

A condition tree becomes entries of flat arrays that refer to each other by number. Equal parts are
one entry: conditions and steps by digest, paths by their steps. Paths share suffixes, too, because
the joins work from the last step up: `a/b/c` and `x/b/c` share `b/c`.

The program is append-only; numbers never change. Do not add while another thread evaluates.
Compilation does not recurse: a condition is compiled after all conditions inside it. Deeply nested
conditions have their steps listed, inner ones first, so that evaluation need not recurse either.

Cost: some 100 bytes per distinct step and condition, half as much per path and suffix. A
subscription of three steps that shares little takes 500 bytes and 12 microseconds.

>>> from pathcast.xpath import parse
>>> conditions = ConditionProgram()
>>> [conditions.add(parse(text).condition) for text in ("/a[b = 1]", "/a[c]", "/a[b=1.0]")]
[1, 2, 1]
>>> len(conditions)
3
"""

cimport cython
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from pathcast.matching.compiled.core.numbers cimport number_of
from pathcast.matching.compiled.core.predicates cimport (
    DIFFERENT,
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
)
from pathcast.matching.compiled.core.string_functions cimport StringFunctions
from pathcast.matching.compiled.core.strings cimport (
    add_string,
    find_string,
    free_strings,
    strings_bytes,
)
from pathcast.vectors cimport (
    find,
    free_map,
    free_vector,
    grow,
    insert,
    map_bytes,
    pack_key,
    push,
    reserve,
)

from pathcast.xpath import syntax, tree

__all__ = ["ConditionProgram"]

cdef enum:
    MAX_RECURSION = 80  # levels; deeper conditions have their inner steps evaluated first
    MAX_DEPTH = 10000  # levels; nested connectives do recurse, on the C stack

cdef dict _AXIS_CODES = {
    syntax.Axis.CHILD: CHILD,
    syntax.Axis.ATTRIBUTE: ATTRIBUTE,
    syntax.Axis.DESCENDANT: DESCENDANT,
    syntax.Axis.DESCENDANT_OR_SELF: DESCENDANT_OR_SELF,
    syntax.Axis.PARENT: PARENT,
    syntax.Axis.FOLLOWING_SIBLING: FOLLOWING_SIBLING,
    syntax.Axis.PRECEDING_SIBLING: PRECEDING_SIBLING,
    syntax.Axis.FOLLOWING: FOLLOWING,
    syntax.Axis.PRECEDING: PRECEDING,
    syntax.Axis.ANCESTOR: ANCESTOR,
    syntax.Axis.ANCESTOR_OR_SELF: ANCESTOR_OR_SELF,
}
cdef tuple _WITH_DOCUMENT_NODE = (DESCENDANT_OR_SELF, PARENT, ANCESTOR, ANCESTOR_OR_SELF)
cdef dict _TEST_CODES = {
    syntax.TestKind.NAME: NAME,
    syntax.TestKind.ANY: ANY,
    syntax.TestKind.ANY_IN: ANY_IN,
    syntax.TestKind.NODE: NODE,
    syntax.TestKind.TEXT: TEXT,
    syntax.TestKind.COMMENT: COMMENT,
    syntax.TestKind.INSTRUCTION: INSTRUCTION,
}
cdef dict _VALUE_CODES = {
    tree.ValueKind.NUMBER: VALUE_NUMBER,
    tree.ValueKind.STRING: VALUE_STRING,
    tree.ValueKind.CONTAINS: VALUE_CONTAINS,
    tree.ValueKind.STARTS_WITH: VALUE_STARTS_WITH,
    tree.ValueKind.LENGTH: VALUE_LENGTH,
}
cdef dict _OP_CODES = {
    "=": EQUAL,
    "!=": DIFFERENT,
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": GREATER,
    ">=": GREATER_OR_EQUAL,
}


@cython.final
cdef class ConditionProgram:
    """Compiled conditions by number."""

    def __init__(self):
        self.functions = StringFunctions()

    def __dealloc__(self):
        cdef ProgramArrays *program = &self.program
        free(program.conditions)
        free(program.steps)
        free(program.paths)
        free(program.streams)
        free_vector(&program.suffixes)
        free_vector(&program.lists)
        free_vector(&program.evaluation_orders)
        free_strings(&program.condition_digests)
        free_strings(&program.step_digests)
        free_strings(&program.namespaces)
        free_strings(&program.labels)
        free_strings(&program.targets)
        free_strings(&program.operands)
        free_map(&program.stream_numbers)
        free_map(&program.path_numbers)
        free_map(&program.suffix_numbers)
        free_map(&program.deep_conditions)

    def __len__(self):
        """Return how many distinct conditions there are, nested ones included."""
        return self.program.condition_digests.ends.size

    def add(self, condition):
        """Add a condition and all inside it; return its number, the handle for evaluations.

        Equal conditions have one number.
        """
        cdef int32_t number
        if not isinstance(condition, tree.Condition):
            raise TypeError(f"a Condition, not {type(condition).__name__}")
        if condition.depth > MAX_DEPTH:
            raise RecursionError(f"a condition is nested more than {MAX_DEPTH} deep")
        waiting = [condition]
        while waiting:
            current = waiting[len(waiting) - 1]
            missing = []
            if _number(&self.program.condition_digests, current) < 0:
                for part in _nested_conditions(current):
                    if _number(&self.program.condition_digests, part) < 0:
                        missing.append(part)
                if not missing:
                    self._compile_condition(current)
            if missing:
                waiting += missing
            else:
                waiting.pop()
        number = _number(&self.program.condition_digests, condition)
        if (
            condition.depth > MAX_RECURSION
            and find(&self.program.deep_conditions, pack_key(number, 0)) < 0
        ):
            self._order_steps(number)
        return number

    @property
    def memory(self):
        """The memory of the program, in bytes, roughly."""
        cdef ProgramArrays *program = &self.program
        return (
            program.condition_capacity * <Py_ssize_t>sizeof(CompiledCondition)
            + program.step_capacity * <Py_ssize_t>sizeof(CompiledStep)
            + program.path_capacity * <Py_ssize_t>sizeof(CompiledPath)
            + program.stream_capacity * <Py_ssize_t>sizeof(NodeStream)
            + 4 * (program.suffixes.capacity + program.lists.capacity)
            + 4 * program.evaluation_orders.capacity
            + strings_bytes(&program.condition_digests)
            + strings_bytes(&program.step_digests)
            + strings_bytes(&program.namespaces)
            + strings_bytes(&program.labels)
            + strings_bytes(&program.targets)
            + strings_bytes(&program.operands)
            + self.functions.memory
            + map_bytes(&program.stream_numbers)
            + map_bytes(&program.path_numbers)
            + map_bytes(&program.suffix_numbers)
            + map_bytes(&program.deep_conditions)
        )

    # conditions, each after its nested ones

    cdef int32_t _compile_condition(self, object condition) except -1:
        cdef ProgramArrays *program = &self.program
        cdef CompiledCondition compiled
        memset(&compiled, 0, sizeof(compiled))
        compiled.positional = condition.positional
        kind = type(condition)
        if kind is tree.Exists:
            compiled.kind = EXISTS
            compiled.first = self._compile_path(condition.path)
            compiled.context_free = condition.path.absolute
        elif kind is tree.First:
            compiled.kind = FIRST
            compiled.first = self._compile_path(condition.path)
            compiled.second = _number(&program.condition_digests, condition.value)
            compiled.context_free = condition.path.absolute
        elif kind is tree.Count:
            compiled.kind = COUNT
            compiled.first = self._compile_path(condition.path)
            compiled.op = _OP_CODES[condition.op]
            compiled.number = _parse_number(condition.operand)
            compiled.context_free = condition.path.absolute
        elif kind is tree.Value:
            self._compile_value(condition, &compiled)
        elif kind is tree.Is:
            compiled.kind = IS
            compiled.first = self._stream(condition.test, False, False)
        elif kind is tree.Position:
            compiled.kind = POSITION
            compiled.op = _OP_CODES[condition.op]
            compiled.first = condition.left == "last"
            compiled.second = condition.right == "last"
            compiled.number = 0.0 if compiled.second else _parse_number(condition.right)
        elif kind is tree.And or kind is tree.Or:
            compiled.kind = AND if kind is tree.And else OR
            compiled.first = self._list_conditions(condition.parts)
            compiled.second = len(condition.parts)
        elif kind is tree.Not:
            compiled.kind = NOT
            compiled.first = _number(&program.condition_digests, condition.part)
        elif kind is tree.Always:
            compiled.kind = ALWAYS
            compiled.first = condition.holds
        else:
            raise AssertionError(condition)
        if program.condition_digests.ends.size == program.condition_capacity:
            grow(
                <void **>&program.conditions,
                &program.condition_capacity,
                program.condition_capacity + 1,
                sizeof(CompiledCondition),
            )
        program.conditions[program.condition_digests.ends.size] = compiled
        return _intern(&program.condition_digests, condition.digest)

    cdef int32_t _list_conditions(self, object conditions) except -1:
        """Append the numbers of conditions to `lists`; return where they start."""
        cdef Py_ssize_t start = self.program.lists.size
        reserve(&self.program.lists, len(conditions))
        for condition in conditions:
            push(&self.program.lists, _number(&self.program.condition_digests, condition))
        return <int32_t>start

    cdef int _compile_value(self, object value, CompiledCondition *compiled) except -1:
        compiled.kind = _VALUE_CODES[value.kind]
        compiled.op = _OP_CODES.get(value.op, EQUAL)
        operand = value.operand.encode("utf-8", "surrogatepass")
        compiled.first = _intern(&self.program.operands, operand)
        if compiled.kind == VALUE_NUMBER or compiled.kind == VALUE_LENGTH:
            compiled.number = _parse_number(value.operand)
        compiled.second = NO_FUNCTIONS
        if value.functions:
            compiled.second = self.functions.add(
                [(function.name, *function.arguments) for function in value.functions]
            )
        return 0

    # paths and steps

    cdef int32_t _compile_path(self, object path) except -1:
        cdef ProgramArrays *program = &self.program
        cdef int32_t suffix = -1, number
        cdef CompiledPath compiled
        suffixes = []
        for step in reversed(path.steps):
            suffix = self._suffix(self._compile_step(step), suffix)
            suffixes.append(suffix)
        compiled.absolute = path.absolute
        number = find(&program.path_numbers, pack_key(suffix + 1, compiled.absolute))
        if number >= 0:
            return number
        compiled.start = <int32_t>program.lists.size
        compiled.count = len(suffixes)
        for suffix_number in reversed(suffixes):
            push(&program.lists, suffix_number)
        if program.path_count == program.path_capacity:
            grow(
                <void **>&program.paths,
                &program.path_capacity,
                program.path_capacity + 1,
                sizeof(CompiledPath),
            )
        program.paths[program.path_count] = compiled
        insert(
            &program.path_numbers,
            pack_key(suffix + 1, compiled.absolute),
            <int32_t>program.path_count,
        )
        program.path_count += 1
        return <int32_t>program.path_count - 1

    cdef int32_t _suffix(self, int32_t step, int32_t next_suffix) except -1:
        """Return the suffix that starts with a step; create it if it is new."""
        cdef ProgramArrays *program = &self.program
        cdef uint64_t key = pack_key(step, next_suffix + 1)
        cdef int32_t number = find(&program.suffix_numbers, key)
        if number < 0:
            number = <int32_t>program.suffixes.size
            insert(&program.suffix_numbers, key, number)
            push(&program.suffixes, step)
        return number

    cdef int32_t _compile_step(self, object step) except -1:
        cdef ProgramArrays *program = &self.program
        cdef CompiledStep compiled
        cdef int32_t number = _number(&program.step_digests, step)
        if number >= 0:
            return number
        compiled.axis = _AXIS_CODES[step.axis]
        compiled.stream = self._stream(
            step.test, compiled.axis == ATTRIBUTE, compiled.axis in _WITH_DOCUMENT_NODE
        )
        compiled.start = self._list_conditions(step.conditions)
        compiled.count = len(step.conditions)
        compiled.per_context = (
            step.positional and DESCENDANT <= compiled.axis <= DESCENDANT_OR_SELF
        )
        if program.step_digests.ends.size == program.step_capacity:
            grow(
                <void **>&program.steps,
                &program.step_capacity,
                program.step_capacity + 1,
                sizeof(CompiledStep),
            )
        program.steps[program.step_digests.ends.size] = compiled
        return _intern(&program.step_digests, step.digest)

    cdef int32_t _stream(self, object test, bint attribute, bint document) except -1:
        """Return the stream of a node test; create it if it is new."""
        cdef ProgramArrays *program = &self.program
        cdef NodeStream stream
        cdef int32_t number, kind = _TEST_CODES[test.kind]
        cdef uint64_t key
        if attribute and kind != NAME and kind != ANY_IN:
            kind = ANY  # every attribute passes
        stream.kind = kind
        stream.name = self._name(test) if kind != ANY else 0
        stream.attribute = attribute
        stream.document = document and kind == NODE
        key = pack_key(stream.name + 1, kind << 2 | attribute << 1 | stream.document)
        number = find(&program.stream_numbers, key)
        if number >= 0:
            return number
        if program.stream_count == program.stream_capacity:
            grow(
                <void **>&program.streams,
                &program.stream_capacity,
                program.stream_capacity + 1,
                sizeof(NodeStream),
            )
        program.streams[program.stream_count] = stream
        insert(&program.stream_numbers, key, <int32_t>program.stream_count)
        program.stream_count += 1
        return <int32_t>program.stream_count - 1

    cdef int32_t _name(self, object test) except -2:
        """Return the number of a test's label, namespace or target; intern it if it is new."""
        cdef ProgramArrays *program = &self.program
        cdef int32_t namespace = NO_NAMESPACE
        cdef bytes name = test.name.encode("utf-8", "surrogatepass")
        kind = test.kind
        if kind is syntax.TestKind.ANY_IN:
            return _intern(&program.namespaces, name) + 1
        if kind is syntax.TestKind.INSTRUCTION:
            return _intern(&program.targets, name) if name else ANY_TARGET
        if kind is not syntax.TestKind.NAME:
            return 0
        if name.startswith(b"{"):  # a namespace may contain braces, a local name cannot
            end = name.rindex(b"}")
            namespace = _intern(&program.namespaces, name[1:end]) + 1
            name = name[end + 1 :]
        return add_string(&program.labels, name, len(name), namespace)

    cdef int _order_steps(self, int32_t number) except -1:
        """List the steps of a deep condition by number: inner ones were numbered first."""
        cdef ProgramArrays *program = &self.program
        cdef Py_ssize_t start = program.evaluation_orders.size
        cdef const CompiledCondition *condition
        cdef const CompiledPath *path
        cdef const CompiledStep *step
        cdef int32_t index, place
        steps = set()
        seen = {number}
        waiting = [number]
        while waiting:
            nested = []
            condition = program.conditions + <int32_t>waiting.pop()
            if condition.kind == AND or condition.kind == OR:
                for index in range(condition.second):
                    nested.append(program.lists.at[condition.first + index])
            elif condition.kind == NOT:
                nested.append(condition.first)
            elif condition.kind <= COUNT:
                path = program.paths + condition.first
                for index in range(path.count):
                    place = program.suffixes.at[program.lists.at[path.start + index]]
                    step = program.steps + place
                    steps.add(place)
                    for place in range(step.count):
                        nested.append(program.lists.at[step.start + place])
            for part in nested:
                if part not in seen:
                    seen.add(part)
                    waiting.append(part)
        push(&program.evaluation_orders, <int32_t>len(steps))
        for step_number in sorted(steps):
            push(&program.evaluation_orders, step_number)
        insert(&program.deep_conditions, pack_key(number, 0), <int32_t>start)
        return 0


cdef list _nested_conditions(object condition):
    """Return the conditions that must be compiled before this one."""
    kind = type(condition)
    if kind is tree.And or kind is tree.Or:
        return list(condition.parts)
    if kind is tree.Not:
        return [condition.part]
    nested = [condition.value] if kind is tree.First else []
    if kind is tree.Exists or kind is tree.Count or kind is tree.First:
        for step in condition.path.steps:
            nested += step.conditions
    return nested


cdef int32_t _number(StringTable *digests, object part) except? -1:
    cdef bytes digest = part.digest
    return find_string(digests, digest, len(digest), 0)


cdef int32_t _intern(StringTable *strings, bytes text) except -1:
    return add_string(strings, text, len(text), 0)


cdef double _parse_number(str text) except? -1.0:
    cdef bytes encoded = text.encode("utf-8", "surrogatepass")
    return number_of(encoded, len(encoded))
