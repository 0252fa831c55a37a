"""Can any valid document match a pattern? Yes with a document, no with the step that kills it.

    pattern -> demands at the document node -> smallest plan (solve) -> document (example) -> checked by lxml

A **yes** is always right: its document was validated against the DTD and matched by libxml2. A **no** is never wrong: every
approximation on the way asks for less than the pattern does. In between, `answer` is None.

* Exact (never None) for linear patterns: `/ // *` and names, perhaps an attribute at the end, without namespaces.
* Twigs of such paths with and / or: exact up to a bound of work (8 branches at one element, 1,024
  combinations of branches and places, 4,000 goals).
* Values: an enumerated or fixed attribute is decided; where a string must be found (numbers, contains, lengths), the
  answer is yes if a candidate fits, else None, no only where text cannot stand at all.
* Places: `a[3]` is no where the content model has no room for three; a yes is found for a name, a child step and 12 at most.
* not(): no only for a required attribute, a child that every valid content has, a value of an enumeration.
* What lies outside tree patterns is judged by its skeleton, so no is right and yes is checked.
* None instead of no: where a required IDREF has no ID to refer to, a required ENTITY no entity, or documents would have
  more than 256 levels. libxml2 takes no fixed attribute value with & or <, so that such a yes is not found.

>>> from pathcast.schema import parse_dtd
>>> dtd = parse_dtd("<!ELEMENT bib (book*)><!ELEMENT book (title, (author | editor))>"
...                 "<!ELEMENT title (#PCDATA)><!ELEMENT author (#PCDATA)><!ELEMENT editor (#PCDATA)>")
>>> satisfiable("//book[author = 'Ann']", dtd).example
b'<bib><book><title/><author>Ann</author></book></bib>'
>>> print(satisfiable("/bib/book[author][editor]", dtd))
no: editor cannot stand there together with what else is asked for
>>> print(satisfiable("/bib/book/autor", dtd))
no: book has no child autor (near: author)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from pathcast.schema.model import AttributeType
from pathcast.schema.satisfiability.culprit import Culprit, culprit
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.schema.satisfiability.example import write
from pathcast.schema.satisfiability.solve import Goal, Solver
from pathcast.schema.schema import Schema
from pathcast.xpath import Pattern, parse
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import Condition, Exists, Or, Path, Step

__all__ = ["Satisfiability", "satisfiable"]

_IDS = 50  # elements that an ID is looked for in


@dataclass(frozen=True, slots=True)
class Satisfiability:
    """`answer` True comes with an `example`, False with the `culprit`, None with a `reason` only."""

    answer: bool | None
    reason: str
    example: bytes | None = None
    culprit: Culprit | None = None

    def __bool__(self) -> bool:
        """Whether some valid document may match: only a proven no is false."""
        return self.answer is not False

    def __str__(self) -> str:
        word = {True: "yes", False: "no", None: "not known"}[self.answer]
        return f"{word}: {self.reason}"

    def as_dict(self) -> dict[str, object]:
        found: dict[str, object] = {"satisfiable": self.answer, "reason": self.reason}
        if self.example is not None:
            found["example"] = self.example.decode()
        if self.culprit is not None:
            found |= {"position": self.culprit.at, "near": list(self.culprit.similar_names)}
        return found


def satisfiable(
    pattern: Pattern | str, schema: Schema, namespaces: Mapping[str, str] | None = None
) -> Satisfiability:
    """Whether any document that is valid under the schema matches; raises SubscriptionError."""
    if isinstance(pattern, str):
        pattern = parse(pattern, namespaces)
    if not any(root in schema.graph.size for root in schema.roots):
        reason = f"no finite document with root {' or '.join(schema.roots)} is valid"
        return Satisfiability(False, reason, culprit=Culprit(reason))
    try:
        for extra in (None, _some_id(schema)):  # an IDREF may need an ID that stands elsewhere
            demands = [pattern.condition] if extra is None else [pattern.condition, extra]
            solver = Solver(schema)
            goal = solver.solve(frozenset(demands))
            if goal is None and extra is None:
                found = culprit(pattern.condition, schema)
                return Satisfiability(False, found.reason, culprit=found)
            example = goal and _example(pattern, solver, goal)
            if example:
                return Satisfiability(True, "a valid document matches", example)
    except SearchLimitExceeded as error:
        return Satisfiability(None, str(error))
    return Satisfiability(None, "no contradiction was found, nor a valid document that matches")


def _some_id(schema: Schema) -> Condition:
    """Somewhere in the document stands an ID."""
    tests = {
        (element.name, one.name): None
        for element in schema.elements.values()
        for one in element.attributes
        if one.type is AttributeType.ID and ":" not in element.name + one.name
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
        example = write(solver, goal, namespaces=namespaces_written)
        if example is not None and _matches(pattern, solver.schema, example):
            return example
    return None


def _matches(pattern: Pattern, schema: Schema, example: bytes) -> bool:
    try:
        root = etree.fromstring(example)
    except (
        etree.XMLSyntaxError
    ):  # a value that no document can hold, a prefix without its namespace
        return False
    if schema.faults(root):
        return False
    check = pattern.check or f"boolean(/self::node()[boolean({pattern.text})])"
    xpath = etree.XPath(check, namespaces=dict(pattern.namespaces), regexp=False)
    return bool(xpath(root.getroottree()))
