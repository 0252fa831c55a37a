"""Twig join: finds a document node at which all branches of a twig meet.

The traversal has hit every leaf of the twig. A branch point matches at the nodes that have a match
of each branch below them: the intersection of one semijoin per branch. A semijoin yields the nodes
at the upper end of an edge, from the nodes that reached a leaf or from the matches of an inner
branch point. Along a child edge these are the ancestors a fixed number of levels above; the NFA has
checked the names already. A descendant edge yields all ancestors, so the state above it is a
semijoin of its own.

A set of rows is a list of blocks of 64 bits, and a summary in one word that rejects most
intersections. Each semijoin is computed once per document, so a twig costs the intersection of sets
that many twigs share.

A branch that ends in a comparison is not an operand of the intersection, but a filter on its
result: each constant would make a set of its own. For all constants, one ranked semijoin keeps the
span of the numbers below each node.

A branch point that was reached at one node needs no join at all, because whatever is reached below
it lies below that node; the caller checks that.

`work` counts the nodes that semijoins visit, and the blocks and spans that joins read.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pathcast.matching.compiled.core.node_table cimport NodeRow, NodeTable
from pathcast.matching.compiled.core.path_table cimport VALUE_SYMBOL, PathHot
from pathcast.matching.compiled.core.predicates cimport NOT_A_NUMBER, span_passes
from pathcast.matching.compiled.core.traversal cimport (
    PathCursor,
    Traversal,
    leaf_paths,
    next_path,
)
from pathcast.matching.compiled.core.twigs cimport (
    BELOW,
    LEVELS_SHIFT,
    NO_GUARD,
    NO_SEMIJOIN,
    NO_TWIG,
    RANKED_EDGE,
    Guard,
    SemiJoin,
    JoinNode,
)
from pathcast.vectors cimport free_vector, grow, reserve

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil
    void __builtin_prefetch(const void *) noexcept nogil


cdef class TwigJoin:
    """The joins of one traversal."""

    def __cinit__(self):
        self.row_sets = NULL
        self.blocks = NULL
        self.spans = NULL

    def __init__(self, Traversal traversal not None, NodeTable nodes not None):
        self.traversal = traversal
        self.twigs = traversal.nfa.twigs
        self.nodes = nodes
        self.row_sets = <RowSet *>calloc(<size_t>self.twigs.semijoin_count + 1, sizeof(RowSet))
        if self.row_sets == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.row_sets)
        free(self.blocks)
        free(self.spans)
        free_vector(&self.bitmap)
        free_vector(&self.row_spans)

    cdef int start_document(self) except -1 nogil:
        """Reset the scratch space; the traversal has run."""
        cdef Py_ssize_t ints = 2 * ((self.nodes.size >> 6) + 1)
        cdef int32_t semijoin
        if self.traversal.epoch < self.last_epoch:  # the counter wrapped: old stamps are invalid
            for semijoin in range(self.twigs.semijoin_count):
                self.row_sets[semijoin].stamp = 0
        self.last_epoch = self.traversal.epoch
        self.block_count = self.span_count = 0
        if self.bitmap.size < ints:
            reserve(&self.bitmap, ints - self.bitmap.size)
            memset(
                self.bitmap.at + self.bitmap.size,
                0,
                <size_t>(ints - self.bitmap.size) * sizeof(int32_t),
            )
            self.bitmap.size = ints
        self.summary_shift = 0
        while self.nodes.size >> self.summary_shift > 64:
            self.summary_shift += 1
        return 0

    cdef bint has_match(self, int32_t root) except -1 nogil:
        """Return whether a twig has a match; all its leaves were hit."""
        cdef Py_ssize_t start
        cdef bint is_match
        if not self._summaries_meet(root):
            return False
        start = self.block_count
        self._intersect(root)
        is_match = self.block_count > start
        self.block_count = start
        return is_match

    cdef void prefetch(self, int32_t root) noexcept nogil:
        """Load the results that the join of a twig reads first."""
        cdef const JoinNode *nodes = &self.twigs.nodes[root]
        cdef int32_t index
        for index in range(min(nodes.size, 3)):
            if nodes[index].semijoin != NO_SEMIJOIN:
                __builtin_prefetch(&self.row_sets[nodes[index].semijoin])

    # intersections

    cdef bint _summaries_meet(self, int32_t number) except -1 nogil:
        """Compute the operands of a twig node; return False if their summaries are disjoint."""
        cdef const JoinNode *node = &self.twigs.nodes[number]
        cdef int32_t child = number + 1, end = number + node.size
        cdef uint64_t summary = ~<uint64_t>0
        if node.own != NO_SEMIJOIN:
            summary = self._row_set(node.own).summary
        while child < end and summary:
            summary &= self._row_set(self.twigs.nodes[child].semijoin).summary
            child += self.twigs.nodes[child].size
        return summary != 0

    cdef int _intersect(self, int32_t number) except -1 nogil:
        """Append the blocks of the rows at which a twig node matches; its operands are known."""
        cdef const JoinNode *node = &self.twigs.nodes[number]
        cdef const RowSet *first_ranked = NULL
        cdef const RowSet *rows
        cdef int32_t child = number + 1, end = number + node.size
        cdef Py_ssize_t start = self.block_count
        cdef bint has_rows = node.own != NO_SEMIJOIN
        if has_rows:
            self._append_blocks(&self.row_sets[node.own])
        while child < end:
            node = &self.twigs.nodes[child]
            rows = &self.row_sets[node.semijoin]
            child += node.size
            if node.guard != NO_GUARD:
                if first_ranked == NULL:
                    first_ranked = rows
            elif not has_rows:
                self._append_blocks(rows)
                has_rows = True
            else:
                self._keep_common(start, rows)
        if first_ranked != NULL:
            if not has_rows:
                self._append_span_rows(first_ranked)
            self._filter_by_guards(number, start)
        return 0

    cdef int _append_block(self, int32_t index, uint64_t bits) except -1 nogil:
        if self.block_count == self.block_capacity:
            grow(
                <void **>&self.blocks,
                &self.block_capacity,
                self.block_count + 1,
                sizeof(RowBlock),
            )
        self.blocks[self.block_count] = RowBlock(bits, index)
        self.block_count += 1
        return 0

    cdef int _append_blocks(self, const RowSet *rows) except -1 nogil:
        """Append a copy of the blocks of a set."""
        cdef int32_t at
        for at in range(rows.at, rows.at + rows.count):
            self._append_block(self.blocks[at].index, self.blocks[at].bits)
        return 0

    cdef int _append_span_rows(self, const RowSet *rows) except -1 nogil:
        """Append the rows of a ranked set as blocks."""
        cdef int32_t at, index
        cdef uint64_t bit
        cdef Py_ssize_t start = self.block_count
        for at in range(rows.at, rows.at + rows.count):
            index = self.spans[at].row >> 6
            bit = <uint64_t>1 << (self.spans[at].row & 63)
            if self.block_count > start and self.blocks[self.block_count - 1].index == index:
                self.blocks[self.block_count - 1].bits |= bit
            else:
                self._append_block(index, bit)
        return 0

    cdef void _keep_common(self, Py_ssize_t start, const RowSet *rows) noexcept nogil:
        """Intersect the blocks from `start` on with a set."""
        cdef RowBlock *blocks = self.blocks
        cdef const RowBlock *other = blocks + rows.at
        cdef const RowBlock *end = other + rows.count
        cdef Py_ssize_t at, kept = start
        cdef uint64_t bits
        for at in range(start, self.block_count):
            while other < end and other.index < blocks[at].index:
                other += 1
            if other == end:
                break
            bits = blocks[at].bits & other.bits
            if other.index == blocks[at].index and bits:
                blocks[kept] = RowBlock(bits, other.index)
                kept += 1
        self.work += <uint64_t>(self.block_count - start)
        self.block_count = kept

    cdef void _filter_by_guards(self, int32_t number, Py_ssize_t start) noexcept nogil:
        """Drop the rows of the blocks from `start` on that fail a guard of a twig node."""
        cdef Py_ssize_t at, kept = start
        cdef uint64_t bits, passed
        cdef int bit
        for at in range(start, self.block_count):
            bits = self.blocks[at].bits
            passed = 0
            while bits:
                bit = __builtin_ctzll(bits)
                bits &= bits - 1
                if self._passes_guards(number, (self.blocks[at].index << 6) + bit):
                    passed |= <uint64_t>1 << bit
            if passed:
                self.blocks[kept] = RowBlock(passed, self.blocks[at].index)
                kept += 1
        self.block_count = kept

    cdef bint _passes_guards(self, int32_t number, int32_t row) noexcept nogil:
        """Return whether numbers below a row pass all guards of a twig node."""
        cdef const JoinNode *node
        cdef const Guard *guard
        cdef const RowSpan *span
        cdef int32_t child = number + 1, end = number + self.twigs.nodes[number].size
        while child < end:
            node = &self.twigs.nodes[child]
            if node.guard != NO_GUARD:
                self.work += 1
                guard = &self.twigs.guards[node.guard]
                span = self._find_span(&self.row_sets[node.semijoin], row)
                if span == NULL or not span_passes(
                    guard.op, guard.operand, span.smallest, span.largest
                ):
                    return False
            child += node.size
        return True

    cdef const RowSpan *_find_span(self, const RowSet *rows, int32_t row) noexcept nogil:
        """Return the span of a row in a ranked set, NULL if it has none."""
        cdef const RowSpan *spans = self.spans + rows.at
        cdef int32_t low = 0, high = rows.count, middle
        while low < high:
            middle = (low + high) >> 1
            if spans[middle].row < row:
                low = middle + 1
            else:
                high = middle
        return &spans[low] if low < rows.count and spans[low].row == row else NULL

    # semijoins

    cdef const RowSet *_row_set(self, int32_t number) except NULL nogil:
        """Return the result of a semijoin; compute it on first use in a document."""
        cdef RowSet *result = &self.row_sets[number]
        cdef const SemiJoin *semijoin = &self.twigs.semijoins[number]
        if result.stamp == self.traversal.epoch:
            return result
        if semijoin.edge & RANKED_EDGE:
            self._collect_spans(semijoin.leaf, semijoin.edge)
            result.at = <int32_t>self.span_count
            self._take_spans()
            result.count = <int32_t>self.span_count - result.at
        else:
            if semijoin.node == NO_TWIG:
                self._collect_leaf(semijoin.leaf, semijoin.edge)
            else:
                self._collect_node(semijoin.node, semijoin.edge)
            result.at = <int32_t>self.block_count
            self._take_bitmap()
            result.count = <int32_t>self.block_count - result.at
        result.summary = self.summary
        result.stamp = self.traversal.epoch
        return result

    cdef int _collect_leaf(self, int32_t leaf, int32_t edge) except -1 nogil:
        """Add the nodes above those that reached a leaf to the bitmap."""
        cdef const PathHot *paths = self.traversal.paths.hot
        cdef const int32_t *instances = self.traversal.instances.at
        cdef PathCursor cursor = leaf_paths(self.traversal, leaf)
        cdef int32_t path = next_path(self.traversal, &cursor), upper, level, instance
        cdef int32_t levels = edge >> LEVELS_SHIFT
        self._start_bitmap()
        while path >= 0:
            instance = paths[path].first_instance
            if levels:
                upper = path
                while paths[upper].symbol >= VALUE_SYMBOL:  # a value belongs to its node
                    upper = paths[upper].parent
                for level in range(levels):
                    upper = paths[upper].parent
                if instances[paths[upper].first_instance + 1] < 0:
                    # One node has the upper path: all instances lead to it.
                    self._add_above(instances[paths[upper].first_instance], edge & BELOW)
                    instance = -1
            while instance >= 0:
                self._add_above(instances[instance], edge)
                instance = instances[instance + 1]
            path = next_path(self.traversal, &cursor)
        return 0

    cdef int _collect_node(self, int32_t node, int32_t edge) except -1 nogil:
        """Add the nodes above the matches of a twig node to the bitmap."""
        cdef Py_ssize_t start, at
        cdef uint64_t bits
        cdef bint may_match = self._summaries_meet(node)
        start = self.block_count
        if may_match:
            self._intersect(node)
        self._start_bitmap()
        for at in range(start, self.block_count):
            bits = self.blocks[at].bits
            while bits:
                self._add_above((self.blocks[at].index << 6) + __builtin_ctzll(bits), edge)
                bits &= bits - 1
        self.block_count = start
        return 0

    cdef void _start_bitmap(self) noexcept nogil:
        self.summary = 0
        self.lowest_word = <int32_t>(self.nodes.size >> 6)
        self.highest_word = -1

    cdef void _add_above(self, int32_t row, int32_t edge) noexcept nogil:
        """Add the upper end of an edge at a row to the bitmap, or all its upper ends."""
        cdef const NodeRow *rows = self.nodes.rows
        cdef int32_t level
        for level in range(edge >> LEVELS_SHIFT):
            row = rows[row].parent
        if not edge & BELOW:
            self._add_row(row)
            return
        row = rows[row].parent
        while row >= 0 and self._add_row(row):  # the ancestors of a known row are known
            row = rows[row].parent

    cdef bint _add_row(self, int32_t row) noexcept nogil:
        """Add a row to the bitmap; return whether it is new."""
        cdef uint64_t *word = <uint64_t *>self.bitmap.at + (row >> 6)
        cdef uint64_t bit = <uint64_t>1 << (row & 63)
        self.work += 1
        if word[0] & bit:
            return False
        word[0] |= bit
        self.summary |= <uint64_t>1 << (row >> self.summary_shift)
        self.lowest_word = min(self.lowest_word, row >> 6)
        self.highest_word = max(self.highest_word, row >> 6)
        return True

    cdef int _take_bitmap(self) except -1 nogil:
        """Append the blocks of the bitmap, and clear it."""
        cdef uint64_t *words = <uint64_t *>self.bitmap.at
        cdef int32_t index
        for index in range(self.lowest_word, self.highest_word + 1):
            if words[index]:
                self._append_block(index, words[index])
                words[index] = 0
        return 0

    # ranked semijoins

    cdef int _collect_spans(self, int32_t leaf, int32_t edge) except -1 nogil:
        """Add the nodes above the numbers of a leaf to the bitmap, and note their spans."""
        cdef PathCursor cursor = leaf_paths(self.traversal, leaf)
        cdef int32_t path = next_path(self.traversal, &cursor), instance
        self._start_bitmap()
        if self.row_spans.size < 2 * self.nodes.size:
            reserve(&self.row_spans, 2 * self.nodes.size)
            self.row_spans.size = 2 * self.nodes.size
        while path >= 0:
            instance = self.traversal.paths.hot[path].first_instance
            while instance >= 0:
                self._add_number(self.traversal.instances.at[instance], edge)
                instance = self.traversal.instances.at[instance + 1]
            path = next_path(self.traversal, &cursor)
        return 0

    cdef void _add_number(self, int32_t row, int32_t edge) noexcept nogil:
        """Add the number of a row to the span of each upper end of an edge."""
        cdef const NodeRow *rows = self.nodes.rows
        cdef int32_t rank = self.traversal.ranks.at[row], level
        cdef int32_t *span
        if rank == NOT_A_NUMBER:
            return
        for level in range(edge >> LEVELS_SHIFT):
            row = rows[row].parent
        if edge & BELOW:
            row = rows[row].parent
        while row >= 0:
            span = self.row_spans.at + 2 * row
            if self._add_row(row):
                span[0] = span[1] = rank
            else:
                span[0] = min(span[0], rank)
                span[1] = max(span[1], rank)
            if not edge & BELOW:
                break
            row = rows[row].parent

    cdef int _take_spans(self) except -1 nogil:
        """Append the spans of the rows of the bitmap, and clear it."""
        cdef uint64_t *words = <uint64_t *>self.bitmap.at
        cdef int32_t index, row
        cdef const int32_t *span
        for index in range(self.lowest_word, self.highest_word + 1):
            while words[index]:
                row = (index << 6) + __builtin_ctzll(words[index])
                words[index] &= words[index] - 1
                if self.span_count == self.span_capacity:
                    grow(
                        <void **>&self.spans,
                        &self.span_capacity,
                        self.span_count + 1,
                        sizeof(RowSpan),
                    )
                span = self.row_spans.at + 2 * row
                self.spans[self.span_count] = RowSpan(row, span[0], span[1])
                self.span_count += 1
        return 0
