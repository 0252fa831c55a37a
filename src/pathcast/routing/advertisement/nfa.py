"""The automaton of an advertisement at work: does it allow a document, may a document of it match a pattern?

**Patterns** are read backwards, step by step, as sets of states: from the states that may be the last step's, to those above them, and so on up to
the document node, which is one more state. For a path of `/ // *` that is the product of automaton and pattern, and exact: every state lies on a
way from a root to a leaf, so an element that can be reached is there in some document, and each element is asked for one name
at most.

A condition gives the states where it may hold, and a step's states are cut down to these: all branches of a twig must be possible at the same
element. That is necessary, not sufficient (`book[author][editor]` where a book has one or the other), so a no is always right. What
is not structure (values, attributes, text, places) and what is denied counts as possible.

One case needs more care. If two states that may stand at the same place have an element in common, a document may go both ways at once: with `/a/b`
and `/a/c` advertised, `<a><b/><c/></a>` lies within, yet no state has both below it. Such *ambiguous* automata (from expressions;
from DTDs only where namespaces are not known) are asked each path of a twig on its own, which is weaker and still never a wrong no.

**Documents** are read forwards, a set of states for each element.

Sets are numbers, and what leads to a set is remembered: a step costs three look-ups in tables. The tables are bounded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pathcast.documents import Document
from pathcast.routing.advertisement.bits import bits, closure, image, transpose
from pathcast.routing.advertisement.elements import elements
from pathcast.routing.advertisement.labels import split
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

_REMEMBERED = 1 << 17  # entries of a table
_MACHINES = 256
_NO_ELEMENTS = (TestKind.NODE, TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION)
_NAMED = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)


@lru_cache(maxsize=_MACHINES)
def nfa_of(advertisement: Advertisement) -> AdvertisementNfa:
    """The machine of an advertisement and of all that are equal to it."""
    return AdvertisementNfa(advertisement)


class AdvertisementNfa:
    """Tables for one automaton; the last bit of a set is the document node."""

    def __init__(self, advertisement: Advertisement) -> None:
        self.labels = advertisement.labels
        self.leaves = advertisement.leaves
        self.document = 1 << len(self.labels)
        self.every_element = self.document - 1
        self.everywhere = self.document | self.every_element
        self.below = (*advertisement.below, advertisement.roots)
        self.above = transpose(self.below)
        self.ambiguous = any(self._shared(states) for states in {*self.below})
        self._by_local: dict[str | None, list[int]] = {}
        for state, label in enumerate(self.labels):
            self._by_local.setdefault(label.local, []).append(state)
        self._names: dict[str, int] = {}
        self._spaces: dict[str, int] = {}
        self._parents: dict[int, int] = {}
        self._ancestors: dict[int, int] = {}
        self._children: dict[int, int] = {}
        self._answers: dict[bytes, bool] = {}

    def _shared(self, states: int) -> bool:
        """Whether an element may be two of these states."""
        taken: dict[str | None, set[str] | None] = {}  # the namespaces of a local name; None: all
        for state in bits(states):
            label = self.labels[state]
            if label.local not in taken:
                taken[label.local] = None if label.spaces is None else set(label.spaces)
                continue
            spaces = taken[label.local]
            if spaces is None or label.spaces is None or spaces & label.spaces:
                return True
            spaces |= label.spaces
        # A wildcard beside a name: that their namespaces may differ is not looked at.
        return None in taken and len(taken) > 1

    # - documents -

    def allows(self, document: bytes | Document) -> bool:
        """Whether every path from the root to a leaf is a word of the automaton."""
        reached: list[int] = []
        for parent, label, leaf in elements(document):
            states = self.document if parent < 0 else reached[parent]
            below = self._children.get(states)
            if below is None:
                below = _kept(self._children, states, image(self.below, states))
            states = below & self.named(label)
            if not states or (leaf and not states & self.leaves):
                return False
            reached.append(states)
        return True

    def named(self, name: str) -> int:
        """The states that may be an element of this name (Clark's)."""
        found = self._names.get(name)
        if found is None:
            space, local = split(name)
            found = 0
            for state in (*self._by_local.get(local, ()), *self._by_local.get(None, ())):
                if self.labels[state].has(space, local):
                    found |= 1 << state
            _kept(self._names, name, found)
        return found

    # - patterns -

    def possible(self, condition: Condition) -> bool:
        """Whether the condition may hold at the document node of a document within the advertisement."""
        known = self._answers.get(condition.digest)
        if known is None:
            if self.ambiguous:
                known = self._loosely((), condition)
            else:
                known = bool(self._where(condition) & self.document)
            _kept(self._answers, condition.digest, known)
        return known

    def _where(self, condition: Condition) -> int:
        """The states where the condition may hold."""
        match condition:
            case Exists(path=path):
                return self._path(path)
            case And(parts=parts):
                found = self.everywhere
                for part in parts:
                    found &= self._where(part)
                return found
            case Or(parts=parts):
                found = 0
                for part in parts:
                    found |= self._where(part)
                return found
            case Is(test=test):
                return self._passing(test) if test.kind in _NAMED else self.everywhere
            case Always(holds=answer):
                return self.everywhere if answer else 0
            case First(path=path, value=value) if not value.holds(""):
                return self._path(path)
            case Count(path=path) if not condition.holds(0):
                return self._path(path)
            case _:
                return self.everywhere

    def _path(self, path: Path) -> int:
        """The states from which a path may lead somewhere."""
        found = self._steps(path.steps)
        if path.absolute:
            return self.everywhere if found & self.document else 0
        return found

    def _steps(self, steps: tuple[Step, ...], *, bare: bool = False) -> int:
        """The same of steps; `bare`: without their conditions."""
        length, states = self._end(steps)
        for step in steps[length - 1 :: -1] if length else ():
            test = step.test
            if test.kind is TestKind.NAME:
                name = self._names.get(test.name)
                states &= self.named(test.name) if name is None else name
            else:
                states &= self._passing(test)
            if step.conditions and not bare:
                for condition in step.conditions:
                    states &= self._where(condition)
            if not states:
                return 0
            if step.axis is Axis.CHILD:
                above = self._parents.get(states)
                if above is None:
                    above = _kept(self._parents, states, image(self.above, states))
                states = above
            else:
                higher = self._ancestors.get(states)
                if higher is None:
                    parents = image(self.above, states)
                    higher = _kept(self._ancestors, states, closure(self.above, parents))
                states = higher if step.axis is Axis.DESCENDANT else higher | states
        return states

    def _end(self, steps: tuple[Step, ...]) -> tuple[int, int]:
        """How many steps come before those that may lead to a node that is no element, and from where these go on."""
        length = len(steps)
        while length:
            step = steps[length - 1]
            if step.axis is Axis.ATTRIBUTE:
                return length - 1, self.every_element
            if step.test.kind not in _NO_ELEMENTS:
                break
            length -= 1
            if step.axis is not Axis.DESCENDANT_OR_SELF:  # which may be the node before it
                text = step.test.kind is TestKind.TEXT and step.axis is Axis.CHILD
                return length, self.every_element if text else self.everywhere
        return length, self.everywhere

    def _passing(self, test: Test) -> int:
        """The states of which an element may pass the test; for node() the document node too."""
        match test.kind:
            case TestKind.NAME:
                return self.named(test.name)
            case TestKind.ANY:
                return self.every_element
            case TestKind.ANY_IN:
                found = self._spaces.get(test.name)
                if found is None:
                    states = [i for i, label in enumerate(self.labels) if label.passes(test)]
                    found = _kept(self._spaces, test.name, sum(1 << one for one in states))
                return found
            case TestKind.NODE:
                return self.everywhere
            case _:
                return 0

    def _loosely(self, before: tuple[Step, ...], condition: Condition) -> bool:
        """Whether each path on its own is possible, at the end of the steps before; for ambiguous automata."""
        match condition:
            case And(parts=parts):
                return all(self._loosely(before, part) for part in parts)
            case Or(parts=parts):
                return any(self._loosely(before, part) for part in parts)
            case Always(holds=answer):
                return answer
            case Exists(path=path):
                pass
            case First(path=path, value=value) if not value.holds(""):
                pass
            case Count(path=path) if not condition.holds(0):
                pass
            case _:
                return True
        steps = path.steps if path.absolute else (*before, *path.steps)
        if not self._steps(steps, bare=True) & self.document:
            return False
        first = len(steps) - len(path.steps)
        return all(
            self._loosely(steps[: at + 1], inner)
            for at in range(first, len(steps))
            if steps[at].axis is not Axis.ATTRIBUTE and steps[at].test.kind in _NAMED
            for inner in steps[at].conditions
        )


def _kept(table: dict[K, V], key: K, value: V) -> V:
    if len(table) >= _REMEMBERED:
        table.clear()
    table[key] = value
    return value
