"""Steps along the axes outside the subtree: siblings, following, preceding, ancestors.

The algorithm is that of `pathcast.matching.plain.sideways`, which explains it: the nodes that a
step selects from any start are a few intervals of an order of all nodes that it can select. The
order is that of the document or, for siblings, by parent first (a counting sort).

Cost per distinct step: 4 bytes for each node of the document, and for each condition that follows
one on positions.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from pathcast.matching.compiled.core.evaluator.arena cimport (
    ArenaMark,
    allocate,
    allocate_zeros,
    mark,
    release,
)
from pathcast.matching.compiled.core.evaluator.joins cimport compare_numbers, lookup
from pathcast.matching.compiled.core.evaluator.nodes cimport ATTRIBUTE_NODE, ELEMENT_NODE
from pathcast.matching.compiled.core.evaluator.program cimport (
    ANCESTOR_OR_SELF,
    AND,
    FOLLOWING,
    FOLLOWING_SIBLING,
    NOT,
    OR,
    PRECEDING,
    PRECEDING_SIBLING,
    CompiledCondition,
    CompiledPath,
    CompiledStep,
)
from pathcast.matching.compiled.core.evaluator.sets cimport (
    NodeMembers,
    add_member,
    bisect_right,
    has_member,
    init_members,
)
from pathcast.vectors cimport free_vector, push

__all__ = ["SidewaysJoins"]


cdef class SidewaysJoins(StepJoins):
    """Structural joins that include sideways steps."""

    def __dealloc__(self):
        free_vector(&self.intervals)
        free_vector(&self.next_intervals)
        free_vector(&self.cuts)

    cdef int start(self) except -1 nogil:
        StepJoins.start(self)
        self.init_memo(&self.sideways_memo, self.program.step_digests.ends.size)
        self.init_memo(&self.count_memo, self.program.suffixes.size)
        return 0

    # the order of nodes

    cdef const OrderedNodes *_sideways_step(self, int32_t number) except NULL nogil:
        """Return the ordered nodes of a step, memoized."""
        cdef OrderedNodes *sideways = <OrderedNodes *>lookup(&self.sideways_memo, number)
        cdef const CompiledStep *step = self.program.steps + number
        cdef const NodeSet *passing
        cdef Stage *stage
        cdef NodeSet ordered
        cdef int32_t *nodes
        cdef Py_ssize_t count, place
        cdef int32_t index = 0, condition
        cdef ArenaMark before
        if sideways != NULL:
            return sideways
        passing = self.nodes_passing(step.stream)
        before = mark(&self.scratch)
        count = passing.size
        nodes = self.copy_to_scratch(passing.at, count)
        while index < step.count:
            condition = self.program.lists.at[step.start + index]
            if self.program.conditions[condition].positional:
                break
            count = self.filter(condition, nodes, count)
            index += 1
        sideways = <OrderedNodes *>allocate_zeros(&self.arena, sizeof(OrderedNodes))
        sideways.axis = step.axis
        sideways.stages = <Stage *>allocate_zeros(
            &self.arena, <size_t>step.count * sizeof(Stage)
        )
        self._order_nodes(sideways, nodes, count)
        while index < step.count:
            condition = self.program.lists.at[step.start + index]
            stage = sideways.stages + sideways.stage_count
            stage.condition = condition
            if not self.program.conditions[condition].positional:
                count = self.filter(condition, nodes, count)
                stage.sums = self._prefix_sums(&sideways.nodes, nodes, count)
                ordered = sideways.nodes
                sideways.nodes.at = <int32_t *>allocate(
                    &self.arena, <size_t>count * sizeof(int32_t)
                )
                sideways.nodes.size = count
                for place in range(ordered.size):
                    if stage.sums[place] < stage.sums[place + 1]:
                        sideways.nodes.at[stage.sums[place]] = ordered.at[place]
            sideways.stage_count += 1
            index += 1
        sideways.candidates = self.store(nodes, count)[0]
        release(&self.scratch, before)
        self.memoize(&self.sideways_memo, number, sideways)
        return sideways

    cdef int _order_nodes(
        self, OrderedNodes *sideways, const int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Sort nodes by parent for a sibling axis; compute the offsets."""
        cdef Py_ssize_t index
        cdef int32_t node, parent
        cdef int32_t *offsets = <int32_t *>allocate_zeros(
            &self.arena, (<size_t>self.nodes.size + 2) * sizeof(int32_t)
        )
        cdef bint siblings = sideways.axis <= PRECEDING_SIBLING
        sideways.ordered = self.store(nodes, count)[0]
        self.work += count
        for index in range(count):
            node = self.at[nodes[index]].parent if siblings else nodes[index]
            offsets[node + 2] += 1
        for index in range(self.nodes.size):
            offsets[index + 2] += offsets[index + 1]
        # Now offsets[n + 1] is the number of nodes before group n, and becomes its end.
        if siblings:
            for index in range(count):
                parent = self.at[nodes[index]].parent
                sideways.ordered.at[offsets[parent + 1]] = nodes[index]
                offsets[parent + 1] += 1
        else:
            offsets += 1
        sideways.offsets = offsets
        sideways.nodes = sideways.ordered
        return 0

    cdef int32_t *_prefix_sums(
        self, const NodeSet *ordered, const int32_t *members, Py_ssize_t count
    ) except NULL nogil:
        """Return, for each index of an order and for its end, how many members lie before it."""
        cdef int32_t *sums = <int32_t *>allocate(
            &self.arena, (<size_t>ordered.size + 1) * sizeof(int32_t)
        )
        cdef NodeMembers set
        cdef Py_ssize_t index
        cdef ArenaMark before = mark(&self.scratch)
        init_members(&set, &self.scratch, count, self.nodes.size)
        for index in range(count):
            add_member(&set, members[index])
        sums[0] = 0
        for index in range(ordered.size):
            sums[index + 1] = sums[index] + has_member(&set, ordered.at[index])
        release(&self.scratch, before)
        return sums

    # joins

    cdef const NodeSet *sideways_candidates(self, int32_t number) except NULL nogil:
        return &self._sideways_step(number).candidates

    cdef int prepare_sideways(self, int32_t number, PathLevel *level) except -1 nogil:
        cdef const OrderedNodes *sideways = self._sideways_step(number)
        level.sums = self._prefix_sums(&sideways.nodes, level.nodes.at, level.nodes.size)
        return 0

    cdef bint reaches_sideways(
        self, int32_t number, int32_t start, const PathLevel *level
    ) except -1 nogil:
        cdef Py_ssize_t index
        self._find_intervals(self._sideways_step(number), start)
        for index in range(0, self.intervals.size, 2):
            if level.sums[self.intervals.at[index]] < level.sums[self.intervals.at[index + 1]]:
                return True
        return False

    cdef Py_ssize_t count_sideways(
        self, const CompiledPath *path, int32_t start
    ) except -1 nogil:
        cdef int32_t suffix = self.program.lists.at[path.start], first, end
        cdef const OrderedNodes *sideways = self._sideways_step(self.program.suffixes.at[suffix])
        cdef const int32_t *sums = NULL
        cdef Py_ssize_t index, count = 0
        if path.count > 1:
            sums = <const int32_t *>lookup(&self.count_memo, suffix)
            if sums == NULL:
                sums = self._sum_counts(path, &sideways.nodes)
                self.memoize(&self.count_memo, suffix, <void *>sums)
        self._find_intervals(sideways, start)
        for index in range(0, self.intervals.size, 2):
            first = self.intervals.at[index]
            end = self.intervals.at[index + 1]
            count += end - first if sums == NULL else sums[end] - sums[first]
        return count

    cdef int32_t *_sum_counts(
        self, const CompiledPath *path, const NodeSet *ordered
    ) except NULL nogil:
        """Return the prefix sums of how many nodes the steps after the first select.

        They select disjoint sets, so the sums do not exceed the size of the document.
        """
        cdef int32_t *sums = <int32_t *>allocate(
            &self.arena, (<size_t>ordered.size + 1) * sizeof(int32_t)
        )
        cdef CompiledPath tail = path[0]
        cdef NodeSet selected
        cdef Py_ssize_t index
        cdef ArenaMark before = mark(&self.scratch)
        tail.start += 1
        tail.count -= 1
        sums[0] = 0
        for index in range(ordered.size):
            self.select(&tail, ordered.at[index], &selected)
            sums[index + 1] = sums[index] + <int32_t>selected.size
            release(&self.scratch, before)
        return sums

    cdef int select_sideways(
        self, int32_t number, const NodeSet *starts, NodeSet *result
    ) except -1 nogil:
        cdef const OrderedNodes *sideways = self._sideways_step(number)
        cdef size_t size = <size_t>sideways.nodes.size
        cdef int32_t *selected = <int32_t *>allocate(&self.scratch, size * sizeof(int32_t))
        cdef int32_t *changes
        cdef int32_t overlaps = 0
        cdef Py_ssize_t start, index
        cdef ArenaMark before = mark(&self.scratch)
        changes = <int32_t *>allocate_zeros(&self.scratch, (size + 1) * sizeof(int32_t))
        for start in range(starts.size):
            self._find_intervals(sideways, starts.at[start])
            for index in range(0, self.intervals.size, 2):
                changes[self.intervals.at[index]] += 1
                changes[self.intervals.at[index + 1]] -= 1
        self.work += <Py_ssize_t>size
        result.at = selected
        result.size = 0
        for index in range(<Py_ssize_t>size):
            overlaps += changes[index]
            if overlaps:
                selected[result.size] = sideways.nodes.at[index]
                result.size += 1
        release(&self.scratch, before)
        qsort(selected, <size_t>result.size, sizeof(int32_t), _compare_ints)
        return 0

    # intervals

    cdef int _find_intervals(self, const OrderedNodes *sideways, int32_t start) except -1 nogil:
        """Write the nodes that a step selects from a node to `intervals`, ascending."""
        cdef const int32_t *offsets = sideways.offsets
        cdef const Stage *stage
        cdef Py_ssize_t index
        cdef int32_t place
        cdef bint reverse
        self.intervals.size = 0
        self.work += 1
        if sideways.axis <= PRECEDING_SIBLING:
            self._find_siblings(sideways, start)
        elif sideways.axis == FOLLOWING:
            if self.at[start].kind == ATTRIBUTE_NODE:  # libxml2 continues behind its element
                start = self.at[start].parent
            self._push_interval(
                offsets[self.at[start].right + 1], <int32_t>sideways.ordered.size
            )
        else:
            self._find_ancestors(sideways, start)
        for place in range(sideways.stage_count):
            stage = sideways.stages + place
            if stage.sums == NULL:
                reverse = sideways.axis >= PRECEDING or sideways.axis == PRECEDING_SIBLING
                self._keep_positions(stage.condition, reverse)
            else:
                for index in range(self.intervals.size):
                    self.intervals.at[index] = stage.sums[self.intervals.at[index]]
            self.work += self.intervals.size >> 1
        return 0

    cdef int _find_siblings(self, const OrderedNodes *sideways, int32_t start) except -1 nogil:
        cdef int32_t parent = self.at[start].parent, place
        cdef NodeSet group
        if parent < 0 or self.at[start].kind == ATTRIBUTE_NODE:
            return 0
        group.at = sideways.ordered.at + sideways.offsets[parent]
        group.size = sideways.offsets[parent + 1] - sideways.offsets[parent]
        if sideways.axis == FOLLOWING_SIBLING:
            place = <int32_t>bisect_right(&group, start)
            self._push_interval(sideways.offsets[parent] + place, sideways.offsets[parent + 1])
        else:
            place = <int32_t>bisect_right(&group, start - 1)
            self._push_interval(sideways.offsets[parent], sideways.offsets[parent] + place)
        return 0

    cdef int _find_ancestors(self, const OrderedNodes *sideways, int32_t start) except -1 nogil:
        """Write the ancestors, or all nodes before the start that lie between them."""
        cdef const int32_t *offsets = sideways.offsets
        cdef int32_t node = start, first = 0
        cdef Py_ssize_t index
        self.cuts.size = 0
        if sideways.axis == PRECEDING and self.at[start].parent == 0 and self._hides_root():
            push(&self.cuts, 1)
        if sideways.axis != ANCESTOR_OR_SELF:
            node = self.at[start].parent
        while node >= 0:
            push(&self.cuts, node)
            node = self.at[node].parent
        self.work += self.cuts.size
        for index in range(self.cuts.size - 1, -1, -1):
            node = self.cuts.at[index]
            if sideways.axis == PRECEDING:
                self._push_interval(first, offsets[node])
                first = offsets[node + 1]
            else:
                self._push_interval(offsets[node], offsets[node + 1])
        if sideways.axis == PRECEDING:
            self._push_interval(first, offsets[start])
        return 0

    cdef bint _hides_root(self) noexcept nogil:
        """Return whether libxml2 leaves out the root before comments at the document's end.

        It does if the root element is the document's first node and has children.
        """
        cdef int32_t last = self.at[1].right
        if self.at[1].kind != ELEMENT_NODE or last == 1:
            return False
        return self.at[last].kind != ATTRIBUTE_NODE or self.at[last].parent != 1

    cdef int _push_interval(self, int32_t first, int32_t end) except -1 nogil:
        if first < end:
            push(&self.intervals, first)
            push(&self.intervals, end)
        return 0

    # positions

    cdef int _keep_positions(self, int32_t condition, bint reverse) except -1 nogil:
        """Keep the parts of the intervals whose positions pass a test.

        The test is constant between two cuts, so it is evaluated once for each pair of them.
        """
        cdef IntVector kept
        cdef int32_t last = 0, low, high, first, end, lowest, highest, before = 0
        cdef Py_ssize_t index, place = 0, pairs
        for index in range(0, self.intervals.size, 2):
            last += self.intervals.at[index + 1] - self.intervals.at[index]
        self.cuts.size = 0
        push(&self.cuts, 1)
        push(&self.cuts, last + 1)
        self._push_cuts(condition, last)
        qsort(self.cuts.at, <size_t>self.cuts.size, sizeof(int32_t), _compare_ints)
        self.work += self.cuts.size
        self.next_intervals.size = 0
        pairs = self.cuts.size - 1
        for index in range(pairs):
            low = self.cuts.at[pairs - 1 - index if reverse else index]
            high = self.cuts.at[pairs - index if reverse else index + 1]
            if low == high or not self._position_holds(condition, low, last):
                continue
            lowest = last + 1 - high if reverse else low - 1  # ranks from 0, in document order
            highest = last + 1 - low if reverse else high - 1
            while place < self.intervals.size:
                first = self.intervals.at[place]
                end = self.intervals.at[place + 1]
                if max(lowest - before, 0) < min(highest - before, end - first):
                    push(&self.next_intervals, first + max(lowest - before, 0))
                    push(&self.next_intervals, first + min(highest - before, end - first))
                if before + end - first > highest:
                    break
                before += end - first
                place += 2
        kept = self.next_intervals
        self.next_intervals = self.intervals
        self.intervals = kept
        return 0

    cdef int _push_cuts(self, int32_t number, int32_t last) except -1 nogil:
        """Add the positions at which a test may change."""
        cdef const CompiledCondition *condition = self.program.conditions + number
        cdef int32_t index
        if condition.kind == AND or condition.kind == OR:
            for index in range(condition.second):
                self._push_cuts(self.program.lists.at[condition.first + index], last)
        elif condition.kind == NOT:
            self._push_cuts(condition.first, last)
        elif not condition.first:  # position() on the left
            if condition.second:
                self._push_cut(last, last)
            elif 0 <= condition.number <= last:
                self._push_cut(<int32_t>condition.number, last)
                self._push_cut(<int32_t>condition.number + 1, last)
        return 0

    cdef int _push_cut(self, int32_t cut, int32_t last) except -1 nogil:
        if 1 <= cut <= last:
            push(&self.cuts, cut)
        return 0

    cdef bint _position_holds(
        self, int32_t number, int32_t position, int32_t last
    ) noexcept nogil:
        """Return whether a test of positions holds."""
        cdef const CompiledCondition *condition = self.program.conditions + number
        cdef const int32_t *parts = self.program.lists.at + condition.first
        cdef int32_t index
        if condition.kind == AND or condition.kind == OR:
            for index in range(condition.second):
                if self._position_holds(parts[index], position, last) == (condition.kind == OR):
                    return condition.kind == OR
            return condition.kind == AND
        if condition.kind == NOT:
            return not self._position_holds(condition.first, position, last)
        return compare_numbers(
            condition.op,
            <double>(last if condition.first else position),
            <double>last if condition.second else condition.number,
        )


cdef int _compare_ints(const void *first, const void *second) noexcept nogil:
    cdef int32_t left = (<const int32_t *>first)[0], right = (<const int32_t *>second)[0]
    return (left > right) - (left < right)
