"""A run of several automata over documents, one at a time: the scratch space of one thread.

    open(root)                     the tree is walked
    match(automata, alive, ...)    all automata are run; what is left for others to decide is returned
    accept(...)                    those decide
    numbers(alive), hops()         what was found, and everything is clean again

Automata change as subscriptions come and go; what is remembered of those that stay is kept. `alive` has a bit for
every number: what was removed a moment ago may still be part of an automaton, and is masked out at the end.
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

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.matching.compiled.core.course cimport Course
from pathcast.matching.compiled.core.branches cimport Branches
from pathcast.matching.compiled.core.fresh cimport FreshRun
from pathcast.matching.compiled.core.twigs cimport MORE, Twigs, Unit, complete
from pathcast.vectors cimport free_vector, has_bit, push
from pathcast.matching.compiled.core.walk cimport Walk

cetree.import_lxml__etree()

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

cdef array.array _NUMBERS = array.array("i", [])


cdef class Run:
    """Room to run automata in; used by one thread at a time."""

    def __cinit__(self):
        self._bits = NULL
        self._hops = NULL
        self._found = NULL
        self._names = NULL

    def __init__(self, Py_ssize_t limit=-1):
        """`limit` bounds what is remembered of each automaton, in ints; below 0: by its size."""
        self.limit = limit
        self.walk = Walk()
        self.evaluated = self.evaluation_work = 0
        self._automata = ()
        self._courses = []
        self._branches = []
        self._fresh = []

    def __dealloc__(self):
        free(self._bits)
        free(self._hops)
        free(self._found)
        free_vector(&self._pending)

    def open(self, _Element root not None, bint attributes):
        """Take a document; `attributes`: they are to be counted, too."""
        self.walk.open(root, attributes)

    def close(self):
        """Let the document go."""
        self.walk.close()

    def match(
        self, tuple automata not None, bytearray alive not None, uint32_t version, bint hops, tuple fresh not None=()
    ):
        """Run; gives what is left to decide, as (automaton, entry, unit, whether only its residual is left)."""
        cdef Course course, lead
        cdef Py_ssize_t index
        cdef const uint64_t *living = <const uint64_t *>PyByteArray_AS_STRING(alive)
        self._hops_wanted = hops
        if automata is not self._automata:
            self._use(automata)
        self._use_fresh(fresh)
        self._same_names()
        self._pending.size = 0
        for index in range(len(self._courses)):
            course = <Course>self._courses[index]
            course.bits = self._bits
            course.hops = self._hops if hops else NULL
            course.alive = living
            course.version = version
            if index and course.automaton.simple:
                lead = <Course>self._courses[0]
                with nogil:
                    course.follow(lead, self.walk)
            else:
                with nogil:
                    course.run(self.walk)
            if course.joins:
                self._settle(index, living)
        for one in self._fresh:
            self._run_fresh(one, living)
        self.documents += 1
        if self._pending.size == 0:
            return ()
        return [
            tuple([self._pending.at[at + part] for part in range(4)])
            for at in range(0, self._pending.size, 4)
        ]

    def accept(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """An entry of an automaton matches after all."""
        self._accept(self._twigs(index, entry), entry, <const uint64_t *>PyByteArray_AS_STRING(alive))

    def wanted(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """Whether it still makes a difference if an entry matches."""
        return self._wanted_entry(self._twigs(index, entry), entry, <const uint64_t *>PyByteArray_AS_STRING(alive))

    def numbers_of(self, Py_ssize_t index, int32_t entry, bytearray alive not None):
        """The numbers of an entry that are alive."""
        cdef Twigs twigs = self._twigs(index, entry)
        found = []
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            number = twigs.entry_numbers.at[at]
            if alive[number >> 3] >> (number & 7) & 1:
                found.append(number)
        return found

    def numbers(self, bytearray alive not None):
        """The numbers that were found and are alive, in order, as an array of int32."""
        cdef const uint64_t *living = <const uint64_t *>PyByteArray_AS_STRING(alive)
        cdef Py_ssize_t word, count = 0
        cdef uint64_t bits
        cdef int32_t *found = self._found
        cdef array.array numbers
        with nogil:
            for word in range(self._words):
                bits = self._bits[word]
                if bits:
                    self._bits[word] = 0
                    bits &= living[word]
                    while bits:
                        found[count] = <int32_t>(word << 6) + __builtin_ctzll(bits)
                        count += 1
                        bits &= bits - 1
        self.matches += <uint64_t>count
        numbers = array.clone(_NUMBERS, count, False)
        if count:
            memcpy(numbers.data.as_ints, found, <size_t>count * sizeof(int32_t))
        return numbers

    def hops(self):
        """The hops that were found, as a list."""
        cdef Py_ssize_t word
        cdef uint64_t bits
        found = []
        for word in range(self._hop_words):
            bits = self._hops[word]
            self._hops[word] = 0
            while bits:
                found.append((word << 6) + __builtin_ctzll(bits))
                bits &= bits - 1
        return found

    def clear(self):
        """Forget what was found, after an error."""
        if self._words:
            memset(self._bits, 0, <size_t>self._words * 8)
        if self._hop_words:
            memset(self._hops, 0, <size_t>self._hop_words * 8)
        self.walk.close()

    def courses(self):
        """What is remembered of each automaton."""
        return list(self._courses)

    @property
    def join_work(self):
        """How many ancestors joins have looked at."""
        return sum((<Branches>one).work for one in self._branches if one is not None)

    # automata

    cdef int _use(self, tuple automata) except -1:
        """Have a course for every automaton, the one that it had if it had one."""
        known = {id((<Course>course).automaton): place for place, course in enumerate(self._courses)}
        wanted = {id(automaton) for automaton in automata}
        spare = [course for course in self._courses if id((<Course>course).automaton) not in wanted]
        courses = []
        branches = []
        for automaton in automata:
            place = known.get(id(automaton))
            if place is not None:
                courses.append(self._courses[place])
                branches.append(self._branches[place])
                continue
            # the smallest comes last: what it replaces has the right size
            if spare and (<Course>spare[len(spare) - 1]).serve(automaton):
                courses.append(spare.pop())
                branches.append(None)
                continue
            course = Course(automaton, self.limit)
            courses.append(course)
            branches.append(Branches(course, self.walk) if (<Course>course).joins else None)
        self._courses = courses
        self._branches = branches
        self._automata = automata
        self._room()
        return 0

    cdef int _use_fresh(self, tuple fresh) except -1:
        """Have a run for all that is fresh."""
        cdef Py_ssize_t index
        cdef bint changed = False
        del self._fresh[len(fresh) :]
        for index in range(len(fresh)):
            if index == len(self._fresh):
                self._fresh.append(FreshRun())
            if (<FreshRun>self._fresh[index]).fresh is not fresh[index]:
                (<FreshRun>self._fresh[index]).use(fresh[index])
                changed = True
        if changed:
            self._room()
        return 0

    cdef int _room(self) except -1:
        """Have room for all numbers and hops that may be found."""
        cdef Py_ssize_t words = 0, hop_words = 1  # not 0: to a course, no room for hops means that numbers are wanted
        for fresh in self._fresh:
            words = max(words, ((<FreshRun>fresh).fresh.largest_number >> 6) + 1)
            hop_words = max(hop_words, ((<FreshRun>fresh).fresh.largest_hop >> 6) + 1)
        for automaton in self._automata:
            words = max(words, ((<Automaton>automaton).largest_number >> 6) + 1)
            hop_words = max(hop_words, ((<Automaton>automaton).largest_hop >> 6) + 1)
        if words > self._words:
            words += words // 4  # numbers grow while subscriptions come and go
            free(self._bits)
            free(self._found)
            self._words = 0
            self._bits = <uint64_t *>calloc(<size_t>words, 8)
            self._found = <int32_t *>realloc(NULL, <size_t>words * 64 * sizeof(int32_t))
            if self._bits == NULL or self._found == NULL:
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

    cdef int _same_names(self) except -1:
        """See to it that an address stands for one name as long as a course remembers it.

        Names live in a dictionary that the documents of a thread share. A small document of our own keeps
        that dictionary alive; when a document comes with another one, the addresses are forgotten.
        """
        cdef tree.xmlDict *names = self.walk.root._c_node.doc.dict
        cdef _Element keeper
        if self._names != NULL and names == self._names:
            return 0
        for course in self._courses:
            (<Course>course).addresses.forget()
        for fresh in self._fresh:
            (<FreshRun>fresh).addresses.forget()
        keeper = etree.fromstring(b"<a/>")
        self._keeper = keeper
        self._names = names if keeper._c_node.doc.dict == names else NULL
        return 0

    # entries

    cdef Twigs _twigs(self, Py_ssize_t index, int32_t entry):
        if not 0 <= index < len(self._courses):
            raise IndexError(index)
        cdef Twigs twigs = (<Course>self._courses[index]).automaton.twigs
        if not 0 <= entry < twigs.residual.size:
            raise IndexError(entry)
        return twigs

    cdef int _settle(self, Py_ssize_t index, const uint64_t *alive) except -1:
        """Decide the units of a course whose leaves were all hit, as far as can be done here."""
        cdef Course course = <Course>self._courses[index]
        cdef Branches branches = <Branches>self._branches[index]
        cdef Twigs twigs = course.automaton.twigs
        cdef int32_t word, leaf, place
        cdef uint64_t bits
        cdef Py_ssize_t at
        with nogil:
            for word in range(<int32_t>course.leaf_words):
                bits = course.hit[word] & twigs.waiting[word]
                while bits:
                    leaf = (word << 6) + __builtin_ctzll(bits)
                    bits &= bits - 1
                    for place in range(twigs.leaf_starts.at[leaf], twigs.leaf_starts.at[leaf + 1]):
                        if complete(&twigs.units[place], course.hit, twigs.rest.at):
                            self._decide(<int32_t>index, place, course, twigs, alive)
            for place in range(twigs.always, twigs.unit_count):
                self._decide(<int32_t>index, place, course, twigs, alive)
            if course.undecided.size:
                branches.begin()
                for at in range(course.undecided.size):
                    place = course.undecided.at[at]
                    if self._wanted(twigs, &twigs.units[place], alive):
                        self.joins += 1
                        if branches.holds(twigs.units[place].joint):
                            self._fits(<int32_t>index, place, twigs, alive)
        return 0

    cdef int _run_fresh(self, FreshRun fresh, const uint64_t *alive) except -1:
        """Run what is fresh, with the codes that the main automaton has found if it has the same names."""
        cdef const int32_t *codes = NULL
        if self._courses and (<Course>self._courses[0]).automaton.names is fresh.fresh.names:
            codes = (<Course>self._courses[0]).codes.at
        with nogil:
            fresh.run(self.walk, codes)
            self._sweep(fresh, alive)
        return 0

    cdef void _sweep(self, FreshRun fresh, const uint64_t *alive) noexcept nogil:
        """Take the numbers of the fresh paths that were found."""
        cdef int32_t word, bit
        cdef uint64_t bits
        for word in range(fresh.fresh.words):
            bits = fresh.found[word]
            while bits:
                bit = (word << 6) + __builtin_ctzll(bits)
                bits &= bits - 1
                self._take(fresh.fresh.numbers.at[bit], fresh.fresh.hops.at[bit], alive)

    cdef int _decide(
        self, int32_t index, int32_t place, Course course, Twigs twigs, const uint64_t *alive
    ) except -1 nogil:
        """Decide a unit all of whose leaves were hit, or put it off, or leave it to others."""
        cdef const Unit *unit = &twigs.units[place]
        if unit.joint < 0 or not course.lost and unit.other_fork != MORE and not (
            has_bit(course.several, unit.fork) or has_bit(course.several, unit.other_fork)
        ):
            self._fits(index, place, twigs, alive)
        elif not self._wanted(twigs, unit, alive):
            pass
        elif course.lost:
            self._leave(index, place, twigs, False)
        else:
            push(&course.undecided, place)
        return 0

    cdef int _fits(self, int32_t index, int32_t place, Twigs twigs, const uint64_t *alive) except -1 nogil:
        """The branches of a unit hang together."""
        cdef const Unit *unit = &twigs.units[place]
        if unit.number >= 0:
            self._take(unit.number, unit.hop, alive)
        elif not self._wanted(twigs, unit, alive):
            pass
        elif twigs.general[place] or twigs.residual.at[unit.entry]:
            self._leave(index, place, twigs, not twigs.general[place])
        else:
            self._accept(twigs, unit.entry, alive)
        return 0

    cdef int _leave(self, int32_t index, int32_t place, Twigs twigs, bint settled) except -1 nogil:
        """Leave a unit to others; `settled`: all but its residual."""
        push(&self._pending, index)
        push(&self._pending, twigs.units[place].entry)
        push(&self._pending, place)
        push(&self._pending, settled)
        return 0

    cdef void _take(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil:
        """Take a number, or its hop."""
        if not self._hops_wanted:
            self._bits[number >> 6] |= <uint64_t>1 << (number & 63)
        elif hop >= 0 and has_bit(alive, number):
            self._hops[hop >> 6] |= <uint64_t>1 << (hop & 63)

    cdef bint _wanted(self, Twigs twigs, const Unit *unit, const uint64_t *alive) noexcept nogil:
        """Whether somebody alive waits for a unit who was not found already."""
        if unit.number >= 0:
            return self._wanted_one(unit.number, unit.hop, alive)
        return self._wanted_entry(twigs, unit.entry, alive)

    cdef bint _wanted_entry(self, Twigs twigs, int32_t entry, const uint64_t *alive) noexcept nogil:
        cdef Py_ssize_t at
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            if self._wanted_one(twigs.entry_numbers.at[at], twigs.entry_hops.at[at], alive):
                return True
        return False

    cdef bint _wanted_one(self, int32_t number, int32_t hop, const uint64_t *alive) noexcept nogil:
        if not has_bit(alive, number):
            return False
        return hop >= 0 and not has_bit(self._hops, hop) if self._hops_wanted else not has_bit(self._bits, number)

    cdef void _accept(self, Twigs twigs, int32_t entry, const uint64_t *alive) noexcept nogil:
        """Take the numbers of an entry, or their hops."""
        cdef Py_ssize_t at
        for at in range(twigs.entry_starts.at[entry], twigs.entry_starts.at[entry + 1]):
            self._take(twigs.entry_numbers.at[at], twigs.entry_hops.at[at], alive)
