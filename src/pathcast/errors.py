"""The exceptions that pathcast raises for invalid input.

Every error has a *kind*, a short stable word that programs may switch on. It says where the fault
is, what was expected there and what to try. The class says whose input is at fault:

- `SubscriptionError`: the subscriber's expression.
- `DocumentError`, `AdvertisementError`: the publisher's document or advertisement.
- `SchemaError`: a DTD.
- `StylesheetError`: an XSLT style sheet, or the rows for it.
- `FormatError`: a file of subscriptions, documents or tables.
- `EvaluationError`: one subscription or style sheet could not be evaluated on one document.
- `WorkloadError`: parameters of a generator.
- `RoutingError`, `ScenarioError`: the parameters of an overlay, or the text of a scenario.
- `PipelineError`: the configuration or the environment of a pipeline.

Any other exception that escapes is a bug in pathcast.

>>> place = {"text": "//a[b==1]", "position": 6}
>>> print(SubscriptionError("syntax", "unexpected '='", **place, hint="write ="))
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

_CARET_WIDTH = 72  # characters of a long expression that are shown above the caret


class PathcastError(Exception):
    """Base class of all errors that pathcast raises for invalid input."""

    def __init__(self, kind: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message
        self.hint = hint

    def as_dict(self) -> dict[str, object]:
        """Return the error as the JSON object of the command line and the error tables."""
        fields = {"kind": self.kind, "message": self.message, "hint": self.hint}
        return {key: value for key, value in fields.items() if value is not None}

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


class PipelineError(PathcastError, RuntimeError):
    """The pipeline cannot run: no Java, an unreadable source, a deleted version."""


class RoutingError(PathcastError, ValueError):
    """An invalid strategy, topology or scenario of an overlay."""


class _ExpressionError(PathcastError, ValueError):
    """An error within an expression: `position` is an index into `text`, in characters."""

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
        fields = super().as_dict()
        for key, value in (("position", self.position), ("expected", self.expected)):
            if value is not None:
                fields[key] = value
        return fields

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


class ScenarioError(_ExpressionError, RoutingError):
    """An invalid line of a scenario: `line` counts from 1, `text` is its content."""

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


class SubscriptionError(_ExpressionError):
    """A subscription with an invalid or unsupported expression."""


class AdvertisementError(_ExpressionError):
    """An advertisement that cannot be parsed, or not be expressed as XPath."""


class _TextError(PathcastError, ValueError):
    """An error within a text: `line` and `column` count from 1, None where unknown."""

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
        fields = super().as_dict()
        for key, value in (("line", self.line), ("column", self.column)):
            if value is not None:
                fields[key] = value
        return fields

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line}"
        if place:
            place += ")" if self.column is None else f", column {self.column})"
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.kind}: {self.message}{place}{hint}"


class DocumentError(_TextError):
    """A document that is malformed, or exceeds a limit."""


class SchemaError(_TextError):
    """A DTD that is malformed or unsupported."""


class WorkloadError(PathcastError, ValueError):
    """Generator parameters that no document, subscription or feed can satisfy."""


class StylesheetError(WorkloadError):
    """A style sheet that cannot be compiled, or fails on its input.

    A subclass of WorkloadError, which style sheets raised before they had a class of their own.
    """


class EvaluationError(PathcastError):
    """A subscription or style sheet that fails on one document, for example by its deadline."""


class FormatError(PathcastError, ValueError):
    """A file with invalid content: `line` counts from 1, None where unknown."""

    def __init__(
        self, kind: str, message: str, *, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(kind, message, hint=hint)
        self.line = line

    def as_dict(self) -> dict[str, object]:
        fields = super().as_dict()
        return fields if self.line is None else {**fields, "line": self.line}
