"""The scratch space in which one thread matches documents against several automata, one by one.

The caller performs four steps per document:

1. `open(root)` loads the document into the node table.
2. `match(nfas, alive, ...)` runs all traversals and twig joins. It returns the pending plans:
   those that need the evaluator or a residual.
3. `accept(...)` adds an entry whose pending check holds.
4. `numbers(alive)` or `hops()` returns the matches and resets the context.

The lazy DFAs survive as long as their NFAs are passed to `match`. `alive` has a bit for every
subscription number: a removed subscription stays in its NFA until that is rebuilt, and `numbers`
masks it out.
"""

from cpython cimport array
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from lxml.includes cimport etreepublic as cetree
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element

from lxml import etree

from pathcast.matching.compiled.core.bit_parallel cimport BitParallelTraversal
from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.predicates cimport span_passes
from pathcast.matching.compiled.core.traversal cimport RankSpan, Traversal, passes_guard
from pathcast.matching.compiled.core.twig_join cimport TwigJoin
from pathcast.matching.compiled.core.twigs cimport (
    ANY_VALUE,
    MANY_BRANCH_POINTS,
    NO_TWIG,
    TriggerGroup,
    TwigIndex,
    TwigPlan,
)
from pathcast.vectors cimport free_vector, has_bit, push

cetree.import_lxml__etree()

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil
    void __builtin_prefetch(const void *) noexcept nogil

cdef enum:
    _PREFETCH_DISTANCE = 4  # joins

cdef array.array _NO_NUMBERS = array.array("i", [])


cdef class MatchContext:
    """The lazy DFAs, joins and result bits of one thread."""

    def __cinit__(self):
        self._bits = NULL
        self._hops = NULL
        self._numbers = NULL
        self._names = NULL

    def __init__(self, Py_ssize_t limit=-1):
        """Create an empty context; `limit` is the memo bound of each lazy DFA."""
        self.limit = limit
        self.nodes = NodeTable()
        self.evaluated = self.evaluation_work = 0
        self._nfas = ()
        self._traversals = []
        self._joins = []
        self._recent = []

    def __dealloc__(self):
        free(self._bits)
        free(self._hops)
        free(self._numbers)
        free_vector(&self._pending)

    def open(self, _Element root not None, bint count_attributes):
        """Load a document; `count_attributes` counts its attributes, too."""
        self.nodes.open(root, count_attributes)

    def close(self):
        """Release the document."""
        self.nodes.close()

    def match(
        self,
        tuple nfas not None,
        bytearray alive not None,
        uint32_t version,
        bint hops,
        tuple recent not None=(),
    ):
        """Traverse the document with all NFAs and all recent paths.

        Return the pending plans, each (NFA, entry, plan, whether only its residual is unchecked).
        """
        cdef Traversal traversal, leader
        cdef Py_ssize_t index
        cdef const uint64_t *alive_bits = <const uint64_t *>PyByteArray_AS_STRING(alive)
        self._wants_hops = hops
        if nfas is not self._nfas:
            self._bind_nfas(nfas)
        self._bind_recent(recent)
        self._check_name_dictionary()
        self._pending.size = 0
        for index in range(len(self._traversals)):
            traversal = <Traversal>self._traversals[index]
            traversal.bits = self._bits
            traversal.hops = self._hops if hops else NULL
            traversal.alive = alive_bits
            traversal.version = version
            if index and traversal.nfa.simple:
                leader = <Traversal>self._traversals[0]
                with nogil:
                    traversal.follow(leader, self.nodes)
            else:
                with nogil:
                    traversal.run(self.nodes)
            if traversal.has_twigs:
                self._match_twigs(index, alive_bits)
        for bit_parallel in self._recent:
            self._run_recent(bit_parallel, alive_bits)
        self.documents += 1
        if self._pending.size == 0:
            return ()
        return [
            tuple([self._pending.at[at + part] for part in range(4)])
            for at in range(0, self._pending.size, 4)
        ]

    def accept(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """Add the subscriptions of an entry whose pending check holds."""
        self._accept_entry(
            self._twigs_of(index, entry), entry, <const uint64_t *>PyByteArray_AS_STRING(alive)
        )

    def matters(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """Return whether accepting an entry would still add a match."""
        return self._entry_matters(
            self._twigs_of(index, entry), entry, <const uint64_t *>PyByteArray_AS_STRING(alive)
        )

    def numbers_of(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """Return the live subscription numbers of an entry."""
        cdef TwigIndex twigs = self._twigs_of(index, entry)
        numbers = []
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            number = twigs.entry_numbers.at[at]
            if alive[number >> 3] >> (number & 7) & 1:
                numbers.append(number)
        return numbers

    def numbers(self, bytearray alive not None):
        """Return the matching live subscription numbers, ascending, as an int32 array; reset."""
        cdef const uint64_t *alive_bits = <const uint64_t *>PyByteArray_AS_STRING(alive)
        cdef Py_ssize_t word, count = 0
        cdef uint64_t bits
        cdef int32_t *buffer = self._numbers
        cdef array.array numbers
        with nogil:
            for word in range(self._words):
                bits = self._bits[word]
                if bits:
                    self._bits[word] = 0
                    bits &= alive_bits[word]
                    while bits:
                        buffer[count] = <int32_t>(word << 6) + __builtin_ctzll(bits)
                        count += 1
                        bits &= bits - 1
        self.matches += <uint64_t>count
        numbers = array.clone(_NO_NUMBERS, count, False)
        if count:
            memcpy(numbers.data.as_ints, buffer, <size_t>count * sizeof(int32_t))
        return numbers

    def hops(self):
        """Return the next hops of the matches, ascending; reset."""
        cdef Py_ssize_t word
        cdef uint64_t bits
        hops = []
        for word in range(self._hop_words):
            bits = self._hops[word]
            self._hops[word] = 0
            while bits:
                hops.append((word << 6) + __builtin_ctzll(bits))
                bits &= bits - 1
        return hops

    def clear(self):
        """Drop all results and the document, after an error."""
        if self._words:
            memset(self._bits, 0, <size_t>self._words * 8)
        if self._hop_words:
            memset(self._hops, 0, <size_t>self._hop_words * 8)
        self.nodes.close()

    def traversals(self):
        """Return the traversals, one per NFA."""
        return list(self._traversals)

    @property
    def join_work(self):
        """The number of nodes that twig joins have visited."""
        return sum((<TwigJoin>join).work for join in self._joins if join is not None)

    # automata

    cdef int _bind_nfas(self, tuple nfas) except -1:
        """Keep the traversals of NFAs that stay; rebind or create traversals for the others."""
        places = {
            id((<Traversal>traversal).nfa): place
            for place, traversal in enumerate(self._traversals)
        }
        kept_ids = {id(nfa) for nfa in nfas}
        spare = [
            traversal
            for traversal in self._traversals
            if id((<Traversal>traversal).nfa) not in kept_ids
        ]
        traversals = []
        joins = []
        for nfa in nfas:
            place = places.get(id(nfa))
            if place is not None:
                traversals.append(self._traversals[place])
                joins.append(self._joins[place])
                continue
            # The last spare traversal is the smallest, as is the NFA that replaces it.
            if spare and (<Traversal>spare[len(spare) - 1]).rebind(nfa):
                traversals.append(spare.pop())
                joins.append(None)
                continue
            traversal = Traversal(nfa, self.limit)
            traversals.append(traversal)
            joins.append(
                TwigJoin(traversal, self.nodes) if (<Traversal>traversal).has_twigs else None
            )
        self._traversals = traversals
        self._joins = joins
        self._nfas = nfas
        self._reserve()
        return 0

    cdef int _bind_recent(self, tuple recent) except -1:
        """Bind a bit-parallel traversal to each set of recent paths."""
        cdef Py_ssize_t index
        cdef bint changed = False
        del self._recent[len(recent) :]
        for index in range(len(recent)):
            if index == len(self._recent):
                self._recent.append(BitParallelTraversal())
            if (<BitParallelTraversal>self._recent[index]).paths is not recent[index]:
                (<BitParallelTraversal>self._recent[index]).bind(recent[index])
                changed = True
        if changed:
            self._reserve()
        return 0

    cdef int _reserve(self) except -1:
        """Ensure result bits for all subscription numbers and hops."""
        # At least one hop word: NULL hops mean that a traversal collects numbers.
        cdef Py_ssize_t words = 0, hop_words = 1
        for recent in self._recent:
            words = max(words, ((<BitParallelTraversal>recent).paths.largest_number >> 6) + 1)
            hop_words = max(hop_words, ((<BitParallelTraversal>recent).paths.largest_hop >> 6) + 1)
        for nfa in self._nfas:
            words = max(words, ((<CompiledNfa>nfa).largest_number >> 6) + 1)
            hop_words = max(hop_words, ((<CompiledNfa>nfa).largest_hop >> 6) + 1)
        if words > self._words:
            words += words // 4  # numbers grow while subscriptions come and go
            free(self._bits)
            free(self._numbers)
            self._words = 0
            self._bits = <uint64_t *>calloc(<size_t>words, 8)
            self._numbers = <int32_t *>realloc(NULL, <size_t>words * 64 * sizeof(int32_t))
            if self._bits == NULL or self._numbers == NULL:
                raise MemoryError
            self._words = words
        if hop_words > self._hop_words:
            free(self._hops)
            self._hop_words = 0
            self._hops = <uint64_t *>calloc(<size_t>hop_words, 8)
            if self._hops == NULL:
                raise MemoryError
            self._hop_words = hop_words
        return 0

    cdef int _check_name_dictionary(self) except -1:
        """Clear the name caches if the document's names lie in another dictionary.

        A name cache is valid as long as the dictionary that interns the names. The documents of a
        thread share one dictionary; a small document of our own keeps it allocated.
        """
        cdef tree.xmlDict *names = self.nodes.root._c_node.doc.dict
        cdef _Element owner
        if self._names != NULL and names == self._names:
            return 0
        for traversal in self._traversals:
            (<Traversal>traversal).name_cache.clear()
        for recent in self._recent:
            (<BitParallelTraversal>recent).name_cache.clear()
        owner = etree.fromstring(b"<a/>")
        self._names_owner = owner
        self._names = names if owner._c_node.doc.dict == names else NULL
        return 0

    cdef int _run_recent(self, BitParallelTraversal recent, const uint64_t *alive) except -1:
        """Match recent paths; reuse the symbols of the main NFA if its name table is theirs."""
        cdef const int32_t *symbols = NULL
        if self._traversals and (<Traversal>self._traversals[0]).nfa.names is recent.paths.names:
            symbols = (<Traversal>self._traversals[0]).symbols.at
        with nogil:
            recent.run(self.nodes, symbols)
            self._add_recent_matches(recent, alive)
        return 0

    cdef void _add_recent_matches(
        self, BitParallelTraversal recent, const uint64_t *alive
    ) noexcept nogil:
        cdef int32_t word, bit
        cdef uint64_t bits
        for word in range(recent.paths.words):
            bits = recent.matched[word]
            while bits:
                bit = (word << 6) + __builtin_ctzll(bits)
                bits &= bits - 1
                self._add_match(recent.paths.numbers.at[bit], recent.paths.hops.at[bit], alive)

    # entries

    cdef TwigIndex _twigs_of(self, Py_ssize_t index, int32_t entry):
        """Return the twigs of an NFA; raise IndexError if it has no such entry."""
        if not 0 <= index < len(self._traversals):
            raise IndexError(index)
        cdef TwigIndex twigs = (<Traversal>self._traversals[index]).nfa.twigs
        if not 0 <= entry < twigs.has_residual.size:
            raise IndexError(entry)
        return twigs

    cdef int _match_twigs(self, Py_ssize_t index, const uint64_t *alive) except -1:
        """Decide or defer the plans of an NFA all of whose leaves were hit."""
        cdef Traversal traversal = <Traversal>self._traversals[index]
        cdef TwigJoin join = <TwigJoin>self._joins[index]
        cdef TwigIndex twigs = traversal.nfa.twigs
        cdef int32_t word, leaf, group, plan
        cdef uint64_t bits
        cdef Py_ssize_t at
        with nogil:
            for word in range(<int32_t>traversal.leaf_words):
                bits = traversal.hit[word] & twigs.triggers[word]
                while bits:
                    leaf = (word << 6) + __builtin_ctzll(bits)
                    bits &= bits - 1
                    for group in range(
                        twigs.group_starts.at[leaf], twigs.group_starts.at[leaf + 1]
                    ):
                        self._match_group(
                            <int32_t>index, leaf, &twigs.groups[group], traversal, twigs, alive
                        )
            for plan in range(twigs.unconditional, twigs.plan_count):
                self._decide(<int32_t>index, plan, traversal, twigs, alive)
            if traversal.undecided.size:
                join.start_document()
                for at in range(traversal.undecided.size):
                    if at + _PREFETCH_DISTANCE < traversal.undecided.size:
                        plan = traversal.undecided.at[at + _PREFETCH_DISTANCE]
                        join.prefetch(twigs.plans[plan].twig)
                    plan = traversal.undecided.at[at]
                    self.joins += 1
                    if join.has_match(twigs.plans[plan].twig):
                        self._on_join_match(<int32_t>index, plan, twigs, alive)
        return 0

    cdef int _match_group(
        self,
        int32_t index,
        int32_t leaf,
        const TriggerGroup *group,
        Traversal traversal,
        TwigIndex twigs,
        const uint64_t *alive,
    ) except -1 nogil:
        """Decide or defer the plans of a trigger group whose leaf was hit."""
        cdef int32_t plan
        cdef const RankSpan *span = NULL
        if group.op != ANY_VALUE and not traversal.memo_overflowed:
            span = traversal.rank_span(leaf)
        for plan in range(group.first, group.end):
            if span != NULL and not span_passes(
                group.op, twigs.plan_operands.at[plan], span.smallest, span.largest
            ):
                break  # the operands are sorted: no later one passes
            if _all_targets_hit(&twigs.plans[plan], traversal, twigs.other_targets.at):
                self._decide(index, plan, traversal, twigs, alive)
        return 0

    cdef int _decide(
        self,
        int32_t index,
        int32_t plan,
        Traversal traversal,
        TwigIndex twigs,
        const uint64_t *alive,
    ) except -1 nogil:
        """Accept a plan that needs no join; else queue it for the join or the evaluator."""
        cdef const TwigPlan *twig_plan = &twigs.plans[plan]
        if traversal.memo_overflowed and (
            twig_plan.twig != NO_TWIG or twigs.has_guards[plan]
        ):
            if self._plan_matters(twigs, twig_plan, alive):
                self._defer(index, plan, twigs, False)
        elif twig_plan.twig == NO_TWIG or (
            twig_plan.second_branch_point != MANY_BRANCH_POINTS
            and not has_bit(traversal.multi_hit, twig_plan.branch_point)
            and not has_bit(traversal.multi_hit, twig_plan.second_branch_point)
        ):
            self._on_join_match(index, plan, twigs, alive)
        elif self._plan_matters(twigs, twig_plan, alive):
            __builtin_prefetch(&twigs.nodes[twig_plan.twig])
            push(&traversal.undecided, plan)
        return 0

    cdef int _on_join_match(
        self, int32_t index, int32_t plan, TwigIndex twigs, const uint64_t *alive
    ) except -1 nogil:
        """Add the match of a plan whose branches meet, or defer its other checks."""
        cdef const TwigPlan *twig_plan = &twigs.plans[plan]
        if twig_plan.number >= 0:
            self._add_match(twig_plan.number, twig_plan.hop, alive)
        elif not self._plan_matters(twigs, twig_plan, alive):
            pass
        elif twigs.needs_evaluation[plan] or twigs.has_residual.at[twig_plan.entry]:
            self._defer(index, plan, twigs, not twigs.needs_evaluation[plan])
        else:
            self._accept_entry(twigs, twig_plan.entry, alive)
        return 0

    cdef int _defer(
        self, int32_t index, int32_t plan, TwigIndex twigs, bint only_residual
    ) except -1 nogil:
        """Leave a plan to the caller, completely or but for its residual."""
        push(&self._pending, index)
        push(&self._pending, twigs.plans[plan].entry)
        push(&self._pending, plan)
        push(&self._pending, only_residual)
        return 0

    cdef void _add_match(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil:
        """Add a subscription number, or its next hop if it is alive."""
        if not self._wants_hops:
            self._bits[number >> 6] |= <uint64_t>1 << (number & 63)
        elif hop >= 0 and has_bit(alive, number):
            self._hops[hop >> 6] |= <uint64_t>1 << (hop & 63)

    cdef bint _plan_matters(
        self, TwigIndex twigs, const TwigPlan *plan, const uint64_t *alive
    ) noexcept nogil:
        """Return whether a plan has a live subscription that did not match yet."""
        if plan.number >= 0:
            return self._number_matters(plan.number, plan.hop, alive)
        return self._entry_matters(twigs, plan.entry, alive)

    cdef bint _entry_matters(
        self, TwigIndex twigs, int32_t entry, const uint64_t *alive
    ) noexcept nogil:
        cdef Py_ssize_t at
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            if self._number_matters(twigs.entry_numbers.at[at], twigs.entry_hops.at[at], alive):
                return True
        return False

    cdef bint _number_matters(
        self, int32_t number, int32_t hop, const uint64_t *alive
    ) noexcept nogil:
        if not has_bit(alive, number):
            return False
        if self._wants_hops:
            return hop >= 0 and not has_bit(self._hops, hop)
        return not has_bit(self._bits, number)

    cdef void _accept_entry(
        self, TwigIndex twigs, int32_t entry, const uint64_t *alive
    ) noexcept nogil:
        cdef Py_ssize_t at
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            self._add_match(twigs.entry_numbers.at[at], twigs.entry_hops.at[at], alive)


cdef bint _all_targets_hit(
    const TwigPlan *plan, Traversal traversal, const int32_t *other_targets
) noexcept nogil:
    """Return whether the targets of a plan besides its trigger were hit."""
    cdef int32_t index
    if not _is_hit(traversal, plan.second_target):
        return False
    if plan.third_target >= 0:
        return _is_hit(traversal, plan.third_target)
    other_targets -= plan.third_target + 2
    for index in range(1, other_targets[0] + 1):
        if not _is_hit(traversal, other_targets[index]):
            return False
    return True


cdef inline bint _is_hit(Traversal traversal, int32_t target) noexcept nogil:
    """Return whether a target of a plan was hit: a leaf, or a guard that a number passes."""
    if target <= traversal.nfa.twigs.leaf_count:
        return has_bit(traversal.hit, target)
    return passes_guard(traversal, target - traversal.nfa.twigs.leaf_count - 1)
