"""`Matcher`: which of the subscriptions does this document match?

    bytes -> Document -> states reached -> alternatives complete -> joined by regions -> residual -> ids

Equal patterns are one entry with many ids, so everything below is done once for each distinct pattern. Linear
paths are decided by the automaton; twigs, values and places wait until all their paths were reached and are
then joined; residuals wait until their skeleton holds.

This engine is the plain one: the oracle and fallback of any faster one. It is not for use by several
threads at once.

>>> matcher = Matcher()
>>> matcher.add("desk-7", "/news/item[@lang = 'en']//person[. = 'Ann']")
>>> matcher.add("all", "//item")
>>> list(matcher.match(b"<news><item lang='en'><p><person>Ann</person></p></item></news>"))
['desk-7', 'all']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pathcast.errors import EvaluationError, SubscriptionError
from pathcast.matching.automaton import Automaton, Memo
from pathcast.matching.draw import draw
from pathcast.matching.evaluate import Evaluator
from pathcast.matching.explain import Explanation, explain
from pathcast.matching.matches import Id, Matches, Stats, shown_id
from pathcast.matching.paths import Requirement, requirements
from pathcast.matching.residual import Check, Runner
from pathcast.pattern import Cost, Pattern, parse
from pathcast.stream import Document, Limits
from pathcast.stream import parse as parse_document

__all__ = ["Matcher"]

_Key = tuple[str, tuple[tuple[str, str], ...]]


def _known(id: object) -> tuple[bool, Id] | None:
    """An id as a key: 1 and "1" are two ids, and 1 and True must not be one."""
    if isinstance(id, str):
        return (True, id)
    return (False, id) if isinstance(id, int) and not isinstance(id, bool) else None


class _Entry:
    """A distinct pattern and the subscriptions that have it, by number."""

    __slots__ = ("alternatives", "check", "expensive", "ids", "key")

    def __init__(self, key: _Key, pattern: Pattern, check: Check | None) -> None:
        self.key = key
        self.ids: dict[int, Id] = {}
        self.check = check
        self.expensive = pattern.cost is Cost.EXPENSIVE
        self.alternatives = [_Alternative(self, one) for one in requirements(pattern.condition)]


class _Alternative:
    """One way in which an entry may match."""

    __slots__ = ("entry", "needs", "requirement")

    def __init__(self, entry: _Entry, requirement: Requirement) -> None:
        self.entry = entry
        self.requirement = requirement
        self.needs = len(requirement.paths)


class Matcher:
    """Subscriptions in, matches out. `runner` evaluates expensive subscriptions, if any are allowed."""

    def __init__(self, *, limits: Limits | None = None, runner: Runner | None = None) -> None:
        self._limits = Limits() if limits is None else limits
        self._runner = runner
        self._entries: dict[_Key, _Entry] = {}
        self._numbers: dict[tuple[bool, Id], tuple[int, _Entry]] = {}
        self._next_number = 0
        self._automaton: Automaton[_Alternative] = Automaton()
        self._memo: Memo[_Alternative] = Memo()
        self._always: dict[_Alternative, None] = {}  # need no path at all: not(//a)
        self._counts = dict.fromkeys(
            ("documents", "matches", "joins", "join_work", "passed", "false", "errors"), 0
        )

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, id: object) -> bool:
        return _known(id) in self._numbers

    # subscriptions

    def add(
        self,
        id: Id,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        *,
        allow_expensive: bool = False,
    ) -> None:
        """Register a subscription; raises SubscriptionError and leaves everything as it was."""
        known = _known(id)
        if known is None:
            raise SubscriptionError("id", f"an id is a str or an int, not {type(id).__name__}")
        if known in self._numbers:
            raise SubscriptionError(
                "duplicate-id",
                f"there is a subscription {shown_id(id)} already",
                hint="remove it first",
            )
        pattern = parse(xpath, namespaces)
        if pattern.cost is Cost.EXPENSIVE:
            self._admit(xpath, allow_expensive)
        key = (pattern.text, pattern.namespaces)
        entry = self._entries.get(key)
        if entry is None:
            check = None if pattern.check is None else Check(pattern, xpath)
            entry = self._entries[key] = _Entry(key, pattern, check)
            for alternative in entry.alternatives:
                for path in alternative.requirement.paths:
                    self._automaton.add(path, alternative)
                if not alternative.needs:
                    self._always[alternative] = None
        entry.ids[self._next_number] = id
        self._numbers[known] = (self._next_number, entry)
        self._next_number += 1

    def _admit(self, xpath: str, allowed: bool) -> None:
        if not allowed:
            raise SubscriptionError(
                "expensive",
                "its cost may grow with the square of a document's size",
                text=xpath,
                position=0,
                hint="allow it explicitly (allow_expensive=True, --allow-expensive) to run it in a "
                "helper process with a deadline",
            )
        if self._runner is None:
            raise SubscriptionError(
                "expensive",
                "this matcher has nowhere to run expensive subscriptions",
                text=xpath,
                position=0,
                hint="make it with Matcher(runner=pathcast.helper.ProcessRunner())",
            )

    def add_many(
        self,
        subscriptions: Iterable[tuple[Id, str] | tuple[Id, str, Mapping[str, str] | None]],
        *,
        allow_expensive: bool = False,
    ) -> int:
        """Register many, in order; stops with SubscriptionError at the first bad one. Returns how many."""
        added = 0
        for id, xpath, *namespaces in subscriptions:
            declared = namespaces[0] if namespaces else None
            try:
                self.add(id, xpath, declared, allow_expensive=allow_expensive)
            except SubscriptionError as error:
                error.add_note(f"in subscription {shown_id(id)}, after {added} others were added")
                raise
            added += 1
        return added

    def remove(self, id: Id) -> None:
        """Cancel a subscription; raises KeyError if there is none with this id."""
        known = _known(id)
        if known is None or known not in self._numbers:
            raise KeyError(id)
        number, entry = self._numbers.pop(known)
        del entry.ids[number]
        if entry.ids:
            return
        del self._entries[entry.key]
        for alternative in entry.alternatives:
            for path in alternative.requirement.paths:
                self._automaton.remove(path, alternative)
            self._always.pop(alternative, None)

    # documents

    def match(self, body: bytes) -> Matches:
        """The subscriptions that a document matches; raises DocumentError."""
        document = parse_document(body, self._limits)
        matched, errors = self._residuals(self._structural(document), document, bytes(body))
        numbered = sorted((number, id) for entry in matched for number, id in entry.ids.items())
        self._counts["documents"] += 1
        self._counts["matches"] += len(numbered)
        failed = {id: error for entry, error in errors for id in entry.ids.values()}
        return Matches([id for _, id in numbered], [number for number, _ in numbered], failed)

    def _structural(self, document: Document) -> list[_Entry]:
        """The entries whose condition (or skeleton) holds."""
        matched: dict[_Entry, None] = {}
        complete: dict[_Alternative, None] = dict(self._always)
        reached: dict[_Alternative, int] = {}
        for state in self._memo.run(self._automaton, document):
            for alternative in state.waiting:
                if alternative.requirement.exact:
                    matched[alternative.entry] = None
                    continue
                count = reached.get(alternative, 0) + 1
                reached[alternative] = count
                if count == alternative.needs:
                    complete[alternative] = None
        evaluator = Evaluator(document)
        for alternative in complete:
            if alternative.entry not in matched:
                self._counts["joins"] += 1
                if evaluator.holds(alternative.requirement.condition):
                    matched[alternative.entry] = None
        self._counts["join_work"] += evaluator.work
        return list(matched)

    def _residuals(
        self, passed: list[_Entry], document: Document, body: bytes
    ) -> tuple[list[_Entry], list[tuple[_Entry, EvaluationError]]]:
        """Those that hold altogether, and those that could not be decided."""
        matched: list[_Entry] = []
        answers: list[tuple[_Entry, bool | EvaluationError]] = []
        expensive: list[tuple[_Entry, Check]] = []
        for entry in passed:
            if entry.check is None:
                matched.append(entry)
            elif entry.expensive:
                expensive.append((entry, entry.check))
            else:
                answers.append((entry, entry.check.holds(document)))
        if expensive:
            assert self._runner is not None
            found = self._runner.run(body, [check.expression for _, check in expensive])
            answers += zip((entry for entry, _ in expensive), found, strict=True)
        errors = []
        self._counts["passed"] += len(answers)
        for entry, answer in answers:
            if isinstance(answer, EvaluationError):
                errors.append((entry, answer))
            elif answer:
                matched.append(entry)
            else:
                self._counts["false"] += 1
        self._counts["errors"] += len(errors)
        return matched, errors

    # what it looks like

    def explain(
        self,
        xpath: str,
        body: bytes,
        namespaces: Mapping[str, str] | None = None,
        *,
        allow_expensive: bool = False,
    ) -> Explanation:
        """Why a document matches an expression (not an id), or where and why it does not."""
        return explain(xpath, body, namespaces, self._limits, allow_expensive=allow_expensive)

    def draw(self, style: Literal["text", "dot"] = "text") -> str:
        """The automaton, for people (text) or for Graphviz (dot)."""
        return draw(self._automaton, style, lambda one: len(one.entry.ids))

    def stats(self) -> Stats:
        """What the matcher holds and did."""
        counts = self._counts
        return Stats(
            subscriptions=len(self._numbers),
            patterns=len(self._entries),
            residuals=sum(entry.check is not None for entry in self._entries.values()),
            expensive=sum(entry.expensive for entry in self._entries.values()),
            states=self._automaton.size,
            documents=counts["documents"],
            matches=counts["matches"],
            memo=self._memo.size,
            memo_hits=self._memo.hits,
            memo_misses=self._memo.misses,
            joins=counts["joins"],
            join_work=counts["join_work"],
            skeletons_passed=counts["passed"],
            residuals_false=counts["false"],
            residual_errors=counts["errors"],
            false_pass_rate=counts["false"] / counts["passed"] if counts["passed"] else None,
        )
