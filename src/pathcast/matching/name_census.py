"""The names in many documents, and the subscriptions that they rule out.

A subscription that matched no document often has a name that no document has. The census collects
the names of elements and attributes, and then finds such a name without another look at the
documents.

A document is parsed for it, which takes about as long as matching does. So when
`SETTLED_DOCUMENTS` in a row had no new name, only one of `SAMPLING_STEP` is examined until a new
name appears. At most `MAX_NAMES` names are kept.

>>> census = NameCensus()
>>> census.add(b"<feed xmlns='urn:atom'><entry id='7'/></feed>")
>>> census.explain("//entry[@di]")
"no element 'entry'; 'entry' is in namespace 'urn:atom': declare a prefix for it and write p:entry"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pathcast.documents import Limits, parse_tree
from pathcast.matching.name_hints import hint_at_name
from pathcast.xpath import parse
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import And, Condition, Exists, Or, Path

__all__ = ["NameCensus"]

SETTLED_DOCUMENTS: Final = 100
SAMPLING_STEP: Final = 10
MAX_NAMES: Final = 100_000


class NameCensus:
    """The names of elements and attributes, as `local` or `{uri}local`."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._unchanged = 0  # documents since the last new name
        self.elements: dict[str, None] = {}
        self.attributes: dict[str, None] = {}
        self.documents = 0
        """How many documents were examined."""

    def add(self, body: bytes) -> None:
        """Collect the names of a document, unless new ones are unlikely; raise DocumentError."""
        self._unchanged += 1
        if self._unchanged > SETTLED_DOCUMENTS and self._unchanged % SAMPLING_STEP:
            return
        count = len(self.elements) + len(self.attributes)
        if count >= MAX_NAMES:
            return
        self.documents += 1
        for element in parse_tree(body, self._limits).root.iter("*"):
            self.elements[str(element.tag)] = None
            for name in element.keys():  # noqa: SIM118 - an element is not its attributes
                self.attributes[str(name)] = None
        if len(self.elements) + len(self.attributes) > count:
            self._unchanged = 0

    def explain(self, xpath: str, namespaces: Mapping[str, str] | None = None) -> str | None:
        """Return which name of a subscription no document has, None if there is none.

        The text names the kind of node, and what the name may stand for.
        """
        return self._explain(parse(xpath, namespaces).tree_pattern)

    def _explain(self, condition: Condition) -> str | None:
        match condition:
            case Exists(path=path):
                return self._explain_path(path)
            case And(parts=parts):
                return next(filter(None, map(self._explain, parts)), None)
            case Or(parts=parts):
                reasons = [self._explain(part) for part in parts]
                return reasons[0] if all(reasons) else None
            case _:  # a negation, or a condition that holds without nodes
                return None

    def _explain_path(self, path: Path) -> str | None:
        for step in path.steps:
            reason = self._explain_test(step.test, is_attribute=step.axis is Axis.ATTRIBUTE)
            reason = reason or next(filter(None, map(self._explain, step.conditions)), None)
            if reason is not None:
                return reason
        return None

    def _explain_test(self, test: Test, *, is_attribute: bool) -> str | None:
        labels, others = self.elements, self.attributes
        kind = "element"
        if is_attribute:
            labels, others, kind = others, labels, "attribute"
        if test.kind is TestKind.ANY_IN:
            is_there = any(label.startswith(f"{{{test.name}}}") for label in labels)
            return None if is_there else f"no {kind} in namespace {test.name!r}"
        if test.kind is not TestKind.NAME or test.name in labels:
            return None
        hint = hint_at_name(test.name, labels, others, is_attribute=is_attribute)
        local = test.name.rpartition("}")[2]
        reason = f"no {kind} {local!r}"
        return reason if hint is None else f"{reason}; {hint.removeprefix(f'no {local!r}; ')}"
