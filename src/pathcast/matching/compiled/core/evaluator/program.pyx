"""Conditions compiled once, for the evaluation of any number of documents.

A tree of conditions becomes entries of flat arrays that refer to each other by number. Equal
parts are one entry: conditions and steps by their digests, paths by their steps. The ends of
paths are shared too (`suffixes`), since paths are joined from their ends: `a/b/c` and `x/b/c`
have `b/c` in common.

What was added stays, and stays where it is in number; additions must not happen while a
document is being evaluated elsewhere. Nothing here recurses: a condition is compiled once all
conditions inside it are. Those that are nested deep have their steps listed, inner ones first,
so that evaluation need not recurse either.

Cost: some 100 bytes for each distinct step and condition, half as much for a path and each of its
ends; a subscription of three steps that shares little takes 500 bytes and 12 microseconds.

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
from pathcast.matching.compiled.core.strings cimport (
    add_string,
    find_string,
    strings_bytes,
    free_strings,
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
    MAX_RECURSION = 80  # nested deeper than this, inner steps are worked out first
    MAX_DEPTH = 10000  # conditions inside conditions do recurse, on the stack of C

cdef dict _AXES = {
    syntax.Axis.CHILD: CHILD,
    syntax.Axis.ATTRIBUTE: ATTRIBUTE,
    syntax.Axis.DESCENDANT: DESCENDANT,
    syntax.Axis.DESCENDANT_OR_SELF: DESCENDANT_OR_SELF,
}
cdef dict _TESTS = {
    syntax.TestKind.NAME: NAME,
    syntax.TestKind.ANY: ANY,
    syntax.TestKind.ANY_IN: ANY_IN,
    syntax.TestKind.NODE: NODE,
    syntax.TestKind.TEXT: TEXT,
    syntax.TestKind.COMMENT: COMMENT,
    syntax.TestKind.INSTRUCTION: INSTRUCTION,
}
cdef dict _VALUES = {
    tree.ValueKind.NUMBER: VALUE_NUMBER,
    tree.ValueKind.STRING: VALUE_STRING,
    tree.ValueKind.CONTAINS: VALUE_CONTAINS,
    tree.ValueKind.STARTS_WITH: VALUE_STARTS_WITH,
    tree.ValueKind.LENGTH: VALUE_LENGTH,
}
cdef dict _OPS = {
    "=": EQUAL,
    "!=": DIFFERENT,
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": GREATER,
    ">=": GREATER_OR_EQUAL,
}


@cython.final
cdef class ConditionProgram:
    """Conditions by number, ready to be evaluated."""

    def __dealloc__(self):
        cdef ProgramArrays *program = &self.program
        free(program.conditions)
        free(program.steps)
        free(program.paths)
        free(program.streams)
        free_vector(&program.suffixes)
        free_vector(&program.lists)
        free_vector(&program.ordered)
        free_strings(&program.condition_digests)
        free_strings(&program.step_digests)
        free_strings(&program.spaces)
        free_strings(&program.labels)
        free_strings(&program.targets)
        free_strings(&program.operands)
        free_map(&program.stream_numbers)
        free_map(&program.path_numbers)
        free_map(&program.suffix_numbers)
        free_map(&program.deep)

    def __len__(self):
        """How many distinct conditions there are, those inside others included."""
        return self.program.condition_digests.ends.size

    def add(self, condition):
        """The number of a condition: a handle for evaluations. Equal conditions have one number."""
        cdef int32_t number
        if not isinstance(condition, tree.Condition):
            raise TypeError(f"a Condition, not {type(condition).__name__}")
        if condition.depth > MAX_DEPTH:
            raise RecursionError(f"a condition is nested more than {MAX_DEPTH} deep")
        waiting = [condition]
        while waiting:
            current = waiting[len(waiting) - 1]
            unknown = []
            if _number(&self.program.condition_digests, current) < 0:
                for part in _inside(current):
                    if _number(&self.program.condition_digests, part) < 0:
                        unknown.append(part)
                if not unknown:
                    self._condition(current)
            if unknown:
                waiting += unknown
            else:
                waiting.pop()
        number = _number(&self.program.condition_digests, condition)
        if condition.depth > MAX_RECURSION and find(&self.program.deep, pack_key(number, 0)) < 0:
            self._order(number)
        return number

    @property
    def memory(self):
        """Bytes, roughly."""
        cdef ProgramArrays *program = &self.program
        return (
            program.condition_room * <Py_ssize_t>sizeof(CompiledCondition)
            + program.step_room * <Py_ssize_t>sizeof(CompiledStep)
            + program.path_room * <Py_ssize_t>sizeof(CompiledPath)
            + program.stream_room * <Py_ssize_t>sizeof(NodeStream)
            + 4 * (program.suffixes.capacity + program.lists.capacity + program.ordered.capacity)
            + strings_bytes(&program.condition_digests)
            + strings_bytes(&program.step_digests)
            + strings_bytes(&program.spaces)
            + strings_bytes(&program.labels)
            + strings_bytes(&program.targets)
            + strings_bytes(&program.operands)
            + map_bytes(&program.stream_numbers)
            + map_bytes(&program.path_numbers)
            + map_bytes(&program.suffix_numbers)
            + map_bytes(&program.deep)
        )

    # conditions, each after those inside it

    cdef int32_t _condition(self, object condition) except -1:
        cdef ProgramArrays *program = &self.program
        cdef CompiledCondition made
        memset(&made, 0, sizeof(made))
        made.positional = condition.positional
        kind = type(condition)
        if kind is tree.Exists:
            made.kind = EXISTS
            made.first = self._path(condition.path)
            made.context_free = condition.path.absolute
        elif kind is tree.First:
            made.kind = FIRST
            made.first = self._path(condition.path)
            made.second = _number(&program.condition_digests, condition.value)
            made.context_free = condition.path.absolute
        elif kind is tree.Count:
            made.kind = COUNT
            made.first = self._path(condition.path)
            made.op = _OPS[condition.op]
            made.number = _read(condition.operand)
            made.context_free = condition.path.absolute
        elif kind is tree.Value:
            self._value(condition, &made)
        elif kind is tree.Is:
            made.kind = IS
            made.first = self._stream(condition.test, False, False)
        elif kind is tree.Position:
            made.kind = POSITION
            made.op = _OPS[condition.op]
            made.first = condition.left == "last"
            made.second = condition.right == "last"
            made.number = 0.0 if made.second else _read(condition.right)
        elif kind is tree.And or kind is tree.Or:
            made.kind = AND if kind is tree.And else OR
            made.first = self._conditions(condition.parts)
            made.second = len(condition.parts)
        elif kind is tree.Not:
            made.kind = NOT
            made.first = _number(&program.condition_digests, condition.part)
        elif kind is tree.Always:
            made.kind = ALWAYS
            made.first = condition.holds
        else:
            raise AssertionError(condition)
        if program.condition_digests.ends.size == program.condition_room:
            grow(
                <void **>&program.conditions,
                &program.condition_room,
                program.condition_room + 1,
                sizeof(CompiledCondition),
            )
        program.conditions[program.condition_digests.ends.size] = made
        return _intern(&program.condition_digests, condition.digest)

    cdef int32_t _conditions(self, object conditions) except -1:
        """Where in `lists` their numbers start."""
        cdef Py_ssize_t start = self.program.lists.size
        reserve(&self.program.lists, len(conditions))
        for condition in conditions:
            push(&self.program.lists, _number(&self.program.condition_digests, condition))
        return <int32_t>start

    cdef int32_t _value(self, object value, CompiledCondition *made) except -1:
        made.kind = _VALUES[value.kind]
        made.op = _OPS.get(value.op, EQUAL)
        made.first = _intern(&self.program.operands, value.operand.encode("utf-8", "surrogatepass"))
        if made.kind == VALUE_NUMBER or made.kind == VALUE_LENGTH:
            made.number = _read(value.operand)
        return 0

    # paths and steps

    cdef int32_t _path(self, object path) except -1:
        cdef ProgramArrays *program = &self.program
        cdef int32_t suffix = -1, found
        cdef CompiledPath made
        suffixes = []
        for step in reversed(path.steps):
            suffix = self._suffix(self._step(step), suffix)
            suffixes.append(suffix)
        made.absolute = path.absolute
        found = find(&program.path_numbers, pack_key(suffix + 1, made.absolute))
        if found >= 0:
            return found
        made.start = <int32_t>program.lists.size
        made.count = len(suffixes)
        for each in reversed(suffixes):
            push(&program.lists, each)
        if program.path_count == program.path_room:
            grow(
                <void **>&program.paths, &program.path_room, program.path_room + 1, sizeof(CompiledPath)
            )
        program.paths[program.path_count] = made
        insert(
            &program.path_numbers, pack_key(suffix + 1, made.absolute), <int32_t>program.path_count
        )
        program.path_count += 1
        return <int32_t>program.path_count - 1

    cdef int32_t _suffix(self, int32_t step, int32_t rest) except -1:
        cdef ProgramArrays *program = &self.program
        cdef uint64_t key = pack_key(step, rest + 1)
        cdef int32_t found = find(&program.suffix_numbers, key)
        if found < 0:
            found = <int32_t>program.suffixes.size
            insert(&program.suffix_numbers, key, found)
            push(&program.suffixes, step)
        return found

    cdef int32_t _step(self, object step) except -1:
        cdef ProgramArrays *program = &self.program
        cdef CompiledStep made
        cdef int32_t found = _number(&program.step_digests, step)
        if found >= 0:
            return found
        made.axis = _AXES[step.axis]
        made.stream = self._stream(
            step.test, made.axis == ATTRIBUTE, made.axis == DESCENDANT_OR_SELF
        )
        made.start = self._conditions(step.conditions)
        made.count = len(step.conditions)
        made.per_context = step.positional and made.axis >= DESCENDANT
        if program.step_digests.ends.size == program.step_room:
            grow(
                <void **>&program.steps, &program.step_room, program.step_room + 1, sizeof(CompiledStep)
            )
        program.steps[program.step_digests.ends.size] = made
        return _intern(&program.step_digests, step.digest)

    cdef int32_t _stream(self, object test, bint attribute, bint itself) except -1:
        cdef ProgramArrays *program = &self.program
        cdef NodeStream made
        cdef int32_t found, kind = _TESTS[test.kind]
        cdef uint64_t key
        if attribute and kind != NAME and kind != ANY_IN:
            kind = ANY  # what an attribute is anyhow
        made.kind = kind
        made.name = self._name(test) if kind != ANY else 0
        made.attribute = attribute
        made.itself = itself and kind == NODE
        key = pack_key(made.name + 1, kind << 2 | attribute << 1 | made.itself)
        found = find(&program.stream_numbers, key)
        if found >= 0:
            return found
        if program.stream_count == program.stream_room:
            grow(
                <void **>&program.streams,
                &program.stream_room,
                program.stream_room + 1,
                sizeof(NodeStream),
            )
        program.streams[program.stream_count] = made
        insert(&program.stream_numbers, key, <int32_t>program.stream_count)
        program.stream_count += 1
        return <int32_t>program.stream_count - 1

    cdef int32_t _name(self, object test) except -2:
        cdef ProgramArrays *program = &self.program
        cdef int32_t space = NO_NAMESPACE
        cdef bytes name = test.name.encode("utf-8", "surrogatepass")
        cdef bytes local
        kind = test.kind
        if kind is syntax.TestKind.ANY_IN:
            return _intern(&program.spaces, name) + 1
        if kind is syntax.TestKind.INSTRUCTION:
            return _intern(&program.targets, name) if name else ANY_TARGET
        if kind is not syntax.TestKind.NAME:
            return 0
        if name.startswith(b"{"):  # no local name has a brace in it, but a namespace may
            end = name.rindex(b"}")
            space = _intern(&program.spaces, name[1:end]) + 1
            name = name[end + 1 :]
        return add_string(&program.labels, name, len(name), space)

    cdef int _order(self, int32_t number) except -1:
        """List the steps of a deep condition, inner ones first: they were numbered first."""
        cdef ProgramArrays *program = &self.program
        cdef Py_ssize_t start = program.ordered.size
        cdef const CompiledCondition *condition
        cdef const CompiledPath *path
        cdef const CompiledStep *step
        cdef int32_t index, place
        steps = set()
        met = {number}
        waiting = [number]
        while waiting:
            inside = []
            condition = program.conditions + <int32_t>waiting.pop()
            if condition.kind == AND or condition.kind == OR:
                for index in range(condition.second):
                    inside.append(program.lists.at[condition.first + index])
            elif condition.kind == NOT:
                inside.append(condition.first)
            elif condition.kind <= COUNT:
                path = program.paths + condition.first
                for index in range(path.count):
                    place = program.suffixes.at[program.lists.at[path.start + index]]
                    step = program.steps + place
                    steps.add(place)
                    for place in range(step.count):
                        inside.append(program.lists.at[step.start + place])
            for part in inside:
                if part not in met:
                    met.add(part)
                    waiting.append(part)
        push(&program.ordered, <int32_t>len(steps))
        for found in sorted(steps):
            push(&program.ordered, found)
        insert(&program.deep, pack_key(number, 0), <int32_t>start)
        return 0


cdef list _inside(object condition):
    """The conditions that must be compiled before this one."""
    kind = type(condition)
    if kind is tree.And or kind is tree.Or:
        return list(condition.parts)
    if kind is tree.Not:
        return [condition.part]
    found = [condition.value] if kind is tree.First else []
    if kind is tree.Exists or kind is tree.Count or kind is tree.First:
        for step in condition.path.steps:
            found += step.conditions
    return found


cdef int32_t _number(StringTable *digests, object digested) except? -1:
    cdef bytes digest = digested.digest
    return find_string(digests, digest, len(digest), 0)


cdef int32_t _intern(StringTable *strings, bytes text) except -1:
    return add_string(strings, text, len(text), 0)


cdef double _read(str spelling) except? -1.0:
    cdef bytes encoded = spelling.encode("utf-8", "surrogatepass")
    return number_of(encoded, len(encoded))
