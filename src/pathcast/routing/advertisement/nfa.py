"""The automaton of an advertisement, compiled to decide about documents and patterns.

**Patterns** are evaluated backwards, step by step, over sets of states. The evaluation starts with
the states that the last step accepts, moves to their parents, and ends at the document node, which
is one more state. For a path of `/ // *` this is the product of automaton and pattern, and exact:
the automaton is trim, so every reachable element occurs in some document, and a path tests each
element for one name at most.

A predicate evaluates to the states at which it may hold, and restricts its step to them: all
branches of a twig must be possible at the same element. That is necessary and not sufficient
(`book[author][editor]` where a book has one or the other), so False is always correct. Predicates
on values, attributes, text and positions, and negations, count as possible.

*Ambiguous* automata need care. If an element may be in two sibling states, a document may take both
at once: with `/a/b` and `/a/c` advertised, `<a><b/><c/></a>` lies within, yet no state has both
below it. Such automata come from expressions, and from DTDs with unknown namespaces. For them each
path of a twig is tested on its own, which is weaker, and False is still correct.

**Documents** are read forwards, with one set of states per element.

Sets are bit masks, and the image of each set is memoised: a step costs three look-ups in tables of
at most `_MAX_MEMO` entries. A full table is cleared.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pathcast.budget import WorkBudget
from pathcast.documents import Document
from pathcast.routing.advertisement.bits import bits, closure, image, mask, transpose
from pathcast.routing.advertisement.elements import elements
from pathcast.routing.advertisement.labels import split_clark_name
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Or,
    Path,
    Step,
)

if TYPE_CHECKING:
    from pathcast.routing.advertisement.advertisement import Advertisement

__all__ = ["AdvertisementNfa", "nfa_of"]

K = TypeVar("K")
V = TypeVar("V")

_MAX_MEMO = 1 << 17  # entries of one memo table
_MAX_AUTOMATA = 256
_STATES_PER_STEP = 8  # of a set's image, for the work budget
_NON_ELEMENT_TESTS = (TestKind.NODE, TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION)
_ELEMENT_TESTS = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)


@lru_cache(maxsize=_MAX_AUTOMATA)
def nfa_of(advertisement: Advertisement) -> AdvertisementNfa:
    """Return the compiled automaton, which equal advertisements share."""
    return AdvertisementNfa(advertisement)


class AdvertisementNfa:
    """One automaton with its memo tables; the highest bit of a set is the document node."""

    def __init__(self, advertisement: Advertisement) -> None:
        self.labels = advertisement.labels
        self.leaves = advertisement.leaves
        self.document = 1 << len(self.labels)
        self.every_element = self.document - 1
        self.everywhere = self.document | self.every_element
        self.below = (*advertisement.below, advertisement.roots)
        self.above = transpose(self.below)
        self.ambiguous = any(self._labels_intersect(states) for states in {*self.below})
        self._by_local: dict[str | None, list[int]] = {}
        for state, label in enumerate(self.labels):
            self._by_local.setdefault(label.local, []).append(state)
        self._names: dict[str, int] = {}
        self._spaces: dict[str, int] = {}
        self._parents: dict[int, int] = {}
        self._ancestors: dict[int, int] = {}
        self._children: dict[int, int] = {}
        self._possible: dict[bytes, tuple[bool, int]] = {}  # with the steps spent
        self._steps_per_move = 1 + len(self.labels) // _STATES_PER_STEP

    def _labels_intersect(self, states: int) -> bool:
        """Return whether the labels of two of the states may have a name in common."""
        spaces_by_local: dict[str | None, set[str] | None] = {}  # None: all namespaces
        for state in bits(states):
            label = self.labels[state]
            if label.local not in spaces_by_local:
                spaces_by_local[label.local] = None if label.spaces is None else set(label.spaces)
                continue
            spaces = spaces_by_local[label.local]
            if spaces is None or label.spaces is None or spaces & label.spaces:
                return True
            spaces |= label.spaces
        # A wildcard beside a name counts as common, although their namespaces may differ.
        return None in spaces_by_local and len(spaces_by_local) > 1

    # documents

    def allows(self, document: bytes | Document) -> bool:
        """Return whether the automaton accepts every path from the root to a leaf."""
        reached: list[int] = []
        for parent, label, leaf in elements(document):
            states = self.document if parent < 0 else reached[parent]
            below = self._children.get(states)
            if below is None:
                below = _memoise(self._children, states, image(self.below, states))
            states = below & self.states_with_name(label)
            if not states or (leaf and not states & self.leaves):
                return False
            reached.append(states)
        return True

    def states_with_name(self, name: str) -> int:
        """Return the states whose labels contain a name in Clark notation."""
        states = self._names.get(name)
        if states is None:
            space, local = split_clark_name(name)
            states = 0
            for state in (*self._by_local.get(local, ()), *self._by_local.get(None, ())):
                if self.labels[state].has(space, local):
                    states |= 1 << state
            _memoise(self._names, name, states)
        return states

    # patterns

    def possible(self, condition: Condition, budget: WorkBudget) -> bool:
        """Return whether a condition may hold at the document node of some document.

        Raises BudgetExceeded. A memoised answer spends what it spent first.
        """
        memoised = self._possible.get(condition.digest)
        if memoised is not None:
            answer, steps = memoised
            budget.spend(steps)
            return answer
        spent_before = budget.spent
        if self.ambiguous:
            answer = self._possible_by_paths((), condition, budget)
        else:
            answer = bool(self._where(condition, budget) & self.document)
        _memoise(self._possible, condition.digest, (answer, budget.spent - spent_before))
        return answer

    def _where(self, condition: Condition, budget: WorkBudget) -> int:
        """Return the states at which a condition may hold."""
        budget.spend(1)
        match condition:
            case Exists(path=path):
                return self._path_starts(path, budget)
            case And(parts=parts):
                states = self.everywhere
                for part in parts:
                    states &= self._where(part, budget)
                return states
            case Or(parts=parts):
                states = 0
                for part in parts:
                    states |= self._where(part, budget)
                return states
            case Is(test=test):
                return (
                    self._states_passing(test) if test.kind in _ELEMENT_TESTS else self.everywhere
                )
            case Always(holds=holds):
                return self.everywhere if holds else 0
            case First(path=path, value=value) if not value.holds(""):
                return self._path_starts(path, budget)
            case Count(path=path) if not condition.holds(0):
                return self._path_starts(path, budget)
            case _:
                return self.everywhere

    def _path_starts(self, path: Path, budget: WorkBudget) -> int:
        """Return the states at which a path may select a node."""
        states = self._step_starts(path.steps, budget)
        if path.absolute:
            return self.everywhere if states & self.document else 0
        return states

    def _step_starts(
        self, steps: tuple[Step, ...], budget: WorkBudget, *, bare: bool = False
    ) -> int:
        """Return the states at which steps may select a node; `bare` ignores their conditions."""
        length, states = self._split_tail(steps)
        budget.spend(self._steps_per_move * length)
        for step in steps[length - 1 :: -1] if length else ():
            test = step.test
            if test.kind is TestKind.NAME:
                accepting = self._names.get(test.name)
                states &= self.states_with_name(test.name) if accepting is None else accepting
            else:
                states &= self._states_passing(test)
            if step.conditions and not bare:
                for condition in step.conditions:
                    states &= self._where(condition, budget)
            if not states:
                return 0
            if step.axis is Axis.CHILD:
                parents = self._parents.get(states)
                if parents is None:
                    parents = _memoise(self._parents, states, image(self.above, states))
                states = parents
            else:
                ancestors = self._ancestors.get(states)
                if ancestors is None:
                    direct = image(self.above, states)
                    ancestors = _memoise(self._ancestors, states, closure(self.above, direct))
                states = ancestors if step.axis is Axis.DESCENDANT else ancestors | states
        return states

    def _split_tail(self, steps: tuple[Step, ...]) -> tuple[int, int]:
        """Cut off trailing steps that may select a node other than an element.

        Return the number of steps left, and the states at which the tail may start.
        """
        length = len(steps)
        while length:
            step = steps[length - 1]
            if step.axis is Axis.ATTRIBUTE:
                return length - 1, self.every_element
            if step.test.kind not in _NON_ELEMENT_TESTS:
                break
            length -= 1
            if step.axis is not Axis.DESCENDANT_OR_SELF:  # or-self may select the element itself
                text = step.test.kind is TestKind.TEXT and step.axis is Axis.CHILD
                return length, self.every_element if text else self.everywhere
        return length, self.everywhere

    def _states_passing(self, test: Test) -> int:
        """Return the states whose elements may pass a test; for node(), the document node too."""
        match test.kind:
            case TestKind.NAME:
                return self.states_with_name(test.name)
            case TestKind.ANY:
                return self.every_element
            case TestKind.ANY_IN:
                states = self._spaces.get(test.name)
                if states is None:
                    passing = (i for i, label in enumerate(self.labels) if label.passes(test))
                    states = _memoise(self._spaces, test.name, mask(passing))
                return states
            case TestKind.NODE:
                return self.everywhere
            case _:
                return 0

    def _possible_by_paths(
        self, before: tuple[Step, ...], condition: Condition, budget: WorkBudget
    ) -> bool:
        """Return whether each path of a condition is possible on its own, after the steps before.

        Used for ambiguous automata, where one element may be in several states.
        """
        budget.spend(1)
        match condition:
            case And(parts=parts):
                return all(self._possible_by_paths(before, part, budget) for part in parts)
            case Or(parts=parts):
                return any(self._possible_by_paths(before, part, budget) for part in parts)
            case Always(holds=holds):
                return holds
            case Exists(path=path):
                pass
            case First(path=path, value=value) if not value.holds(""):
                pass
            case Count(path=path) if not condition.holds(0):
                pass
            case _:
                return True
        steps = path.steps if path.absolute else (*before, *path.steps)
        if not self._step_starts(steps, budget, bare=True) & self.document:
            return False
        first = len(steps) - len(path.steps)
        return all(
            self._possible_by_paths(steps[: at + 1], inner, budget)
            for at in range(first, len(steps))
            if steps[at].axis is not Axis.ATTRIBUTE and steps[at].test.kind in _ELEMENT_TESTS
            for inner in steps[at].conditions
        )


def _memoise(table: dict[K, V], key: K, value: V) -> V:
    if len(table) >= _MAX_MEMO:
        table.clear()
    table[key] = value
    return value
