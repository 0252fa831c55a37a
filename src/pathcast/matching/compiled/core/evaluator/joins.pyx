"""Structural joins on one document: the nodes that steps and paths select, by region codes.

The joins of `pathcast.matching.plain.evaluate`, on numbered nodes and compiled paths. Results of
streams, steps and path suffixes are memoized by number until the document is done. `SidewaysJoins`
implements the steps outside the subtree, and `Evaluation` implements `filter`, through which steps
test their conditions.

Filters work in place; copy a shared list first. Temporary lists form a stack in `scratch`: the
caller takes a mark, and releases to it once it has its result.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp, memcpy, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport (
    ArenaMark,
    allocate,
    allocate_zeros,
    free_arena,
    mark,
    release,
)
from pathcast.matching.compiled.core.evaluator.nodes cimport (
    ATTRIBUTE_NODE,
    COMMENT_NODE,
    ELEMENT_NODE,
    PI_NODE,
    TEXT_NODE,
)
from pathcast.matching.compiled.core.evaluator.program cimport (
    ANY_IN,
    ANY_TARGET,
    ATTRIBUTE,
    CHILD,
    COMMENT,
    DESCENDANT_OR_SELF,
    INSTRUCTION,
    NAME,
    NODE,
    PARENT,
    TEXT,
    ConditionProgram,
    NodeStream,
)
from pathcast.matching.compiled.core.evaluator.sets cimport (
    add_member,
    bisect_right,
    has_member,
    init_members,
)
from pathcast.matching.compiled.core.strings cimport StringTable

__all__ = ["StepJoins"]

cetree.import_lxml__etree()


cdef class StepJoins:
    """Steps and paths on one document. `work` counts the nodes that were visited."""

    def __cinit__(self, ConditionProgram conditions not None, cetree._Element root not None):
        self.conditions = conditions
        self.program = &conditions.program
        self.count = len(conditions)
        self.nodes = NumberedNodes(conditions, root)

    def __dealloc__(self):
        free_arena(&self.arena)
        free_arena(&self.scratch)

    # memos

    cdef int start(self) except -1 nogil:
        """Allocate the memos and number the document."""
        self.init_memo(&self.stream_memo, self.program.stream_count)
        self.init_memo(&self.step_memo, self.program.step_digests.ends.size)
        self.init_memo(&self.level_memo, self.program.suffixes.size)
        self.init_memo(&self.truth_memo, self.count)
        self.nodes.number()
        self.at = self.nodes.at
        return 0

    cdef int init_memo(self, PagedMemo *memo, Py_ssize_t numbers) except -1 nogil:
        memo.pages = <void ***>allocate_zeros(
            &self.arena, ((<size_t>numbers >> PAGE_BITS) + 1) * sizeof(void **)
        )
        return 0

    cdef int memoize(self, PagedMemo *memo, int32_t number, void *value) except -1 nogil:
        cdef void ***page = memo.pages + (number >> PAGE_BITS)
        if page[0] == NULL:
            page[0] = <void **>allocate_zeros(&self.arena, PAGE_SIZE * sizeof(void *))
        page[0][number & PAGE_MASK] = value
        return 0

    cdef NodeSet *store(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """Return a copy that lives as long as the evaluation."""
        cdef NodeSet *copy = <NodeSet *>allocate(&self.arena, sizeof(NodeSet))
        copy.size = count
        copy.at = <int32_t *>allocate(&self.arena, <size_t>count * sizeof(int32_t))
        memcpy(copy.at, nodes, <size_t>count * sizeof(int32_t))
        return copy

    cdef int32_t *copy_to_scratch(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """Return a temporary copy to filter."""
        cdef int32_t *copy = <int32_t *>allocate(&self.scratch, <size_t>count * sizeof(int32_t))
        memcpy(copy, nodes, <size_t>count * sizeof(int32_t))
        return copy

    # nodes

    cdef const NodeSet *candidates(self, int32_t number) except NULL nogil:
        """Return the nodes that a step can select from any context node.

        The conditions of a step that is positional per context node are not tested.
        """
        cdef const NodeSet *result = <const NodeSet *>lookup(&self.step_memo, number)
        cdef const CompiledStep *step = self.program.steps + number
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef int32_t index, condition
        cdef ArenaMark before
        if result != NULL:
            return result
        if step.axis > PARENT:
            return self.sideways_candidates(number)
        result = self.nodes_passing(step.stream)
        if step.count and not step.per_context and result.size:
            before = mark(&self.scratch)
            count = result.size
            nodes = self.copy_to_scratch(result.at, count)
            for index in range(step.count):
                condition = self.program.lists.at[step.start + index]
                if self.program.conditions[condition].positional:
                    count = self.filter_by_position(condition, nodes, count)
                else:
                    count = self.filter(condition, nodes, count)
            result = self.store(nodes, count)
            release(&self.scratch, before)
        self.memoize(&self.step_memo, number, <void *>result)
        return result

    cdef const NodeSet *nodes_passing(self, int32_t stream) except NULL nogil:
        """Return all nodes that pass a node test."""
        cdef const NodeSet *result = <const NodeSet *>lookup(&self.stream_memo, stream)
        if result == NULL:
            result = self._find_passing(stream)
            self.memoize(&self.stream_memo, stream, <void *>result)
        return result

    cdef const NodeSet *_find_passing(self, int32_t number) except NULL nogil:
        cdef const NodeStream *stream = self.program.streams + number
        cdef const NodeSet *of_kind
        cdef NodeSet *result
        cdef int32_t kind = ATTRIBUTE_NODE if stream.attribute else ELEMENT_NODE, node
        cdef Py_ssize_t index
        if stream.kind == NAME:
            return self.nodes.of_label(stream.name, stream.attribute)
        if stream.kind == TEXT:
            kind = TEXT_NODE
        elif stream.kind == COMMENT:
            kind = COMMENT_NODE
        elif stream.kind == INSTRUCTION:
            kind = PI_NODE
        elif stream.kind == NODE:
            result = <NodeSet *>allocate(&self.arena, sizeof(NodeSet))
            result.size = 0
            result.at = <int32_t *>allocate(
                &self.arena, <size_t>self.nodes.size * sizeof(int32_t)
            )
            for node in range(0 if stream.document else 1, <int32_t>self.nodes.size):
                if self.at[node].kind != ATTRIBUTE_NODE:
                    result.at[result.size] = node
                    result.size += 1
            return result
        of_kind = self.nodes.of_kind(kind)
        if stream.kind != ANY_IN and (stream.kind != INSTRUCTION or stream.name == ANY_TARGET):
            return of_kind
        result = self.store(of_kind.at, of_kind.size)
        result.size = 0
        for index in range(of_kind.size):
            if self.has_name(of_kind.at[index], stream):
                result.at[result.size] = of_kind.at[index]
                result.size += 1
        return result

    cdef bint has_name(self, int32_t node, const NodeStream *stream) noexcept nogil:
        """Return whether a node of the stream's kind has its name, namespace or target."""
        cdef const NumberedNode *numbered = self.at + node
        if stream.kind == NAME:
            return self.nodes.names[numbered.name].label == stream.name
        if stream.kind == ANY_IN:
            return self.nodes.names[numbered.name].space == stream.name
        if stream.name == ANY_TARGET:
            return True
        return _equals_string(
            &self.program.targets, stream.name, <const char *>(<tree.xmlNode *>numbered.at).name
        )

    cdef Py_ssize_t filter(
        self, int32_t condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep the nodes at which a condition holds; for position(), the nodes are its context."""
        with gil:
            raise NotImplementedError

    # sideways steps; number: of a step

    cdef const NodeSet *sideways_candidates(self, int32_t number) except NULL nogil:
        """Return the nodes that pass all conditions but those on positions."""
        with gil:
            raise NotImplementedError

    cdef int prepare_sideways(self, int32_t number, PathLevel *level) except -1 nogil:
        """Compute the prefix sums of a level."""
        with gil:
            raise NotImplementedError

    cdef bint reaches_sideways(
        self, int32_t number, int32_t start, const PathLevel *level
    ) except -1 nogil:
        """Return whether the step selects a node of its level from a start."""
        with gil:
            raise NotImplementedError

    cdef Py_ssize_t count_sideways(
        self, const CompiledPath *path, int32_t start
    ) except -1 nogil:
        """Return how many nodes a path selects from a start, by a sideways step first."""
        with gil:
            raise NotImplementedError

    cdef int select_sideways(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil:
        """Write the nodes that the step selects from several starts to `result`."""
        with gil:
            raise NotImplementedError

    # positions among siblings

    cdef Py_ssize_t filter_by_position(
        self, int32_t condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep the nodes at which a positional condition holds among their siblings."""
        cdef ArenaMark before = mark(&self.scratch)
        cdef size_t size = <size_t>count * sizeof(int32_t)
        cdef int32_t *groups = <int32_t *>allocate(&self.scratch, size)
        cdef int32_t *ends = <int32_t *>allocate_zeros(&self.scratch, size + sizeof(int32_t))
        cdef int32_t *order = <int32_t *>allocate(&self.scratch, size)
        cdef int32_t *members = <int32_t *>allocate(&self.scratch, size)
        cdef Py_ssize_t index, start = 0, passed, at, kept = 0
        cdef int32_t group, group_count = self._group_siblings(nodes, count, groups)
        # Counting sort of the nodes by group.
        for index in range(count):
            ends[groups[index] + 1] += 1
        for group in range(group_count):
            ends[group + 1] += ends[group]
        for index in range(count):  # afterwards, ends[g] is where group g ends
            order[ends[groups[index]]] = <int32_t>index
            ends[groups[index]] += 1
        for group in range(group_count):
            for index in range(start, ends[group]):
                members[index - start] = nodes[order[index]]
            passed = self.filter(condition, members, ends[group] - start)
            at = 0
            for index in range(start, ends[group]):
                if at < passed and nodes[order[index]] == members[at]:
                    at += 1
                else:
                    groups[order[index]] = -1
            start = ends[group]
        for index in range(count):
            if groups[index] >= 0:
                nodes[kept] = nodes[index]
                kept += 1
        release(&self.scratch, before)
        return kept

    cdef int32_t _group_siblings(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil:
        """Number the groups of siblings with a stack of open parents; return how many."""
        cdef ArenaMark before = mark(&self.scratch)
        cdef size_t size = <size_t>count * sizeof(int32_t)
        cdef int32_t *parents = <int32_t *>allocate(&self.scratch, size)
        cdef int32_t *open_groups = <int32_t *>allocate(&self.scratch, size)
        cdef Py_ssize_t top = 0, index
        cdef int32_t group_count = 0, parent
        for index in range(count):
            parent = self.at[nodes[index]].parent
            while top and (
                parents[top - 1] < 0 or self.at[parents[top - 1]].right < nodes[index]
            ):
                top -= 1
            if top == 0 or parents[top - 1] != parent:
                parents[top] = parent
                open_groups[top] = group_count
                top += 1
                group_count += 1
            groups[index] = open_groups[top - 1]
        release(&self.scratch, before)
        return group_count

    # paths

    cdef Py_ssize_t filter_by_path(
        self, const CompiledPath *path, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep the nodes from which a path selects something (a semi-join)."""
        cdef int32_t first
        cdef Py_ssize_t kept = 0, index
        cdef NodeSet selected
        cdef ArenaMark before
        if path.count == 0:
            return count
        first = self.program.suffixes.at[self.program.lists.at[path.start]]
        if (
            self.program.steps[first].axis == DESCENDANT_OR_SELF
            and self.at[nodes[0]].kind == ATTRIBUTE_NODE
        ):
            before = mark(&self.scratch)
            for index in range(count):
                self.select(path, nodes[index], &selected)
                if selected.size:
                    nodes[kept] = nodes[index]
                    kept += 1
                release(&self.scratch, before)
            return kept
        return self._join(first, nodes, count, self._level_of(path))

    cdef const PathLevel *_level_of(self, const CompiledPath *path) except NULL nogil:
        """Return the level of a path's first step; compute levels from its last step up."""
        cdef const int32_t *suffixes = self.program.lists.at + path.start
        cdef const PathLevel *level = NULL
        cdef const NodeSet *above
        cdef int32_t index = 0, number, below
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef ArenaMark before
        while index < path.count and level == NULL:
            level = <const PathLevel *>lookup(&self.level_memo, suffixes[index])
            index += level == NULL
        while index > 0:
            index -= 1
            number = self.program.suffixes.at[suffixes[index]]
            before = mark(&self.scratch)
            if level == NULL:
                above = self.candidates(number)
                level = self._new_level(self.program.steps + number, above.at, above.size)
            elif level.nodes.size == 0:
                level = self._new_level(self.program.steps + number, NULL, 0)
            else:
                below = self.program.suffixes.at[suffixes[index + 1]]
                above = self.candidates(number)
                nodes = self.copy_to_scratch(above.at, above.size)
                count = self._join(below, nodes, above.size, level)
                above = self.store(nodes, count)
                level = self._new_level(self.program.steps + number, above.at, above.size)
            release(&self.scratch, before)
            self.memoize(&self.level_memo, suffixes[index], <void *>level)
        return level

    cdef const PathLevel *_new_level(
        self, const CompiledStep *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil:
        """Return a level of nodes that a step can reach, prepared for membership tests."""
        cdef PathLevel *level = <PathLevel *>allocate_zeros(&self.arena, sizeof(PathLevel))
        cdef Py_ssize_t index
        self.work += count
        level.nodes.at = <int32_t *>nodes
        level.nodes.size = count
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            init_members(&level.members, &self.arena, count, self.nodes.size)
            for index in range(count):
                add_member(&level.members, self.at[nodes[index]].parent)
        elif step.per_context or step.axis == PARENT:
            init_members(&level.members, &self.arena, count, self.nodes.size)
            for index in range(count):
                add_member(&level.members, nodes[index])
        elif step.axis > PARENT:
            self.prepare_sideways(<int32_t>(step - self.program.steps), level)
        return level

    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const PathLevel *level
    ) except -1 nogil:
        """Keep the nodes from which a step reaches a node of its level."""
        cdef const CompiledStep *step = self.program.steps + number
        cdef Py_ssize_t kept = 0, index, place
        cdef int32_t node, parent
        cdef bint reaches
        cdef NodeSet selected
        cdef ArenaMark before
        self.work += count
        if level.nodes.size == 0:
            return 0
        for index in range(count):
            node = nodes[index]
            reaches = False
            if step.axis == CHILD or step.axis == ATTRIBUTE:
                reaches = has_member(&level.members, node)
            elif step.per_context:
                before = mark(&self.scratch)
                self._select_from(number, node, &selected)
                for place in range(selected.size):
                    if has_member(&level.members, selected.at[place]):
                        reaches = True
                        break
                release(&self.scratch, before)
            elif step.axis == PARENT:
                parent = self.at[node].parent
                reaches = parent >= 0 and has_member(&level.members, parent)
            elif step.axis > PARENT:
                reaches = self.reaches_sideways(number, node, level)
            else:
                place = bisect_right(&level.nodes, node - (step.axis == DESCENDANT_OR_SELF))
                reaches = (
                    place < level.nodes.size and level.nodes.at[place] <= self.at[node].right
                )
            if reaches:
                nodes[kept] = node
                kept += 1
        return kept

    cdef int select(
        self, const CompiledPath *path, int32_t start, NodeSet *result
    ) except -1 nogil:
        """Write the nodes that a path selects from a node to `result`, which is read-only."""
        cdef const CompiledStep *step
        cdef int32_t number, index
        cdef NodeSet current
        if path.absolute:
            start = 0
        result.at = self.copy_to_scratch(&start, 1)
        result.size = 1
        for index in range(path.count):
            if result.size == 0:
                break
            number = self.program.suffixes.at[self.program.lists.at[path.start + index]]
            step = self.program.steps + number
            current = result[0]
            if step.axis > PARENT:
                self.select_sideways(number, &current, result)
            elif step.axis == PARENT:
                self._select_parents(number, &current, result)
            elif current.size == 1:
                self._select_from(number, current.at[0], result)
            elif step.axis == CHILD or step.axis == ATTRIBUTE:
                self._select_children(number, &current, result)
            elif step.per_context:
                self._select_per_context(number, &current, result)
            else:
                self._select_descendants(number, &current, result)
        return 0

    cdef int _select_from(self, int32_t number, int32_t start, NodeSet *result) except -1 nogil:
        """Write the nodes that a step selects from one node to `result`, which is read-only."""
        cdef const CompiledStep *step = self.program.steps + number
        cdef const NodeSet *nodes
        cdef Py_ssize_t first, last, index
        cdef int32_t *copy
        if step.axis == DESCENDANT_OR_SELF and self.at[start].kind == ATTRIBUTE_NODE:
            return self._select_from_attribute(step, start, result)
        nodes = self.candidates(number)
        first = bisect_right(nodes, start - (step.axis == DESCENDANT_OR_SELF))
        last = bisect_right(nodes, self.at[start].right)
        self.work += last - first
        result.at = nodes.at + first
        result.size = last - first
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            copy = <int32_t *>allocate(&self.scratch, <size_t>result.size * sizeof(int32_t))
            result.at = copy
            result.size = 0
            for index in range(first, last):
                if self.at[nodes.at[index]].parent == start:
                    copy[result.size] = nodes.at[index]
                    result.size += 1
        elif step.per_context:
            result.at = self.copy_to_scratch(result.at, result.size)
            for index in range(step.count):
                result.size = self.filter(
                    self.program.lists.at[step.start + index], result.at, result.size
                )
        return 0

    cdef int _select_from_attribute(
        self, const CompiledStep *step, int32_t attribute, NodeSet *result
    ) except -1 nogil:
        """Select descendant-or-self of an attribute: at most the attribute itself."""
        cdef int32_t index
        result.at = self.copy_to_scratch(&attribute, 1)
        result.size = self.program.streams[step.stream].kind == NODE
        for index in range(step.count):
            result.size = self.filter(
                self.program.lists.at[step.start + index], result.at, result.size
            )
        return 0

    cdef int _select_parents(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil:
        cdef const NodeSet *nodes = self.candidates(number)
        cdef Py_ssize_t index, place
        cdef int32_t parent
        result.at = <int32_t *>allocate(&self.scratch, <size_t>starts.size * sizeof(int32_t))
        result.size = 0
        self.work += starts.size
        for index in range(starts.size):
            parent = self.at[starts.at[index]].parent
            place = bisect_right(nodes, parent)
            if place and nodes.at[place - 1] == parent:
                result.at[result.size] = parent
                result.size += 1
        result.size = _sort_unique(result.at, result.size)
        return 0

    cdef int _select_children(
        self, int32_t number, const NodeSet *parents, NodeSet *result
    ) except -1 nogil:
        cdef const NodeSet *nodes = self.candidates(number)
        cdef Py_ssize_t first = bisect_right(nodes, parents.at[0]), last, index, place
        cdef int32_t end = 0, parent
        for index in range(parents.size):
            end = max(end, self.at[parents.at[index]].right)
        last = bisect_right(nodes, end)
        self.work += last - first
        result.at = <int32_t *>allocate(&self.scratch, <size_t>(last - first) * sizeof(int32_t))
        result.size = 0
        for index in range(first, last):
            parent = self.at[nodes.at[index]].parent
            place = bisect_right(parents, parent)
            if place and parents.at[place - 1] == parent:
                result.at[result.size] = nodes.at[index]
                result.size += 1
        return 0

    cdef int _select_descendants(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil:
        """Select descendants of several nodes; skip starts inside an earlier region."""
        cdef const NodeSet *nodes = self.candidates(number)
        cdef Py_ssize_t index
        cdef int32_t covered = -1
        cdef NodeSet selected
        result.at = <int32_t *>allocate(
            &self.scratch, <size_t>(nodes.size + starts.size) * sizeof(int32_t)
        )
        result.size = 0
        for index in range(starts.size):
            if starts.at[index] > covered:
                covered = self.at[starts.at[index]].right
                self._select_from(number, starts.at[index], &selected)
                memcpy(
                    result.at + result.size,
                    selected.at,
                    <size_t>selected.size * sizeof(int32_t),
                )
                result.size += selected.size
        return 0

    cdef int _select_per_context(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil:
        """Select from every start on its own; the results overlap."""
        cdef Py_ssize_t distinct = self.candidates(number).size + starts.size, index
        cdef NodeSet selected
        cdef ArenaMark before
        result.at = <int32_t *>allocate(&self.scratch, 2 * <size_t>distinct * sizeof(int32_t))
        result.size = 0
        before = mark(&self.scratch)
        for index in range(starts.size):
            self._select_from(number, starts.at[index], &selected)
            if result.size + selected.size > 2 * distinct:
                result.size = _sort_unique(result.at, result.size)  # at most `distinct` remain
            memcpy(
                result.at + result.size, selected.at, <size_t>selected.size * sizeof(int32_t)
            )
            result.size += selected.size
            release(&self.scratch, before)
        result.size = _sort_unique(result.at, result.size)
        return 0


cdef bint _equals_string(
    const StringTable *strings, int32_t number, const char *text
) noexcept nogil:
    cdef Py_ssize_t start = strings.ends.at[number - 1] if number else 0
    cdef Py_ssize_t size = strings.ends.at[number] - start
    if <Py_ssize_t>strlen(text) != size:
        return False
    return memcmp(strings.bytes + start, text, <size_t>size) == 0


cdef int _compare_nodes(const void *first, const void *second) noexcept nogil:
    cdef int32_t left = (<const int32_t *>first)[0], right = (<const int32_t *>second)[0]
    return (left > right) - (left < right)


cdef Py_ssize_t _sort_unique(int32_t *nodes, Py_ssize_t count) noexcept nogil:
    """Sort nodes in place without duplicates; return how many remain."""
    cdef Py_ssize_t kept = 0, index
    qsort(nodes, <size_t>count, sizeof(int32_t), _compare_nodes)
    for index in range(count):
        if kept == 0 or nodes[kept - 1] != nodes[index]:
            nodes[kept] = nodes[index]
            kept += 1
    return kept
