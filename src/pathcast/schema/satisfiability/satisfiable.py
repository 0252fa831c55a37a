"""Satisfiability test: yes with an example document, no with the culprit, or unknown.

    pattern -> demands at the document node -> smallest plan (solve) -> document (example)
            -> validated and matched by lxml

A **yes** is always right: its document was validated against the DTD and matched by libxml2. A
**no** is never wrong: every approximation requires less than the pattern does. Otherwise, `answer`
is None.

* Linear paths (`/ // *`, names, perhaps an attribute at the end) without namespaces: exact.
* Twigs of such paths with and / or: exact up to a bound (8 branches at one element, 1,024
  combinations of branches and positions, 4,000 goals).
* Values: decided for enumerated and fixed attributes. Where a string must be found (numbers,
  contains, lengths), the answer is yes if a candidate fits, no if the node cannot have text, else
  None.
* Positions: `a[3]` is no if the content model has no room for three. A yes needs a name test on a
  child step, and a position of at most 12.
* not(): no only for a required attribute, a child that every valid content has, or a value of an
  enumeration.
* Expressions outside tree patterns: the tree pattern that they imply decides, so a no is right, and
  a yes is checked.
* None beyond a work budget, counted in steps (`pathcast.budget`).
* None instead of no: a required IDREF without any ID, a required ENTITY without an entity, or
  documents of more than 256 levels. libxml2 accepts no fixed attribute value with & or <, so such a
  yes is not found.

>>> from pathcast.schema import parse_dtd
>>> dtd = parse_dtd(
...     "<!ELEMENT bib (book*)><!ELEMENT book (title, (author | editor))>"
...     "<!ELEMENT title (#PCDATA)><!ELEMENT author (#PCDATA)><!ELEMENT editor (#PCDATA)>"
... )
>>> satisfiable("//book[author = 'Ann']", dtd).example
b'<bib><book><title/><author>Ann</author></book></bib>'
>>> print(satisfiable("/bib/book[author][editor]", dtd))
no: editor cannot occur there together with the other conditions
>>> print(satisfiable("/bib/book/autor", dtd))
no: book has no child autor (near: author)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.schema.model import AttributeType
from pathcast.schema.satisfiability.culprit import Culprit, culprit
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.schema.satisfiability.example import write_example
from pathcast.schema.satisfiability.solve import Goal, Solver
from pathcast.schema.schema import Schema
from pathcast.xpath import Pattern, parse
from pathcast.xpath.evaluation_cost import DocumentSize, EvaluationCost
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import Condition, Exists, Or, Path, Step

__all__ = ["Satisfiability", "satisfiable"]

_IDS = 50  # elements considered for an ID


@dataclass(frozen=True, slots=True)
class Satisfiability:
    """The answer: True with an `example`, False with the `culprit`, None with a `reason` only."""

    answer: bool | None
    reason: str
    example: bytes | None = None
    culprit: Culprit | None = None

    def __bool__(self) -> bool:
        """Return whether a valid document may match: only a proven no is false."""
        return self.answer is not False

    def __str__(self) -> str:
        word = {True: "yes", False: "no", None: "not known"}[self.answer]
        return f"{word}: {self.reason}"

    def as_dict(self) -> dict[str, object]:
        fields: dict[str, object] = {"satisfiable": self.answer, "reason": self.reason}
        if self.example is not None:
            fields["example"] = self.example.decode()
        if self.culprit is not None:
            fields |= {"position": self.culprit.at, "near": list(self.culprit.similar_names)}
        return fields


def satisfiable(
    pattern: Pattern | str,
    schema: Schema,
    namespaces: Mapping[str, str] | None = None,
    *,
    budget: WorkBudget | None = None,
) -> Satisfiability:
    """Decide whether a document valid under the schema can match; raises SubscriptionError.

    The answer is None if it takes more steps than the budget has, by default `DEFAULT_STEPS`.
    """
    budget = WorkBudget() if budget is None else budget
    if isinstance(pattern, str):
        pattern = parse(pattern, namespaces)
    if not any(root in schema.graph.size for root in schema.roots):
        reason = f"no finite document with root {' or '.join(schema.roots)} is valid"
        return Satisfiability(False, reason, culprit=Culprit(reason))
    try:
        budget.spend(1)
        solver = Solver(schema, budget)
        goal = solver.solve(frozenset([pattern.tree_pattern]))
        if goal is None:
            cause = culprit(pattern.tree_pattern, schema, budget)
            return Satisfiability(False, cause.reason, culprit=cause)
        example = _example(pattern, solver, goal)
        if example is None:  # an IDREF may need an ID elsewhere in the document
            solver = Solver(schema, budget)
            goal = solver.solve(goal[1] | {_some_id(schema)})
            example = goal and _example(pattern, solver, goal)
        if example is not None:
            return Satisfiability(True, "a valid document matches", example)
    except (SearchLimitExceeded, BudgetExceeded) as error:
        return Satisfiability(None, str(error))
    return Satisfiability(None, "no contradiction was found, nor a valid document that matches")


def _some_id(schema: Schema) -> Condition:
    """Return the condition that the document contains an ID."""
    tests = {
        (element.name, attribute.name): None
        for element in schema.elements.values()
        for attribute in element.attributes
        if attribute.type is AttributeType.ID and ":" not in element.name + attribute.name
    }
    return Or(
        tuple(
            Exists(
                Path(
                    True,
                    (
                        Step(Axis.DESCENDANT, Test(TestKind.NAME, name)),
                        Step(Axis.ATTRIBUTE, Test(TestKind.NAME, attribute)),
                    ),
                )
            )
            for name, attribute in list(tests)[:_IDS]
        )
    )


def _example(pattern: Pattern, solver: Solver, goal: Goal) -> bytes | None:
    for namespaces_written in (False, True):
        example = write_example(solver, goal, namespaces=namespaces_written)
        if example is not None and _matches(pattern, solver, example):
            return example
    return None


def _matches(pattern: Pattern, solver: Solver, example: bytes) -> bool:
    try:
        root = etree.fromstring(example)
    except etree.XMLSyntaxError:  # a value that XML does not allow, or an unbound prefix
        return False
    if solver.schema.faults(root):
        return False
    solver.budget.spend(EvaluationCost(pattern).steps(DocumentSize.of(root)))
    check = pattern.check or f"boolean(/self::node()[boolean({pattern.text})])"
    xpath = etree.XPath(check, namespaces=dict(pattern.namespaces), regexp=False)
    return bool(xpath(root.getroottree()))
