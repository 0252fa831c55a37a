"""Paths on one document: what does a step find, and from where does a path lead to something?

The joins of `pathcast.matching.plain.evaluate`, on numbered nodes and compiled paths. What is known
about streams, steps and the ends of paths is remembered by number until the document is done.
Conditions are asked through `filter`, which `Evaluation` has.

Nodes are filtered in place: a list that is somebody else's is copied first. Lists in the making
live on a stack of their own (`scratch`): whoever calls takes a mark before, and releases to it
when it has what it wanted.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp, memcpy, strlen
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport ArenaMark, mark, release, free_arena, allocate, allocate_zeroed
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
    TEXT,
    ConditionProgram,
    NodeStream,
)
from pathcast.matching.compiled.core.evaluator.nodes cimport (
    ATTRIBUTE_NODE,
    COMMENT_NODE,
    ELEMENT_NODE,
    PI_NODE,
    TEXT_NODE,
)
from pathcast.matching.compiled.core.evaluator.sets cimport upper_bound, add_member, has_member, init_members
from pathcast.matching.compiled.core.strings cimport StringTable

__all__ = ["StepJoins"]

cetree.import_lxml__etree()


cdef class StepJoins:
    """Steps and paths on one document. `work` counts the nodes looked at."""

    def __cinit__(self, ConditionProgram conditions not None, cetree._Element root not None):
        self.conditions = conditions
        self.program = &conditions.program
        self.count = len(conditions)
        self.nodes = NumberedNodes(conditions, root)

    def __dealloc__(self):
        free_arena(&self.arena)
        free_arena(&self.scratch)

    # what is remembered

    cdef int start(self) except -1 nogil:
        self.open(&self.passed, self.program.stream_count)
        self.open(&self.selected, self.program.step_digests.ends.size)
        self.open(&self.levels, self.program.suffixes.size)
        self.open(&self.truths, self.count)
        self.nodes.number()
        self.at = self.nodes.at
        return 0

    cdef int open(self, PagedMemo *memo, Py_ssize_t numbers) except -1 nogil:
        memo.pages = <void ***>allocate_zeroed(
            &self.arena, ((<size_t>numbers >> PAGE_BITS) + 1) * sizeof(void **)
        )
        return 0

    cdef int memoize(self, PagedMemo *memo, int32_t number, void *what) except -1 nogil:
        cdef void ***page = memo.pages + (number >> PAGE_BITS)
        if page[0] == NULL:
            page[0] = <void **>allocate_zeroed(&self.arena, PAGE * sizeof(void *))
        page[0][number & PAGE_MASK] = what
        return 0

    cdef NodeSet *kept(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """A copy for good."""
        cdef NodeSet *kept = <NodeSet *>allocate(&self.arena, sizeof(NodeSet))
        kept.size = count
        kept.at = <int32_t *>allocate(&self.arena, <size_t>count * sizeof(int32_t))
        memcpy(kept.at, nodes, <size_t>count * sizeof(int32_t))
        return kept

    cdef int32_t *copy_to_scratch(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """A copy to filter."""
        cdef int32_t *copy = <int32_t *>allocate(&self.scratch, <size_t>count * sizeof(int32_t))
        memcpy(copy, nodes, <size_t>count * sizeof(int32_t))
        return copy

    # nodes

    cdef const NodeSet *candidates(self, int32_t number) except NULL nogil:
        """The nodes that a step may select, from wherever it starts."""
        cdef const NodeSet *found = <const NodeSet *>lookup(&self.selected, number)
        cdef const CompiledStep *step = self.program.steps + number
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef int32_t index, condition
        cdef ArenaMark before
        if found != NULL:
            return found
        found = self.nodes_passing(step.stream)
        if step.count and not step.per_context and found.size:
            before = mark(&self.scratch)
            count = found.size
            nodes = self.copy_to_scratch(found.at, count)
            for index in range(step.count):
                condition = self.program.lists.at[step.start + index]
                if self.program.conditions[condition].positional:
                    count = self.filter_by_position(condition, nodes, count)
                else:
                    count = self.filter(condition, nodes, count)
            found = self.kept(nodes, count)
            release(&self.scratch, before)
        self.memoize(&self.selected, number, <void *>found)
        return found

    cdef const NodeSet *nodes_passing(self, int32_t stream) except NULL nogil:
        """All nodes that pass a test."""
        cdef const NodeSet *found = <const NodeSet *>lookup(&self.passed, stream)
        if found == NULL:
            found = self._find_passing(stream)
            self.memoize(&self.passed, stream, <void *>found)
        return found

    cdef const NodeSet *_find_passing(self, int32_t stream) except NULL nogil:
        cdef const NodeStream *wanted = self.program.streams + stream
        cdef const NodeSet *every
        cdef NodeSet *found
        cdef int32_t kind = ATTRIBUTE_NODE if wanted.attribute else ELEMENT_NODE, number
        cdef Py_ssize_t index
        if wanted.kind == NAME:
            return self.nodes.of_label(wanted.name, wanted.attribute)
        if wanted.kind == TEXT:
            kind = TEXT_NODE
        elif wanted.kind == COMMENT:
            kind = COMMENT_NODE
        elif wanted.kind == INSTRUCTION:
            kind = PI_NODE
        elif wanted.kind == NODE:
            found = <NodeSet *>allocate(&self.arena, sizeof(NodeSet))
            found.size = 0
            found.at = <int32_t *>allocate(&self.arena, <size_t>self.nodes.size * sizeof(int32_t))
            for number in range(0 if wanted.itself else 1, <int32_t>self.nodes.size):
                if self.at[number].kind != ATTRIBUTE_NODE:
                    found.at[found.size] = number
                    found.size += 1
            return found
        every = self.nodes.of_kind(kind)
        if wanted.kind != ANY_IN and (wanted.kind != INSTRUCTION or wanted.name == ANY_TARGET):
            return every
        found = self.kept(every.at, every.size)
        found.size = 0
        for index in range(every.size):
            if self.named(every.at[index], wanted):
                found.at[found.size] = every.at[index]
                found.size += 1
        return found

    cdef bint named(self, int32_t node, const NodeStream *wanted) noexcept nogil:
        """Whether a node of the right kind has the name, or the namespace, that is wanted."""
        cdef const NumberedNode *known = self.at + node
        if wanted.kind == NAME:
            return self.nodes.names[known.name].label == wanted.name
        if wanted.kind == ANY_IN:
            return self.nodes.names[known.name].space == wanted.name
        if wanted.name == ANY_TARGET:
            return True
        return _same_text(
            &self.program.targets, wanted.name, <const char *>(<tree.xmlNode *>known.at).name
        )

    cdef Py_ssize_t filter(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil:
        """Keep the nodes at which a condition holds; for places, the nodes are the whole group."""
        with gil:
            raise NotImplementedError

    cdef Py_ssize_t filter_by_position(
        self, int32_t number, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep those at which a condition holds that looks at their places among siblings."""
        cdef ArenaMark before = mark(&self.scratch)
        cdef size_t size = <size_t>count * sizeof(int32_t)
        cdef int32_t *groups = <int32_t *>allocate(&self.scratch, size)
        cdef int32_t *ends = <int32_t *>allocate_zeroed(&self.scratch, size + sizeof(int32_t))
        cdef int32_t *places = <int32_t *>allocate(&self.scratch, size)
        cdef int32_t *group = <int32_t *>allocate(&self.scratch, size)
        cdef Py_ssize_t index, start = 0, found, met, kept = 0
        cdef int32_t each, made = self._group_siblings(nodes, count, groups)
        for index in range(count):
            ends[groups[index] + 1] += 1
        for each in range(made):
            ends[each + 1] += ends[each]
        for index in range(count):  # afterwards a group ends where it began
            places[ends[groups[index]]] = <int32_t>index
            ends[groups[index]] += 1
        for each in range(made):
            for index in range(start, ends[each]):
                group[index - start] = nodes[places[index]]
            found = self.filter(number, group, ends[each] - start)
            met = 0
            for index in range(start, ends[each]):
                if met < found and nodes[places[index]] == group[met]:
                    met += 1
                else:
                    groups[places[index]] = -1
            start = ends[each]
        for index in range(count):
            if groups[index] >= 0:
                nodes[kept] = nodes[index]
                kept += 1
        release(&self.scratch, before)
        return kept

    cdef int32_t _group_siblings(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil:
        """Number the groups of siblings; returns how many. Open parents are on a stack."""
        cdef ArenaMark before = mark(&self.scratch)
        cdef int32_t *parents = <int32_t *>allocate(&self.scratch, <size_t>count * sizeof(int32_t))
        cdef int32_t *open_groups = <int32_t *>allocate(&self.scratch, <size_t>count * sizeof(int32_t))
        cdef Py_ssize_t top = 0, index
        cdef int32_t made = 0, parent
        for index in range(count):
            parent = self.at[nodes[index]].parent
            while top and (
                parents[top - 1] < 0 or self.at[parents[top - 1]].right < nodes[index]
            ):
                top -= 1
            if top == 0 or parents[top - 1] != parent:
                parents[top] = parent
                open_groups[top] = made
                top += 1
                made += 1
            groups[index] = open_groups[top - 1]
        release(&self.scratch, before)
        return made

    # paths

    cdef Py_ssize_t filter_by_path(self, const CompiledPath *path, int32_t *nodes, Py_ssize_t count) except -1 nogil:
        """Keep those of the nodes from which the path selects something."""
        cdef int32_t first
        cdef Py_ssize_t kept = 0, index
        cdef NodeSet found
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
                self.select(path, nodes[index], &found)
                if found.size:
                    nodes[kept] = nodes[index]
                    kept += 1
                release(&self.scratch, before)
            return kept
        return self._join(first, nodes, count, self._level_of(path))

    cdef const PathLevel *_level_of(self, const CompiledPath *path) except NULL nogil:
        """The nodes of a path's first step from which the rest leads on; made from its end."""
        cdef const int32_t *suffixes = self.program.lists.at + path.start
        cdef const PathLevel *level = NULL
        cdef const NodeSet *above
        cdef int32_t index = 0, number, below
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef ArenaMark before
        while index < path.count and level == NULL:
            level = <const PathLevel *>lookup(&self.levels, suffixes[index])
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
                above = self.kept(nodes, count)
                level = self._new_level(self.program.steps + number, above.at, above.size)
            release(&self.scratch, before)
            self.memoize(&self.levels, suffixes[index], <void *>level)
        return level

    cdef const PathLevel *_new_level(
        self, const CompiledStep *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil:
        """The nodes that a step may lead to, ready to be asked many times."""
        cdef PathLevel *level = <PathLevel *>allocate_zeroed(&self.arena, sizeof(PathLevel))
        cdef Py_ssize_t index
        self.work += count
        level.nodes.at = <int32_t *>nodes
        level.nodes.size = count
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            init_members(&level.known, &self.arena, count, self.nodes.size)
            for index in range(count):
                add_member(&level.known, self.at[nodes[index]].parent)
        elif step.per_context:
            init_members(&level.known, &self.arena, count, self.nodes.size)
            for index in range(count):
                add_member(&level.known, nodes[index])
        return level

    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const PathLevel *level
    ) except -1 nogil:
        """Keep those of the nodes from which the step leads to one of its level."""
        cdef const CompiledStep *step = self.program.steps + number
        cdef Py_ssize_t kept = 0, index, place
        cdef int32_t node
        cdef bint leads
        cdef NodeSet found
        cdef ArenaMark before
        self.work += count
        if level.nodes.size == 0:
            return 0
        for index in range(count):
            node = nodes[index]
            leads = False
            if step.axis == CHILD or step.axis == ATTRIBUTE:
                leads = has_member(&level.known, node)
            elif step.per_context:
                before = mark(&self.scratch)
                self._select_from(number, node, &found)
                for place in range(found.size):
                    if has_member(&level.known, found.at[place]):
                        leads = True
                        break
                release(&self.scratch, before)
            else:
                place = upper_bound(&level.nodes, node - (step.axis == DESCENDANT_OR_SELF))
                leads = place < level.nodes.size and level.nodes.at[place] <= self.at[node].right
            if leads:
                nodes[kept] = node
                kept += 1
        return kept

    cdef int _select_from(self, int32_t number, int32_t start, NodeSet *found) except -1 nogil:
        """What a step selects from one node, in document order; to be read only."""
        cdef const CompiledStep *step = self.program.steps + number
        cdef const NodeSet *nodes
        cdef Py_ssize_t first, last, index
        cdef int32_t *copy
        if step.axis == DESCENDANT_OR_SELF and self.at[start].kind == ATTRIBUTE_NODE:
            return self._select_from_attribute(step, start, found)
        nodes = self.candidates(number)  # of a step that is placed, all that pass
        first = upper_bound(nodes, start - (step.axis == DESCENDANT_OR_SELF))
        last = upper_bound(nodes, self.at[start].right)
        self.work += last - first
        found.at = nodes.at + first
        found.size = last - first
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            copy = <int32_t *>allocate(&self.scratch, <size_t>found.size * sizeof(int32_t))
            found.at = copy
            found.size = 0
            for index in range(first, last):
                if self.at[nodes.at[index]].parent == start:
                    copy[found.size] = nodes.at[index]
                    found.size += 1
        elif step.per_context:
            found.at = self.copy_to_scratch(found.at, found.size)
            for index in range(step.count):
                found.size = self.filter(
                    self.program.lists.at[step.start + index], found.at, found.size
                )
        return 0

    cdef int _select_from_attribute(self, const CompiledStep *step, int32_t attribute, NodeSet *found) except -1 nogil:
        """What descendant-or-self selects from an attribute: itself, if anything."""
        cdef int32_t index
        found.at = self.copy_to_scratch(&attribute, 1)
        found.size = self.program.streams[step.stream].kind == NODE
        for index in range(step.count):
            found.size = self.filter(
                self.program.lists.at[step.start + index], found.at, found.size
            )
        return 0

    cdef int select(self, const CompiledPath *path, int32_t start, NodeSet *found) except -1 nogil:
        """The nodes that a path selects from a node, in document order; to be read only."""
        cdef const CompiledStep *step
        cdef int32_t number, index
        cdef NodeSet current
        if path.absolute:
            start = 0
        found.at = self.copy_to_scratch(&start, 1)
        found.size = 1
        for index in range(path.count):
            if found.size == 0:
                break
            number = self.program.suffixes.at[self.program.lists.at[path.start + index]]
            step = self.program.steps + number
            current = found[0]
            if current.size == 1:
                self._select_from(number, current.at[0], found)
            elif step.axis == CHILD or step.axis == ATTRIBUTE:
                self._select_children(number, &current, found)
            elif step.per_context:
                self._select_per_context(number, &current, found)
            else:
                self._select_descendants(number, &current, found)
        return 0

    cdef int _select_children(self, int32_t number, const NodeSet *parents, NodeSet *found) except -1 nogil:
        cdef const NodeSet *nodes = self.candidates(number)
        cdef Py_ssize_t first = upper_bound(nodes, parents.at[0]), last, index, place
        cdef int32_t end = 0, parent
        for index in range(parents.size):
            end = max(end, self.at[parents.at[index]].right)
        last = upper_bound(nodes, end)
        self.work += last - first
        found.at = <int32_t *>allocate(&self.scratch, <size_t>(last - first) * sizeof(int32_t))
        found.size = 0
        for index in range(first, last):
            parent = self.at[nodes.at[index]].parent
            place = upper_bound(parents, parent)
            if place and parents.at[place - 1] == parent:
                found.at[found.size] = nodes.at[index]
                found.size += 1
        return 0

    cdef int _select_descendants(self, int32_t number, const NodeSet *starts, NodeSet *found) except -1 nogil:
        """What an unplaced step selects below; regions inside others say nothing new."""
        cdef const NodeSet *nodes = self.candidates(number)
        cdef Py_ssize_t index
        cdef int32_t covered = -1
        cdef NodeSet some
        found.at = <int32_t *>allocate(
            &self.scratch, <size_t>(nodes.size + starts.size) * sizeof(int32_t)
        )
        found.size = 0
        for index in range(starts.size):
            if starts.at[index] > covered:
                covered = self.at[starts.at[index]].right
                self._select_from(number, starts.at[index], &some)
                memcpy(found.at + found.size, some.at, <size_t>some.size * sizeof(int32_t))
                found.size += some.size
        return 0

    cdef int _select_per_context(self, int32_t number, const NodeSet *starts, NodeSet *found) except -1 nogil:
        """What a placed step selects: from every start something else, some nodes many times."""
        cdef Py_ssize_t every = self.candidates(number).size + starts.size, index
        cdef NodeSet some
        cdef ArenaMark before
        found.at = <int32_t *>allocate(&self.scratch, 2 * <size_t>every * sizeof(int32_t))
        found.size = 0
        before = mark(&self.scratch)
        for index in range(starts.size):
            self._select_from(number, starts.at[index], &some)
            if found.size + some.size > 2 * every:
                found.size = _sorted(found.at, found.size)  # not more than there are
            memcpy(found.at + found.size, some.at, <size_t>some.size * sizeof(int32_t))
            found.size += some.size
            release(&self.scratch, before)
        found.size = _sorted(found.at, found.size)
        return 0


cdef bint _same_text(const StringTable *strings, int32_t number, const char *text) noexcept nogil:
    cdef Py_ssize_t start = strings.ends.at[number - 1] if number else 0
    cdef Py_ssize_t size = strings.ends.at[number] - start
    if <Py_ssize_t>strlen(text) != size:
        return False
    return memcmp(strings.bytes + start, text, <size_t>size) == 0


cdef int _by_node(const void *one, const void *other) noexcept nogil:
    cdef int32_t left = (<const int32_t *>one)[0], right = (<const int32_t *>other)[0]
    return (left > right) - (left < right)


cdef Py_ssize_t _sorted(int32_t *nodes, Py_ssize_t count) noexcept nogil:
    """Sort nodes and drop what comes twice."""
    cdef Py_ssize_t kept = 0, index
    qsort(nodes, <size_t>count, sizeof(int32_t), _by_node)
    for index in range(count):
        if kept == 0 or nodes[kept - 1] != nodes[index]:
            nodes[kept] = nodes[index]
            kept += 1
    return kept
