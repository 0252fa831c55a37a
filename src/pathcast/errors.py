"""The errors that pathcast raises, and whose fault each one is.

Every error names its *kind* (a short stable word that programs may switch on), says where the trouble
is, what was expected there and what to try. `SubscriptionError` is the subscriber's to mend,
`DocumentError` and `AdvertisementError` the publisher's, `SchemaError` that of whoever wrote the DTD, `EvaluationError` says that one
subscription could not be decided on one document, `WorkloadError` that nothing can be generated as asked, `RoutingError` that no overlay can be as asked. Anything else that escapes is a bug of ours.

>>> error = SubscriptionError("syntax", "unexpected '='", text="//a[b==1]", position=6, hint="write =")
>>> print(error)
syntax: unexpected '=' at character 7
  //a[b==1]
        ^
  hint: write =
"""

from __future__ import annotations

__all__ = [
    "AdvertisementError",
    "DocumentError",
    "EvaluationError",
    "FormatError",
    "PathcastError",
    "PipelineError",
    "RoutingError",
    "ScenarioError",
    "SchemaError",
    "StylesheetError",
    "SubscriptionError",
    "WorkloadError",
]

_CARET_WIDTH = 72  # how much of a long expression the caret line shows


class PathcastError(Exception):
    """The common root: catch it to catch everything that pathcast says is wrong with its input."""

    def __init__(self, kind: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message
        self.hint = hint

    def as_dict(self) -> dict[str, object]:
        """The error as the JSON object that the command line and the error tables hold."""
        found = {"kind": self.kind, "message": self.message, "hint": self.hint}
        return {key: value for key, value in found.items() if value is not None}

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


class PipelineError(PathcastError, RuntimeError):
    """The pipeline cannot run as asked: no Java, a source that cannot be read, a version that is gone."""


class RoutingError(PathcastError, ValueError):
    """An overlay that cannot be as asked: a strategy, a topology or a scenario that is none."""


class _Pointed(PathcastError, ValueError):
    """An error at a place of an expression: `position` counts characters of `text` from 0."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        text: str | None = None,
        position: int | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(kind, message, hint=hint)
        self.text = text
        self.position = position
        self.expected = expected

    def as_dict(self) -> dict[str, object]:
        found = super().as_dict()
        for key, value in (("position", self.position), ("expected", self.expected)):
            if value is not None:
                found[key] = value
        return found

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.message}"]
        if self.position is not None:
            lines[0] += f" at character {self.position + 1}"
        if self.text is not None and self.position is not None:
            lines += self._caret(self.text, self.position)
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    @staticmethod
    def _caret(text: str, position: int) -> list[str]:
        start = max(0, min(position - _CARET_WIDTH // 2, len(text) - _CARET_WIDTH))
        shown = text[start : start + _CARET_WIDTH]
        shown = "".join(character if character.isprintable() else " " for character in shown)
        left = "..." if start else ""
        right = "..." if start + _CARET_WIDTH < len(text) else ""
        return [f"  {left}{shown}{right}", " " * (2 + len(left) + position - start) + "^"]


class ScenarioError(_Pointed, RoutingError):
    """A scenario that cannot be run as it is written: `line` counts from 1, `text` is what stands there."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        line: int,
        text: str | None = None,
        position: int | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(kind, message, text=text, position=position, expected=expected, hint=hint)
        self.line = line

    def as_dict(self) -> dict[str, object]:
        return {**super().as_dict(), "line": self.line}

    def __str__(self) -> str:
        return f"line {self.line}: {super().__str__()}"


class SubscriptionError(_Pointed):
    """A subscription that cannot be accepted."""


class AdvertisementError(_Pointed):
    """An advertisement that cannot be read, or not be written as expressions."""


class _Placed(PathcastError, ValueError):
    """An error at a place of a text: `line` and `column` count from 1, None where unknown."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(kind, message, hint=hint)
        self.line = line
        self.column = column

    def as_dict(self) -> dict[str, object]:
        found = super().as_dict()
        for key, value in (("line", self.line), ("column", self.column)):
            if value is not None:
                found[key] = value
        return found

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line}"
        if place:
            place += ")" if self.column is None else f", column {self.column})"
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.kind}: {self.message}{place}{hint}"


class DocumentError(_Placed):
    """A document that cannot be accepted."""


class SchemaError(_Placed):
    """A DTD that cannot be used."""


class WorkloadError(PathcastError, ValueError):
    """Parameters that no document, subscription or feed can meet."""


class StylesheetError(PathcastError, ValueError):
    """A style sheet that cannot be used, or rows or a document that it cannot transform."""


class EvaluationError(PathcastError):
    """One subscription could not be decided on one document (its deadline passed, say)."""


class FormatError(PathcastError, ValueError):
    """A file that is not what its name says: `line` counts from 1, None where unknown."""

    def __init__(
        self, kind: str, message: str, *, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(kind, message, hint=hint)
        self.line = line

    def as_dict(self) -> dict[str, object]:
        found = super().as_dict()
        return found if self.line is None else {**found, "line": self.line}
