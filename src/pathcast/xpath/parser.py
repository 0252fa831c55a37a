"""Parser: tokens to a syntax tree, or an error with position and hint.

Precedence climbing over the grammar of XPath 1.0, written as generators. `yield from` is an
ordinary call. `yield` passes the content of brackets to `_run`, which keeps an explicit stack, so
deep nesting never reaches Python's recursion limit. The parser expands abbreviations (`//` is the
step descendant-or-self::node(), `@x` is attribute::x, `..` is parent::node()), resolves prefixes
and checks types, so later stages need no checks.

Limits: 64 KB of text; 1,000 steps, including the implicit `//` of a relative path; brackets and
operators nested 200 deep (`a[b and not(c)]` nests four deep). The last one bounds the depth of the
syntax tree, so later stages may be recursive.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NoReturn, TypeAlias, TypeVar

from pathcast.errors import SubscriptionError
from pathcast.xpath.cursor import TokenCursor, did_you_mean
from pathcast.xpath.functions import FUNCTIONS, UNSUPPORTED_FUNCTIONS, XPathType
from pathcast.xpath.lexer import Token
from pathcast.xpath.namespaces import XML_NAMESPACE, check_namespace
from pathcast.xpath.numbers import canonical_number
from pathcast.xpath.syntax import (
    NO_TARGET,
    Axis,
    Call,
    Expr,
    FilterExpression,
    Literal,
    LocationPath,
    Negation,
    Number,
    OperatorChain,
    Precedence,
    SyntaxStep,
    Test,
    TestKind,
    Union,
    children,
    type_of,
)

__all__ = ["MAX_NESTING", "MAX_STEPS", "MAX_TEXT", "parse_expression"]

MAX_TEXT = 64 * 1024
MAX_STEPS = 1_000
MAX_NESTING = 200

_AXES = {axis.value: axis for axis in Axis}
_PRECEDENCE = {
    "or": Precedence.OR,
    "and": Precedence.AND,
    "=": Precedence.EQUALITY,
    "!=": Precedence.EQUALITY,
    "<": Precedence.RELATION,
    "<=": Precedence.RELATION,
    ">": Precedence.RELATION,
    ">=": Precedence.RELATION,
    "+": Precedence.SUM,
    "-": Precedence.SUM,
    "*": Precedence.PRODUCT,
    "div": Precedence.PRODUCT,
    "mod": Precedence.PRODUCT,
}
_NODE_TYPES = {
    "node": TestKind.NODE,
    "text": TestKind.TEXT,
    "comment": TestKind.COMMENT,
    "processing-instruction": TestKind.INSTRUCTION,
}

_T = TypeVar("_T")
# A parser of one construct: yields the next parser, receives its result, returns its own tree.
_Part: TypeAlias = Generator["_Part[Expr]", Expr, _T]

_ANY_STEP = (Axis.DESCENDANT_OR_SELF, Test(TestKind.NODE))


def parse_expression(text: str, namespaces: Mapping[str, str]) -> Expr:
    """Parse `text` to a syntax tree; SubscriptionError if it is invalid."""
    _check_type(text)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise SubscriptionError("too-long", f"an expression may have {MAX_TEXT // 1024} KB of text")
    for prefix, uri in namespaces.items():
        check_namespace(prefix, uri)
    return _Parser(text, namespaces).parse()


def _check_type(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"an expression is a str, not {type(text).__name__}")


class _Parser(TokenCursor):
    def __init__(self, text: str, namespaces: Mapping[str, str]) -> None:
        super().__init__(text)
        self._namespaces = {"xml": XML_NAMESPACE, **namespaces}
        self._nesting = 0
        self._deepest = 0
        self._open_predicates = 0
        self._steps = 0

    def parse(self) -> Expr:
        if self.peek.kind == "end":
            self.fail("an empty expression", expected="a path, e.g. /news//title")
        expression = self._run(self._expression(Precedence.OR.value))
        if self.peek.kind != "end":
            self.fail_at_token()
        # With fewer brackets, operators cannot make the tree too deep.
        if self._deepest * len(Precedence) > MAX_NESTING // 2:
            self._check_depth(expression)
        return expression

    @staticmethod
    def _run(part: _Part[Expr]) -> Expr:
        stack = [part]
        value: Any = None  # None starts a generator; after that, the expression it waits for
        while True:
            try:
                stack.append(stack[-1].send(value))
                value = None
            except StopIteration as finished:
                stack.pop()
                value = finished.value
                if not stack:
                    return value  # type: ignore[no-any-return]

    # expressions, lowest precedence first

    def _expression(self, lowest: int) -> _Part[Expr]:
        first = yield from self._unary()
        while True:
            precedence = _PRECEDENCE.get(self.peek.text) if self.peek.kind == "operator" else None
            if precedence is None or precedence.value < lowest:
                return first
            rest = []
            while self.peek.kind == "operator" and _PRECEDENCE.get(self.peek.text) is precedence:
                operator = self.take().text
                rest.append((operator, (yield from self._expression(precedence.value + 1))))
            first = OperatorChain(precedence, first, tuple(rest), first.at)

    def _unary(self) -> _Part[Expr]:
        at = self.peek.at
        minuses = 0
        while self.at("-"):
            self.take()
            minuses += 1
        operand = yield from self._union()
        if isinstance(operand, Number):
            minuses += operand.spelling.startswith("-")
            spelling = operand.spelling.removeprefix("-")
            return Number("-" + spelling if minuses % 2 else spelling, at)
        if minuses == 0:
            return operand
        return Negation(operand, at) if minuses % 2 else Negation(Negation(operand, at), at)

    def _union(self) -> _Part[Expr]:
        first = yield from self._path()
        if not self.at("|"):
            return first
        parts = [first]
        while self.at("|"):
            self.take()
            parts.append((yield from self._path()))
        for part in parts:
            self._need_nodes(part, "a union joins paths")
        return Union(tuple(parts), first.at)

    def _path(self) -> _Part[Expr]:
        token = self.peek
        if token.kind in ("number", "literal") or self.at("("):
            return (yield from self._filter())
        if token.kind == "symbol" and token.text == "$":
            self.fail(
                "variables have no value here",
                kind="variable",
                hint="write the value itself into the expression",
            )
        if token.kind == "function" and token.text not in _NODE_TYPES:
            return (yield from self._filter())
        if self.at("/"):
            self.take()
            steps = (yield from self._relative()) if self._starts_step() else ()
            return LocationPath(True, steps, token.at)
        if self.at("//"):
            return LocationPath(True, (yield from self._tail()), token.at)
        if self._starts_step():
            if not self._open_predicates:  # it gets an implicit // in front
                self._count(SyntaxStep(*_ANY_STEP, at=token.at))
            return LocationPath(False, (yield from self._relative()), token.at)
        return self.fail_at_token()

    def _filter(self) -> _Part[Expr]:
        token = self.take()
        primary: Expr
        if token.kind == "number":
            primary = Number(canonical_number(token.text), token.at)
        elif token.kind == "literal":
            primary = Literal(token.text[1:-1], token.at)
        elif token.kind == "function":
            primary = yield from self._call(token)
        else:
            primary = yield from self._in_brackets(token)
            self.close(token)
        predicates = yield from self._predicates()
        steps = yield from self._tail()
        if not predicates and not steps:
            return primary
        self._need_nodes(primary, "only a node-set has predicates or a path that goes on")
        return FilterExpression(primary, predicates, steps, token.at)

    def _call(self, name: Token) -> _Part[Call]:
        signature = FUNCTIONS.get(name.text)
        if signature is None:
            self._unknown_function(name)
        opening = self.take()
        arguments: list[Expr] = []
        if not self.at(")"):
            arguments.append((yield from self._in_brackets(opening)))
            while self.at(","):
                self.take()
                arguments.append((yield from self._in_brackets(opening)))
        self.close(opening)
        count = len(arguments)
        if count < signature.min_arguments or (
            signature.max_arguments is not None and count > signature.max_arguments
        ):
            if signature.min_arguments == signature.max_arguments:
                takes = str(signature.min_arguments) if signature.min_arguments else "no"
            elif signature.max_arguments is None:
                takes = f"at least {signature.min_arguments}"
            else:
                takes = f"{signature.min_arguments} to {signature.max_arguments}"
            self.fail(
                f"{name.text}() takes {takes} argument{'' if takes == '1' else 's'}, not {count}",
                kind="arguments",
                at=name.at,
            )
        if signature.nodes:
            for argument in arguments:
                self._need_nodes(argument, f"{name.text}() takes a path")
        return Call(name.text, tuple(arguments), name.at)

    # paths

    def _starts_step(self) -> bool:
        token = self.peek
        return (
            token.kind in ("name", "wildcard", "axis")
            or (token.kind == "function" and token.text in _NODE_TYPES)
            or self.at(".", "..", "@")
        )

    def _relative(self) -> _Part[tuple[SyntaxStep, ...]]:
        first = yield from self._step()
        return (first, *(yield from self._tail()))

    def _tail(self) -> _Part[tuple[SyntaxStep, ...]]:
        steps: list[SyntaxStep] = []
        while self.at("/", "//"):
            token = self.take()
            if token.text == "//":
                steps.append(self._count(SyntaxStep(*_ANY_STEP, at=token.at)))
            if not self._starts_step():
                self.fail(
                    f"a path does not end with {token.text}"
                    if self.peek.kind == "end"
                    else f"no step after {token.text}",
                    at=token.at,
                    expected="a name, *, @name, ., .. or an axis",
                )
            steps.append((yield from self._step()))
        return tuple(steps)

    def _step(self) -> _Part[SyntaxStep]:
        token = self.take()
        if token.kind == "symbol" and token.text in (".", ".."):
            axis = Axis.SELF if token.text == "." else Axis.PARENT
            if self.at("["):
                self.fail(
                    f"{token.text} takes no predicate",
                    hint=f"write {axis.value}::node()[...]",
                )
            return self._count(SyntaxStep(axis, Test(TestKind.NODE), at=token.at))
        axis = Axis.CHILD
        test_token = token
        if token.kind == "axis":
            axis = self._axis(token)
            self.take()
            test_token = self.take()
        elif token.kind == "symbol" and token.text == "@":
            axis = Axis.ATTRIBUTE
            test_token = self.take()
        test = self._test(test_token)
        return self._count(SyntaxStep(axis, test, (yield from self._predicates()), token.at))

    def _axis(self, token: Token) -> Axis:
        axis = _AXES.get(token.text)
        if axis is None:
            self.fail(
                f"no axis is called {token.text!r}",
                at=token.at,
                hint=did_you_mean(token.text, _AXES),
            )
        return axis

    def _test(self, token: Token) -> Test:
        if token.kind == "wildcard":
            return Test(TestKind.ANY)
        if token.kind == "function" and token.text in _NODE_TYPES:
            opening = self.take()
            target = ""
            if token.text == "processing-instruction" and self.peek.kind == "literal":
                target = self.take().text[1:-1] or NO_TARGET
            self.close(opening)
            return Test(_NODE_TYPES[token.text], target)
        if token.kind != "name":
            self.back()
            self.fail_at_token(expected="a name, * or a node type such as text()")
        prefix, colon, local = token.text.partition(":")
        if not colon:
            return Test(TestKind.NAME, prefix)
        uri = self._namespaces.get(prefix)
        if uri is None:
            self.fail(
                f"prefix {prefix!r} is not declared",
                kind="undeclared-prefix",
                at=token.at,
                hint=did_you_mean(prefix, self._namespaces)
                or f"give its namespace, e.g. {{{prefix!r}: 'http://...'}}"
                f" or --namespace {prefix}=uri",
            )
        if local == "*":
            return Test(TestKind.ANY_IN, uri)
        return Test(TestKind.NAME, f"{{{uri}}}{local}")

    def _predicates(self) -> _Part[tuple[Expr, ...]]:
        predicates = []
        while self.at("["):
            opening = self.take()
            self._open_predicates += 1
            predicates.append((yield from self._in_brackets(opening)))
            self._open_predicates -= 1
            self.close(opening)
        return tuple(predicates)

    # brackets and limits

    def _in_brackets(self, opening: Token) -> _Part[Expr]:
        self._nesting += 1
        self._deepest = max(self._deepest, self._nesting)
        if self._nesting > MAX_NESTING:
            self._too_deep(opening.at)
        expression = yield self._expression(Precedence.OR.value)
        self._nesting -= 1
        return expression

    def _check_depth(self, expression: Expr) -> None:
        """Refuse a tree that operators make deeper than the limit."""
        pending = [(expression, 1)]
        while pending:
            node, depth = pending.pop()
            if depth > MAX_NESTING + 1:
                self._too_deep(node.at)
            pending += [(child, depth + 1) for child in children(node)]

    def _too_deep(self, at: int) -> NoReturn:
        message = f"brackets and operators may be nested {MAX_NESTING} deep"
        self.fail(message, kind="too-deep", at=at)

    def _count(self, step: SyntaxStep) -> SyntaxStep:
        self._steps += 1
        if self._steps > MAX_STEPS:
            self.fail(
                f"an expression may have {MAX_STEPS:,} steps", kind="too-many-steps", at=step.at
            )
        return step

    # errors

    def _need_nodes(self, expression: Expr, rule: str) -> None:
        actual = type_of(expression)
        if actual is not XPathType.NODES:
            self.fail(f"{rule}, not a {actual.value}", kind="type", at=expression.at)

    def _unknown_function(self, name: Token) -> NoReturn:
        prefix, colon, _ = name.text.partition(":")
        hint = UNSUPPORTED_FUNCTIONS.get(name.text) or did_you_mean(name.text, FUNCTIONS)
        if colon:
            hint = f"there are no extension functions, so nothing in {prefix!r} can be called"
        self.fail(
            f"no function is called {name.text}()", kind="unknown-function", at=name.at, hint=hint
        )
