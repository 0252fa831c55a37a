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

from pathcast.matching.compiled.core.evaluator.arena cimport Mark, mark, release, release_all, take, take_zeroed
from pathcast.matching.compiled.core.evaluator.compiled cimport (
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
    Conditions,
    Stream,
)
from pathcast.matching.compiled.core.evaluator.nodes cimport (
    ATTRIBUTE_NODE,
    COMMENT_NODE,
    ELEMENT_NODE,
    PI_NODE,
    TEXT_NODE,
)
from pathcast.matching.compiled.core.evaluator.sets cimport after, members_add, members_have, members_make
from pathcast.matching.compiled.core.strings cimport Strings

__all__ = ["Joins"]

cetree.import_lxml__etree()


cdef class Joins:
    """Steps and paths on one document. `work` counts the nodes looked at."""

    def __cinit__(self, Conditions conditions not None, cetree._Element root not None):
        self.conditions = conditions
        self.program = &conditions.program
        self.count = len(conditions)
        self.nodes = Nodes(conditions, root)

    def __dealloc__(self):
        release_all(&self.arena)
        release_all(&self.scratch)

    # what is remembered

    cdef int start(self) except -1 nogil:
        self.open(&self.passed, self.program.stream_count)
        self.open(&self.selected, self.program.step_digests.ends.size)
        self.open(&self.levels, self.program.suffixes.size)
        self.open(&self.truths, self.count)
        self.nodes.number()
        self.at = self.nodes.at
        return 0

    cdef int open(self, Memo *memo, Py_ssize_t numbers) except -1 nogil:
        memo.pages = <void ***>take_zeroed(
            &self.arena, ((<size_t>numbers >> PAGE_BITS) + 1) * sizeof(void **)
        )
        return 0

    cdef int remember(self, Memo *memo, int32_t number, void *what) except -1 nogil:
        cdef void ***page = memo.pages + (number >> PAGE_BITS)
        if page[0] == NULL:
            page[0] = <void **>take_zeroed(&self.arena, PAGE * sizeof(void *))
        page[0][number & PAGE_MASK] = what
        return 0

    cdef Set *kept(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """A copy for good."""
        cdef Set *kept = <Set *>take(&self.arena, sizeof(Set))
        kept.size = count
        kept.at = <int32_t *>take(&self.arena, <size_t>count * sizeof(int32_t))
        memcpy(kept.at, nodes, <size_t>count * sizeof(int32_t))
        return kept

    cdef int32_t *copied(self, const int32_t *nodes, Py_ssize_t count) except NULL nogil:
        """A copy to filter."""
        cdef int32_t *copy = <int32_t *>take(&self.scratch, <size_t>count * sizeof(int32_t))
        memcpy(copy, nodes, <size_t>count * sizeof(int32_t))
        return copy

    # nodes

    cdef const Set *candidates(self, int32_t number) except NULL nogil:
        """The nodes that a step may select, from wherever it starts."""
        cdef const Set *found = <const Set *>known_at(&self.selected, number)
        cdef const Step *step = self.program.steps + number
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef int32_t index, condition
        cdef Mark before
        if found != NULL:
            return found
        found = self.passing(step.stream)
        if step.count and not step.placed and found.size:
            before = mark(&self.scratch)
            count = found.size
            nodes = self.copied(found.at, count)
            for index in range(step.count):
                condition = self.program.lists.at[step.start + index]
                if self.program.conditions[condition].positional:
                    count = self.by_place(condition, nodes, count)
                else:
                    count = self.filter(condition, nodes, count)
            found = self.kept(nodes, count)
            release(&self.scratch, before)
        self.remember(&self.selected, number, <void *>found)
        return found

    cdef const Set *passing(self, int32_t stream) except NULL nogil:
        """All nodes that pass a test."""
        cdef const Set *found = <const Set *>known_at(&self.passed, stream)
        if found == NULL:
            found = self._all_passing(stream)
            self.remember(&self.passed, stream, <void *>found)
        return found

    cdef const Set *_all_passing(self, int32_t stream) except NULL nogil:
        cdef const Stream *wanted = self.program.streams + stream
        cdef const Set *every
        cdef Set *found
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
            found = <Set *>take(&self.arena, sizeof(Set))
            found.size = 0
            found.at = <int32_t *>take(&self.arena, <size_t>self.nodes.size * sizeof(int32_t))
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

    cdef bint named(self, int32_t node, const Stream *wanted) noexcept nogil:
        """Whether a node of the right kind has the name, or the namespace, that is wanted."""
        cdef const Node *known = self.at + node
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

    cdef Py_ssize_t by_place(
        self, int32_t number, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil:
        """Keep those at which a condition holds that looks at their places among siblings."""
        cdef Mark before = mark(&self.scratch)
        cdef size_t size = <size_t>count * sizeof(int32_t)
        cdef int32_t *groups = <int32_t *>take(&self.scratch, size)
        cdef int32_t *ends = <int32_t *>take_zeroed(&self.scratch, size + sizeof(int32_t))
        cdef int32_t *places = <int32_t *>take(&self.scratch, size)
        cdef int32_t *group = <int32_t *>take(&self.scratch, size)
        cdef Py_ssize_t index, start = 0, found, met, kept = 0
        cdef int32_t each, made = self._grouped(nodes, count, groups)
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

    cdef int32_t _grouped(
        self, const int32_t *nodes, Py_ssize_t count, int32_t *groups
    ) except -1 nogil:
        """Number the groups of siblings; returns how many. Open parents are on a stack."""
        cdef Mark before = mark(&self.scratch)
        cdef int32_t *parents = <int32_t *>take(&self.scratch, <size_t>count * sizeof(int32_t))
        cdef int32_t *open_groups = <int32_t *>take(&self.scratch, <size_t>count * sizeof(int32_t))
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

    cdef Py_ssize_t lead(self, const Path *path, int32_t *nodes, Py_ssize_t count) except -1 nogil:
        """Keep those of the nodes from which the path selects something."""
        cdef int32_t first
        cdef Py_ssize_t kept = 0, index
        cdef Set found
        cdef Mark before
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
        return self._join(first, nodes, count, self._level(path))

    cdef const Level *_level(self, const Path *path) except NULL nogil:
        """The nodes of a path's first step from which the rest leads on; made from its end."""
        cdef const int32_t *suffixes = self.program.lists.at + path.start
        cdef const Level *level = NULL
        cdef const Set *above
        cdef int32_t index = 0, number, below
        cdef int32_t *nodes
        cdef Py_ssize_t count
        cdef Mark before
        while index < path.count and level == NULL:
            level = <const Level *>known_at(&self.levels, suffixes[index])
            index += level == NULL
        while index > 0:
            index -= 1
            number = self.program.suffixes.at[suffixes[index]]
            before = mark(&self.scratch)
            if level == NULL:
                above = self.candidates(number)
                level = self._made_level(self.program.steps + number, above.at, above.size)
            elif level.nodes.size == 0:
                level = self._made_level(self.program.steps + number, NULL, 0)
            else:
                below = self.program.suffixes.at[suffixes[index + 1]]
                above = self.candidates(number)
                nodes = self.copied(above.at, above.size)
                count = self._join(below, nodes, above.size, level)
                above = self.kept(nodes, count)
                level = self._made_level(self.program.steps + number, above.at, above.size)
            release(&self.scratch, before)
            self.remember(&self.levels, suffixes[index], <void *>level)
        return level

    cdef const Level *_made_level(
        self, const Step *step, const int32_t *nodes, Py_ssize_t count
    ) except NULL nogil:
        """The nodes that a step may lead to, ready to be asked many times."""
        cdef Level *level = <Level *>take_zeroed(&self.arena, sizeof(Level))
        cdef Py_ssize_t index
        self.work += count
        level.nodes.at = <int32_t *>nodes
        level.nodes.size = count
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            members_make(&level.known, &self.arena, count, self.nodes.size)
            for index in range(count):
                members_add(&level.known, self.at[nodes[index]].parent)
        elif step.placed:
            members_make(&level.known, &self.arena, count, self.nodes.size)
            for index in range(count):
                members_add(&level.known, nodes[index])
        return level

    cdef Py_ssize_t _join(
        self, int32_t number, int32_t *nodes, Py_ssize_t count, const Level *level
    ) except -1 nogil:
        """Keep those of the nodes from which the step leads to one of its level."""
        cdef const Step *step = self.program.steps + number
        cdef Py_ssize_t kept = 0, index, place
        cdef int32_t node
        cdef bint leads
        cdef Set found
        cdef Mark before
        self.work += count
        if level.nodes.size == 0:
            return 0
        for index in range(count):
            node = nodes[index]
            leads = False
            if step.axis == CHILD or step.axis == ATTRIBUTE:
                leads = members_have(&level.known, node)
            elif step.placed:
                before = mark(&self.scratch)
                self._from(number, node, &found)
                for place in range(found.size):
                    if members_have(&level.known, found.at[place]):
                        leads = True
                        break
                release(&self.scratch, before)
            else:
                place = after(&level.nodes, node - (step.axis == DESCENDANT_OR_SELF))
                leads = place < level.nodes.size and level.nodes.at[place] <= self.at[node].right
            if leads:
                nodes[kept] = node
                kept += 1
        return kept

    cdef int _from(self, int32_t number, int32_t start, Set *found) except -1 nogil:
        """What a step selects from one node, in document order; to be read only."""
        cdef const Step *step = self.program.steps + number
        cdef const Set *nodes
        cdef Py_ssize_t first, last, index
        cdef int32_t *copy
        if step.axis == DESCENDANT_OR_SELF and self.at[start].kind == ATTRIBUTE_NODE:
            return self._alone(step, start, found)
        nodes = self.candidates(number)  # of a step that is placed, all that pass
        first = after(nodes, start - (step.axis == DESCENDANT_OR_SELF))
        last = after(nodes, self.at[start].right)
        self.work += last - first
        found.at = nodes.at + first
        found.size = last - first
        if step.axis == CHILD or step.axis == ATTRIBUTE:
            copy = <int32_t *>take(&self.scratch, <size_t>found.size * sizeof(int32_t))
            found.at = copy
            found.size = 0
            for index in range(first, last):
                if self.at[nodes.at[index]].parent == start:
                    copy[found.size] = nodes.at[index]
                    found.size += 1
        elif step.placed:
            found.at = self.copied(found.at, found.size)
            for index in range(step.count):
                found.size = self.filter(
                    self.program.lists.at[step.start + index], found.at, found.size
                )
        return 0

    cdef int _alone(self, const Step *step, int32_t attribute, Set *found) except -1 nogil:
        """What descendant-or-self selects from an attribute: itself, if anything."""
        cdef int32_t index
        found.at = self.copied(&attribute, 1)
        found.size = self.program.streams[step.stream].kind == NODE
        for index in range(step.count):
            found.size = self.filter(
                self.program.lists.at[step.start + index], found.at, found.size
            )
        return 0

    cdef int select(self, const Path *path, int32_t start, Set *found) except -1 nogil:
        """The nodes that a path selects from a node, in document order; to be read only."""
        cdef const Step *step
        cdef int32_t number, index
        cdef Set current
        if path.absolute:
            start = 0
        found.at = self.copied(&start, 1)
        found.size = 1
        for index in range(path.count):
            if found.size == 0:
                break
            number = self.program.suffixes.at[self.program.lists.at[path.start + index]]
            step = self.program.steps + number
            current = found[0]
            if current.size == 1:
                self._from(number, current.at[0], found)
            elif step.axis == CHILD or step.axis == ATTRIBUTE:
                self._children(number, &current, found)
            elif step.placed:
                self._placed(number, &current, found)
            else:
                self._below(number, &current, found)
        return 0

    cdef int _children(self, int32_t number, const Set *parents, Set *found) except -1 nogil:
        cdef const Set *nodes = self.candidates(number)
        cdef Py_ssize_t first = after(nodes, parents.at[0]), last, index, place
        cdef int32_t end = 0, parent
        for index in range(parents.size):
            end = max(end, self.at[parents.at[index]].right)
        last = after(nodes, end)
        self.work += last - first
        found.at = <int32_t *>take(&self.scratch, <size_t>(last - first) * sizeof(int32_t))
        found.size = 0
        for index in range(first, last):
            parent = self.at[nodes.at[index]].parent
            place = after(parents, parent)
            if place and parents.at[place - 1] == parent:
                found.at[found.size] = nodes.at[index]
                found.size += 1
        return 0

    cdef int _below(self, int32_t number, const Set *starts, Set *found) except -1 nogil:
        """What an unplaced step selects below; regions inside others say nothing new."""
        cdef const Set *nodes = self.candidates(number)
        cdef Py_ssize_t index
        cdef int32_t covered = -1
        cdef Set some
        found.at = <int32_t *>take(
            &self.scratch, <size_t>(nodes.size + starts.size) * sizeof(int32_t)
        )
        found.size = 0
        for index in range(starts.size):
            if starts.at[index] > covered:
                covered = self.at[starts.at[index]].right
                self._from(number, starts.at[index], &some)
                memcpy(found.at + found.size, some.at, <size_t>some.size * sizeof(int32_t))
                found.size += some.size
        return 0

    cdef int _placed(self, int32_t number, const Set *starts, Set *found) except -1 nogil:
        """What a placed step selects: from every start something else, some nodes many times."""
        cdef Py_ssize_t every = self.candidates(number).size + starts.size, index
        cdef Set some
        cdef Mark before
        found.at = <int32_t *>take(&self.scratch, 2 * <size_t>every * sizeof(int32_t))
        found.size = 0
        before = mark(&self.scratch)
        for index in range(starts.size):
            self._from(number, starts.at[index], &some)
            if found.size + some.size > 2 * every:
                found.size = _sorted(found.at, found.size)  # not more than there are
            memcpy(found.at + found.size, some.at, <size_t>some.size * sizeof(int32_t))
            found.size += some.size
            release(&self.scratch, before)
        found.size = _sorted(found.at, found.size)
        return 0


cdef bint _same_text(const Strings *strings, int32_t number, const char *text) noexcept nogil:
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
