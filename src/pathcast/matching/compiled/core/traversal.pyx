"""The traversal of one document by one lazy DFA: which subscriptions and twig leaves it reaches.

Each element takes one transition. The first occurrence of a label path in the document collects
the outputs of its state sets: subscription numbers become bits, or their next hops are united.
A state set that several paths share is collected once. Attributes, texts and values are visited
only below label paths whose states test them.

For the twig join the traversal records the rows of each label path, the paths of each state set
and the sets of each leaf, as chains in flat arrays. For guards it records the rank of each number
and the span of ranks of each label path. If the memo exceeds its bound within the document, all
this would dangle: `memo_overflowed` is set, and the evaluator decides twigs and guards.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from lxml.includes cimport tree

from pathcast.matching.compiled.core.evaluator.arena cimport ArenaMark, free_arena, mark, release
from pathcast.matching.compiled.core.lazy_dfa cimport LazyDfa, Watermark
from pathcast.matching.compiled.core.names cimport NameCache
from pathcast.matching.compiled.core.nfa cimport (
    ATTRIBUTES,
    DEEP_ATTRIBUTES,
    DEEP_OTHERS,
    OTHERS,
    RANKED,
    VALUES,
    CompiledNfa,
)
from pathcast.matching.compiled.core.node_table cimport NodeRow, NodeTable, is_text, starts_text
from pathcast.matching.compiled.core.path_table cimport (
    ATTRIBUTE_SYMBOL,
    COMMENT_SYMBOL,
    DEAD_PATH,
    DOCUMENT_PATH,
    INSTRUCTION_SYMBOL,
    TEXT_SYMBOL,
    PathCold,
    PathHot,
    attribute_bit,
    attribute_slot,
    class_slot,
)
from pathcast.matching.compiled.core.predicates cimport NOT_A_NUMBER
from pathcast.matching.compiled.core.state_set_table cimport StateSetHot
from pathcast.matching.compiled.core.strings cimport TextView, find_string
from pathcast.vectors cimport find, free_vector, has_bit, home_slot, pack_key, push, reserve

cdef extern from *:
    void __builtin_prefetch(const void *) noexcept nogil

cdef enum:
    _PREFETCH_DISTANCE = 5  # elements
    _MAX_DEPTH = 256  # levels; libxml2 parses no deeper documents
    _UNKNOWN = -1
    _NOT_UNIQUE = -2


cdef class Traversal:
    """A lazy DFA and the scratch space of its traversals; used by one thread at a time."""

    def __cinit__(self):
        self.first_sets = NULL
        self.rank_spans = NULL
        self.hit = self.multi_hit = NULL

    def __init__(self, CompiledNfa nfa not None, Py_ssize_t limit):
        self.nfa = nfa
        self.name_cache = NameCache()
        self.dfa = LazyDfa(nfa, limit)
        self.paths = self.dfa.paths
        self.sets = self.dfa.sets
        self.has_twigs = nfa.twigs.plan_count > 0
        self.first_sets = <int32_t *>calloc(<size_t>nfa.twigs.leaf_count + 1, sizeof(int32_t))
        self.rank_spans = <RankSpan *>calloc(<size_t>nfa.twigs.leaf_count + 1, sizeof(RankSpan))
        self.leaf_words = (nfa.twigs.leaf_count >> 6) + 1
        self.hit = <uint64_t *>calloc(<size_t>self.leaf_words, sizeof(uint64_t))
        self.multi_hit = <uint64_t *>calloc(<size_t>self.leaf_words, sizeof(uint64_t))
        if (
            self.first_sets == NULL or self.rank_spans == NULL
            or self.hit == NULL or self.multi_hit == NULL
        ):
            raise MemoryError
        self._clear_keyword_stamps()

    def __dealloc__(self):
        free_vector(&self.keyword_stamps)
        free_arena(&self.texts)
        free_vector(&self.keywords_found)
        free(self.first_sets)
        free(self.rank_spans)
        free_vector(&self.ranks)
        free(self.hit)
        free(self.multi_hit)
        free_vector(&self.path_of)
        free_vector(&self.symbols)
        free_vector(&self.path_map)
        free_vector(&self.instances)
        free_vector(&self.path_chain)
        free_vector(&self.set_chain)
        free_vector(&self.leaf_sets)
        free_vector(&self.undecided)
        free_vector(&self.seen_paths)

    cdef bint rebind(self, CompiledNfa nfa) except -1:
        """Take another NFA and reuse the memory; return False if either NFA has twigs."""
        if self.has_twigs or nfa.twigs.plan_count:
            return False
        self.dfa.rebind(nfa)
        self.nfa = nfa
        self._clear_keyword_stamps()
        self.leader_serial = 0
        self.name_cache.clear()
        return True

    cdef int run(self, NodeTable nodes) except -1 nogil:
        """Traverse a document; the caller has set `bits` or `hops`, `alive` and `version`."""
        cdef int32_t row, path, depth, ahead
        cdef NodeRow *node
        cdef Watermark marks[_MAX_DEPTH + 1]
        cdef int32_t mark_depths[_MAX_DEPTH + 1]
        cdef int mark_count = 0
        self._start_document(nodes)
        self._enter(0, DOCUMENT_PATH)
        if self.paths.hot[DOCUMENT_PATH].flags & (OTHERS | DEEP_OTHERS):
            self._visit_other_children(nodes, 0, DOCUMENT_PATH)
        self.symbols.size = 0
        reserve(&self.symbols, nodes.size)
        for row in range(1, <int32_t>nodes.elements + 1):
            node = &nodes.rows[row]
            self.symbols.at[row] = self._name_code(node.node.name, node.node.ns)
        for row in range(1, <int32_t>nodes.elements + 1):
            ahead = row + _PREFETCH_DISTANCE
            if (
                ahead <= nodes.elements
                and nodes.rows[ahead].parent < row
                and self.dfa.transitions.size
            ):
                __builtin_prefetch(
                    home_slot(
                        &self.dfa.transitions,
                        pack_key(
                            self.path_of.at[nodes.rows[ahead].parent], self.symbols.at[ahead]
                        ),
                    )
                )
            node = &nodes.rows[row]
            depth = node.depth
            while mark_count and mark_depths[mark_count - 1] >= depth:
                mark_count -= 1
                self.dfa.release(marks[mark_count])
            if not self.dfa.caching:
                marks[mark_count] = self.dfa.watermark()
                mark_depths[mark_count] = depth
                mark_count += 1
            path = self._step(self.path_of.at[node.parent], self.symbols.at[row])
            self.path_of.at[row] = path
            self._enter(row, path)
            if self.paths.hot[path].flags:
                self._visit_attributes_and_text(nodes, row, path)
        self._collect_all_matches()
        if not self.dfa.caching:
            self.memo_overflowed = True
            if mark_count:
                self.dfa.release(marks[0])
        return 0

    cdef int _start_document(self, NodeTable nodes) except -1 nogil:
        cdef int32_t index, leaf_count = self.nfa.twigs.leaf_count
        self.dfa.start_document()
        self.epoch += 1
        if self.epoch == 0:  # the counter wrapped after 2**32 documents: old stamps are invalid
            self.dfa.flushes += 1
            self.dfa.flush()
            for index in range(leaf_count):
                self.rank_spans[index].stamp = 0
            self.epoch = 1
        self.memo_overflowed = False
        self.name_cache.start_document()
        self.instances.size = self.path_chain.size = self.set_chain.size = 0
        self.leaf_sets.size = self.seen_paths.size = self.undecided.size = 0
        if self.has_twigs:
            memset(self.hit, 0, <size_t>self.leaf_words * sizeof(uint64_t))
            memset(self.multi_hit, 0, <size_t>self.leaf_words * sizeof(uint64_t))
            self.hit[leaf_count >> 6] = <uint64_t>1 << (leaf_count & 63)  # stands for no leaf
        nodes.size = nodes.elements + 1
        self.path_of.size = 0
        reserve(&self.path_of, nodes.size)
        self.path_of.size = nodes.size
        self.path_of.at[0] = DOCUMENT_PATH
        if self.nfa.twigs.guard_count:
            self.ranks.size = 0
            reserve(&self.ranks, nodes.size)
            self.ranks.size = nodes.size
        return 0

    # following another traversal

    cdef int follow(self, Traversal leader, NodeTable nodes) except -1 nogil:
        """Traverse a document that `leader` has just traversed; for simple NFAs only.

        `path_map` translates the leader's paths, so that an element costs two array reads instead
        of a name look-up and a transition. A small NFA beside a large one is almost free.
        """
        if leader.dfa.caching:
            self._start_document(nodes)
            self._extend_path_map(leader)
            if self._map_paths(leader, nodes):
                return self._collect_all_matches()
        return self.run(nodes)

    cdef int _extend_path_map(self, Traversal leader) except -1 nogil:
        """Reset the path map if either memo was flushed; add slots for the leader's new paths."""
        cdef Py_ssize_t size, added
        if (
            self.leader_serial != leader.dfa.serial
            or self.leader_flushes != leader.dfa.flushes
            or self.own_flushes != self.dfa.flushes
        ):
            self.leader_serial = leader.dfa.serial
            self.leader_flushes = leader.dfa.flushes
            self.own_flushes = self.dfa.flushes
            self.path_map.size = 0
        size = self.path_map.size
        added = leader.paths.count - size
        if added > 0:
            reserve(&self.path_map, added)
            memset(self.path_map.at + size, 255, <size_t>added * sizeof(int32_t))  # _UNKNOWN
            self.path_map.size = leader.paths.count
        return 0

    cdef bint _map_paths(self, Traversal leader, NodeTable nodes) except -1 nogil:
        """Find the path of every element; return False if the memo exceeds its bound."""
        cdef int32_t row, path, leader_path
        self._enter(0, DOCUMENT_PATH)
        for row in range(1, <int32_t>nodes.elements + 1):
            leader_path = leader.path_of.at[row]
            path = self.path_map.at[leader_path]
            if path < 0:
                if path == _UNKNOWN and not leader.paths.cold[leader_path].is_exact:
                    self.path_map.at[leader_path] = _NOT_UNIQUE
                # Codes differ between the NFAs: a name of the leader's may be known here by its
                # namespace only.
                path = self._step(
                    self.path_of.at[nodes.rows[row].parent],
                    self._name_code(nodes.rows[row].node.name, nodes.rows[row].node.ns),
                )
                if self.path_map.at[leader_path] == _UNKNOWN:
                    self.path_map.at[leader_path] = path
                if not self.dfa.caching:
                    self.path_map.size = 0
                    return False
            self.path_of.at[row] = path
            if self.paths.hot[path].stamp != self.epoch:
                self._enter(row, path)
        return True

    cdef int32_t _name_code(
        self, const tree.xmlChar *name, tree.xmlNs *namespace
    ) except -1 nogil:
        return self.name_cache.code(self.nfa.names, name, namespace)

    # label paths

    cdef int32_t _step(self, int32_t path, int32_t symbol) except -1 nogil:
        """Return the transition of a path on a symbol."""
        cdef int32_t target = find(&self.dfa.transitions, pack_key(path, symbol))
        if target >= 0:
            self.dfa.hits += 1
            return target
        return self.dfa.advance(path, symbol)

    cdef int32_t _enter(self, int32_t row, int32_t path) except -1 nogil:
        """Record that a node of the document has a path."""
        cdef PathHot *hot = &self.paths.hot[path]
        if hot.stamp != self.epoch:
            hot.stamp = self.epoch
            hot.first_instance = -1
            if hot.output_count == 0:
                pass
            elif self.dfa.caching:
                push(&self.seen_paths, path)
            else:
                self._collect_matches(path)
                hot = &self.paths.hot[path]
        if self.has_twigs and self.dfa.caching and hot.output_count:
            push(&self.instances, row)
            push(&self.instances, hot.first_instance)
            hot.first_instance = <int32_t>self.instances.size - 2
        return 0

    cdef int _collect_all_matches(self) except -1 nogil:
        """Collect the outputs of all paths of the document; prefetch those of the next paths."""
        cdef Py_ssize_t at, count = self.seen_paths.size
        cdef const PathHot *ahead
        cdef const StateSetHot *state_set
        cdef int32_t index
        for at in range(count):
            if at + 3 < count:
                ahead = &self.paths.hot[self.seen_paths.at[at + 3]]
                __builtin_prefetch(&self.paths.set_lists.at[ahead.sets_at])
            if at + 2 < count:
                ahead = &self.paths.hot[self.seen_paths.at[at + 2]]
                for index in range(ahead.output_count):
                    __builtin_prefetch(
                        &self.sets.hot[self.paths.set_lists.at[ahead.sets_at + index]]
                    )
            if at + 1 < count:
                ahead = &self.paths.hot[self.seen_paths.at[at + 1]]
                for index in range(ahead.output_count):
                    state_set = &self.sets.hot[self.paths.set_lists.at[ahead.sets_at + index]]
                    if state_set.stamp != self.epoch:
                        __builtin_prefetch(self.sets.ints.at + state_set.numbers_at)
            self._collect_matches(self.seen_paths.at[at])
        if self.dfa.caching:
            self._hit_all_leaves()
        return 0

    cdef int _collect_matches(self, int32_t path) except -1 nogil:
        """Collect the outputs of a path's state sets, those of shared sets once."""
        cdef PathHot *hot = &self.paths.hot[path]
        cdef StateSetHot *state_set
        cdef const int32_t *number
        cdef const int32_t *end
        cdef int32_t index, set_number
        cdef uint64_t *bits = self.bits
        for index in range(hot.output_count):
            set_number = self.paths.set_lists.at[hot.sets_at + index]
            state_set = &self.sets.hot[set_number]
            if state_set.stamp != self.epoch:
                state_set.stamp = self.epoch
                state_set.path_chain = -1
                number = self.sets.ints.at + state_set.numbers_at
                end = number + state_set.number_count
                if self.hops == NULL:
                    while number < end:
                        bits[number[0] >> 6] |= <uint64_t>1 << (number[0] & 63)
                        number += 1
                elif state_set.number_count and self.sets.hop_words:
                    self.sets.collect_hops(
                        set_number, self.alive, self.version, self.dfa.caching, self.hops
                    )
                if state_set.leaf_size:
                    push(&self.leaf_sets, set_number)
                    if not self.dfa.caching:
                        self._hit_leaves(
                            self.sets.leaves_of(state_set) + 1, state_set.leaf_size - 1, 0
                        )
            if state_set.leaf_size and self.dfa.caching:
                push(&self.path_chain, path)
                push(&self.path_chain, state_set.path_chain)
                state_set.path_chain = <int32_t>self.path_chain.size - 2
        return 0

    # twig leaves

    cdef int _hit_all_leaves(self) except -1 nogil:
        """Hit the leaves of all state sets of the document."""
        cdef Py_ssize_t at
        cdef const StateSetHot *state_set
        cdef const int32_t *leaves
        cdef int32_t set_number, head
        cdef uint64_t multi_mask
        cdef bint multiple
        for at in range(self.leaf_sets.size):
            set_number = self.leaf_sets.at[at]
            state_set = &self.sets.hot[set_number]
            head = state_set.path_chain
            multiple = (
                self.path_chain.at[head + 1] >= 0
                or self.instances.at[
                    self.paths.hot[self.path_chain.at[head]].first_instance + 1
                ] >= 0
            )
            leaves = self.sets.leaves_of(state_set)
            multi_mask = ~<uint64_t>0 if multiple else 0
            self._hit_join_leaves(set_number, leaves + 1, leaves[0], multi_mask)
            self._hit_leaves(
                leaves + 1 + leaves[0], state_set.leaf_size - 1 - leaves[0], multi_mask
            )
        return 0

    cdef void _hit_leaves(
        self, const int32_t *leaves, int32_t count, uint64_t multi_mask
    ) noexcept nogil:
        """Set the hit bits of leaves; `multi_mask` is all ones if several nodes reached them."""
        cdef const int32_t *end = leaves + count
        cdef uint64_t bit
        cdef int32_t word
        while leaves < end:
            word = leaves[0] >> 6
            bit = <uint64_t>1 << (leaves[0] & 63)
            self.multi_hit[word] |= bit & (multi_mask | self.hit[word])
            self.hit[word] |= bit
            leaves += 1

    cdef int _hit_join_leaves(
        self, int32_t state_set, const int32_t *leaves, int32_t count, uint64_t multi_mask
    ) except -1 nogil:
        """Set the hit bits of join leaves, and add a state set to those of each leaf."""
        cdef const int32_t *end = leaves + count
        cdef uint64_t bit
        cdef int32_t word
        while leaves < end:
            word = leaves[0] >> 6
            bit = <uint64_t>1 << (leaves[0] & 63)
            if not self.hit[word] & bit:
                self.hit[word] |= bit
                self.multi_hit[word] |= bit & multi_mask
                self.first_sets[leaves[0]] = state_set
            else:
                self.multi_hit[word] |= bit
                push(&self.set_chain, state_set)
                push(&self.set_chain, self.first_sets[leaves[0]])
                self.first_sets[leaves[0]] = ~<int32_t>(self.set_chain.size - 2)
            leaves += 1
        return 0

    cdef const RankSpan *rank_span(self, int32_t leaf) noexcept nogil:
        """Return the span of the numbers at a leaf; it is empty if there is none."""
        cdef RankSpan *span = &self.rank_spans[leaf]
        cdef const PathCold *cold
        cdef PathCursor cursor
        cdef int32_t path
        if span.stamp == self.epoch:
            return span
        span[0] = RankSpan(self.epoch, INT32_MAX, NOT_A_NUMBER)
        cursor = leaf_paths(self, leaf)
        path = next_path(self, &cursor)
        while path >= 0:
            cold = &self.paths.cold[path]
            if cold.rank_stamp == self.epoch:
                span.smallest = min(span.smallest, cold.smallest_rank)
                span.largest = max(span.largest, cold.largest_rank)
            path = next_path(self, &cursor)
        return span

    # nodes that are no elements

    cdef int _visit_attributes_and_text(
        self, NodeTable nodes, int32_t row, int32_t path
    ) except -1 nogil:
        """Visit the attributes, the value and the other children of an element, if tested."""
        cdef uint32_t flags = self.paths.hot[path].flags
        if flags & (ATTRIBUTES | DEEP_ATTRIBUTES):
            self._visit_attributes(nodes, row, path)
        if flags & (VALUES | RANKED):
            self._test_value(nodes, row, path)
        if flags & (OTHERS | DEEP_OTHERS):
            self._visit_other_children(nodes, row, path)
        return 0

    cdef int _visit_attributes(self, NodeTable nodes, int32_t row, int32_t path) except -1 nogil:
        cdef tree.xmlAttr *attribute = nodes.rows[row].node.properties
        cdef uint64_t mask = self.paths.cold[path].attribute_mask, bit
        cdef int64_t slot
        cdef int32_t code, target
        cdef Watermark mark
        cdef bint was_caching
        while attribute != NULL:
            code = self._name_code(attribute.name, attribute.ns)
            bit = attribute_bit(code)
            if mask & bit:
                was_caching = self.dfa.caching
                if not was_caching:
                    mark = self.dfa.watermark()
                slot = attribute_slot(&self.paths.cold[path], bit)
                if self.paths.ints.at[slot] == code:
                    self.dfa.hits += 1
                    target = self.paths.ints.at[slot + 1]
                else:
                    target = self._step(path, ATTRIBUTE_SYMBOL | code)
                    if self.dfa.caching:
                        self.paths.ints.at[slot] = code
                        self.paths.ints.at[slot + 1] = target
                if target != DEAD_PATH:
                    self._add_row(nodes, <tree.xmlNode *>attribute, row, target)
                if not was_caching:
                    self.dfa.release(mark)
            attribute = attribute.next
        return 0

    cdef int _visit_other_children(
        self, NodeTable nodes, int32_t row, int32_t path
    ) except -1 nogil:
        """Visit the texts, comments and processing instructions among the children."""
        cdef tree.xmlNode *child = nodes.rows[row].node.children
        if row == 0:
            child = (<tree.xmlDoc *>nodes.rows[0].node).children
        while child != NULL:
            if is_text(child):
                if starts_text(child):
                    self._visit_other(nodes, child, row, path, TEXT_SYMBOL)
            elif child.type == tree.XML_COMMENT_NODE:
                self._visit_other(nodes, child, row, path, COMMENT_SYMBOL)
            elif child.type == tree.XML_PI_NODE:
                self._visit_other(
                    nodes, child, row, path, INSTRUCTION_SYMBOL | self.nfa.names.target(child.name)
                )
            child = child.next
        return 0

    cdef int _visit_other(
        self, NodeTable nodes, tree.xmlNode *node, int32_t parent, int32_t path, int32_t symbol
    ) except -1 nogil:
        cdef Watermark mark
        cdef bint was_caching = self.dfa.caching
        cdef int32_t target
        if not was_caching:
            mark = self.dfa.watermark()
        target = self._step(path, symbol)
        if target != DEAD_PATH:
            self._add_row(nodes, node, parent, target)
        if not was_caching:
            self.dfa.release(mark)
        return 0

    cdef int _add_row(
        self, NodeTable nodes, tree.xmlNode *node, int32_t parent, int32_t path
    ) except -1 nogil:
        """Append a node that is no element to the node table, enter it and test its value."""
        cdef int32_t row = nodes.add(node, parent, nodes.rows[parent].depth + 1)
        push(&self.path_of, path)
        if self.nfa.twigs.guard_count:
            push(&self.ranks, NOT_A_NUMBER)
        self._enter(row, path)
        if self.paths.hot[path].flags & (VALUES | RANKED):
            self._test_value(nodes, row, path)
        return 0

    cdef int _test_value(self, NodeTable nodes, int32_t row, int32_t path) except -1 nogil:
        """Take the transitions of a node on the classes of its string-value."""
        cdef TextView text
        cdef ArenaMark before
        nodes.string_value(row, &text)
        if self.paths.cold[path].function_count:
            before = mark(&self.texts)
            self._test_functions(row, path, text)
            release(&self.texts, before)
        return self._test_text(row, path, text)

    cdef int _test_text(self, int32_t row, int32_t path, TextView text) except -1 nogil:
        """Take the transitions of a path on the classes of a text."""
        cdef int32_t string, rank
        if self.paths.cold[path].string_count:
            string = find_string(&self.nfa.values.strings, text.at, text.size, 0)
            self.dfa.value_string = string
            self._value_step(row, path, self.paths.string_class(path, string))
        if self.paths.cold[path].number_count or self.paths.hot[path].flags & RANKED:
            rank = self.nfa.values.rank_of_text(text.at, text.size)
            if self.paths.hot[path].flags & RANKED:
                self._add_rank(row, path, rank)
            if self.paths.cold[path].number_count:
                self.dfa.value_rank = rank
                self._value_step(row, path, self.paths.number_class(path, rank))
        if self.paths.cold[path].keyword_count:
            self._test_keywords(row, path, text)
        return 0

    cdef int _test_functions(self, int32_t row, int32_t path, TextView text) except -1 nogil:
        """Test the result of each chain of string functions for a text."""
        cdef int32_t place, chain, target
        cdef TextView result
        cdef Watermark before
        cdef bint was_caching
        for place in range(self.paths.cold[path].function_count):
            chain = self.paths.function_chain(path, place)
            was_caching = self.dfa.caching
            if not was_caching:
                before = self.dfa.watermark()
            self.dfa.value_label = self.nfa.values.function_labels.at[chain]
            target = self._value_target(path, self.paths.function_class(path, place))
            if target != DEAD_PATH:
                result = text
                self.nfa.values.functions.apply(chain, &result, &self.texts)
                self._test_text(row, target, result)
            if not was_caching:
                self.dfa.release(before)
        return 0

    cdef void _add_rank(self, int32_t row, int32_t path, int32_t rank) noexcept nogil:
        """Record the rank of a node's number, and add it to the span of its path."""
        cdef PathCold *cold = &self.paths.cold[path]
        self.ranks.at[row] = rank
        if rank == NOT_A_NUMBER:
            return
        if cold.rank_stamp != self.epoch:
            cold.rank_stamp = self.epoch
            cold.smallest_rank = cold.largest_rank = rank
        else:
            cold.smallest_rank = min(cold.smallest_rank, rank)
            cold.largest_rank = max(cold.largest_rank, rank)

    cdef int _test_keywords(self, int32_t row, int32_t path, TextView text) except -1 nogil:
        """Take the transition of a node on each keyword of its string-value."""
        cdef Py_ssize_t at
        cdef int32_t keyword, symbol
        self.keyword_stamp += 1
        if self.keyword_stamp == 0:  # the counter wrapped: old stamps are invalid
            self._clear_keyword_stamps()
            self.keyword_stamp = 1
        self.keywords_found.size = 0
        self.nfa.values.keywords.search(
            text.at,
            text.size,
            <uint32_t *>self.keyword_stamps.at,
            self.keyword_stamp,
            &self.keywords_found,
        )
        for at in range(self.keywords_found.size):
            keyword = self.keywords_found.at[at]
            symbol = self.paths.keyword_class(path, keyword)
            if symbol >= 0:
                self.dfa.value_label = self.nfa.values.keywords.labels.at[keyword]
                self._value_step(row, path, symbol)
        return 0

    cdef int _clear_keyword_stamps(self) except -1 nogil:
        """Ensure a stamp of 0 for every keyword."""
        cdef Py_ssize_t count = self.nfa.values.keywords.count
        self.keyword_stamps.size = 0
        reserve(&self.keyword_stamps, count)
        if count:
            memset(self.keyword_stamps.at, 0, <size_t>count * sizeof(int32_t))
        self.keyword_stamps.size = count
        return 0

    cdef int _value_step(self, int32_t row, int32_t path, int32_t symbol) except -1 nogil:
        cdef Watermark mark
        cdef bint was_caching = self.dfa.caching
        cdef int32_t target
        if not was_caching:
            mark = self.dfa.watermark()
        target = self._value_target(path, symbol)
        if target != DEAD_PATH:
            self._enter(row, target)
        if not was_caching:
            self.dfa.release(mark)
        return 0

    cdef int32_t _value_target(self, int32_t path, int32_t symbol) except -1 nogil:
        """Return the path of a value class."""
        cdef int32_t target = self.paths.ints.at[class_slot(&self.paths.cold[path], symbol)]
        if target >= 0:
            self.dfa.hits += 1
            return target
        return self.dfa.advance(path, symbol)
