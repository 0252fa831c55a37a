"""One subscription over many documents: how many match, and where the others fail.

Documents that fail at the same steps and predicates are a group (`Explanation.failures`). A group
has a count, and the explanation of its first document as an example.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pathcast.cli.console import plural
from pathcast.errors import DocumentError
from pathcast.matching import Explanation

__all__ = ["ExplanationGroups"]

MAX_LISTED: Final = 20  # groups in the text; JSON has all


@dataclass(slots=True)
class _Group:
    document: str
    """The first document."""
    example: Explanation
    count: int = 0

    def as_dict(self) -> dict[str, object]:
        fields = self.example.as_dict()
        details = {name: fields[name] for name in ("failures", "reasons", "hints")}
        return {"count": self.count, "document": self.document, **details}


@dataclass(slots=True)
class ExplanationGroups:
    """The explanations of one subscription on many documents, grouped."""

    id: str | int
    xpath: str
    """The subscription's expression."""
    documents: int = 0
    matched: int = 0
    first_match: str | None = None
    groups: dict[tuple[str, ...], _Group] = field(default_factory=dict)
    errors: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    """By kind: the number of bad documents, the first one, and its message."""

    def add(self, document: str, explanation: Explanation) -> None:
        """Add the explanation of a document."""
        self.documents += 1
        if explanation.matched:
            self.matched += 1
            self.first_match = self.first_match or document
            return
        group = self.groups.setdefault(explanation.failures, _Group(document, explanation))
        group.count += 1

    def add_error(self, document: str, error: DocumentError) -> None:
        """Add a document that is no document."""
        self.documents += 1
        count, first, message = self.errors.get(error.kind, (0, document, error.message))
        self.errors[error.kind] = (count + 1, first, message)

    def _sorted_groups(self) -> list[_Group]:
        return sorted(self.groups.values(), key=lambda group: -group.count)

    def as_dict(self) -> dict[str, object]:
        """Return the groups as a JSON object, the largest first."""
        return {
            "id": self.id,
            "xpath": self.xpath,
            "documents": self.documents,
            "matched": self.matched,
            "first_match": self.first_match,
            "failed": [group.as_dict() for group in self._sorted_groups()],
            "errors": [
                {"kind": kind, "count": count, "document": first, "message": message}
                for kind, (count, first, message) in self.errors.items()
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the groups as lines of text, the largest first."""
        yield f"{self.id}: {self.xpath}"
        example = f", the first is {self.first_match}" if self.first_match else ""
        yield f"{self.matched:,} of {plural(self.documents, 'document')} matched{example}"
        groups = self._sorted_groups()
        for group in groups[:MAX_LISTED]:
            yield f"{group.count:,} failed, the first is {group.document}"
            yield from (f"  {reason}" for reason in group.example.reasons)
            yield from (f"  hint: {hint}" for hint in group.example.hints)
        if len(groups) > MAX_LISTED:
            rest = sum(group.count for group in groups[MAX_LISTED:])
            yield f"{rest:,} failed in {len(groups) - MAX_LISTED:,} other ways"
        for kind, (count, first, message) in self.errors.items():
            yield f"{count:,} could not be read ({kind}), the first is {first}: {message}"
