"""The grammar of random subscriptions: XPath 1.0, typed so that no expression is an error.

Every method returns the tokens of one construct. `below` is the remaining nesting depth of
predicates. `top` means that the construct is outside all predicates: there a relative path starts
anywhere, and the context is the document node.
"""

from __future__ import annotations

from tests.pools import ATTRIBUTES, LABELS
from tests.values import Tokens, ValueMaker

__all__ = ["ExpressionMaker", "Tokens"]

_AXES = ("child", "child", "child", "descendant", "descendant-or-self", "self", "attribute")
_OTHER_AXES = (
    *("parent", "ancestor", "ancestor-or-self", "following-sibling", "preceding-sibling"),
    *("following", "preceding", "following-sibling", "preceding-sibling", "parent", "namespace"),
)
_SIDEWAYS_AXES = tuple(axis for axis in _OTHER_AXES if axis != "namespace")


class ExpressionMaker(ValueMaker):
    """Makes random expressions, one token list at a time."""

    # - the top -

    def top(self) -> Tokens:
        below = self.knobs.depth
        if self.outside():
            return self.pick(
                [
                    (3, lambda: self.number_test(below, top=True)),
                    (2, lambda: self.filter_expression(below)),
                    (2, lambda: self.string_test(below, top=True)),
                    (
                        2,
                        lambda: [
                            *self.path(below, top=True),
                            *self.path_comparison(below, top=True),
                        ],
                    ),
                    (1, lambda: self.number(below, top=True)),
                    (1, lambda: self.string(below, top=True)),
                    (1, lambda: self.boolean(below, top=True)),
                    (2, lambda: self.mixed_types(below, top=True)),
                ]
            )
        return self.maybe_parenthesize(
            self.pick(
                [
                    (14, lambda: self.path(below, top=True)),
                    (3, lambda: self.union(below, top=True)),
                    (1, lambda: self.value_test(below, top=True)),
                    (1, lambda: self.count_test(below, top=True)),
                    (1, lambda: self.text_test(below, top=True)),
                    (1, lambda: self.logic(below, top=True)),
                ]
            )
        )

    def maybe_parenthesize(self, tokens: Tokens) -> Tokens:
        return ["(", *tokens, ")"] if self.odd() else tokens

    # - paths -

    def path(self, below: int, *, top: bool = False, steps: int = 0) -> Tokens:
        """Return a location path, in predicates seldom an absolute one."""
        rng = self.rng
        tokens: Tokens = []
        if top:
            if not self.chance(self.knobs.relative):
                tokens.append(rng.choice(("/", "//", "//")))
        elif self.chance(0.06):
            tokens.append(rng.choice(("/", "//")))
        elif self.chance(0.12):
            tokens += (".", rng.choice(("//", "//", "/")))
        elif self.chance(0.05):
            return ["."]
        elif self.outside() and self.chance(0.3):
            tokens += ("..", "/")
        count = steps or rng.choice((1, 1, 1, 2, 2, 3) if not top else (1, 2, 2, 3, 3, 4))
        for index in range(count):
            if index:
                tokens += self.separator()
            tokens += self.step(
                below, last=index == count - 1, first=index == 0 and tokens == ["/"]
            )
        return tokens

    def separator(self) -> Tokens:
        if self.chance(0.25):
            if self.odd():
                return ["/", "descendant-or-self", "::", "node", "(", ")", "/"]
            return ["//", ".", "/"] if self.odd() else ["//"]
        if self.odd():
            return self.rng.choice((["/", ".", "/"], ["/", "self", "::", "node", "(", ")", "/"]))
        return ["/"]

    def step(self, below: int, *, last: bool, first: bool = False) -> Tokens:
        rng = self.rng
        if self.outside() and not first:
            if self.chance(0.25):
                return [".."]
            axis = rng.choice(_OTHER_AXES)
            tokens = [axis, "::", *(["p"] if axis == "namespace" else self.test())]
        elif not first and self.sideways():
            if self.chance(0.1):
                return [".."]
            tokens = [rng.choice(_SIDEWAYS_AXES), "::", *self.test()]
        elif last and self.chance(0.12):
            tokens = ["attribute", "::"] if self.odd() else ["@"]
            tokens += self.attribute()
        elif last and self.chance(0.08):
            tokens = ["text", "(", ")"]
        elif self.chance(0.03):
            return ["."]
        elif self.chance(0.15):
            axis = rng.choice(_AXES)
            tokens = [axis, "::", *(self.attribute() if axis == "attribute" else self.test())]
        elif first and self.chance(0.8):
            tokens = [rng.choice(("a", "a", "*", "b", "p:a"))]
        else:
            tokens = self.test()
        return tokens + self.predicates(below)

    def test(self) -> Tokens:
        rng = self.rng
        roll = rng.random()
        if roll < 0.66:
            return [rng.choice(LABELS)]
        if roll < 0.84:
            return ["*"]
        if roll < 0.9:
            return [rng.choice(("p:", "q:", "other:")) + rng.choice(LABELS)]
        if roll < 0.93:
            return [rng.choice(("p:*", "q:*"))]
        if roll < 0.97:
            return ["node", "(", ")"]
        if roll < 0.985:
            return [rng.choice(("comment", "text")), "(", ")"]
        target = rng.choice(([], ["'i'"], ['"j"']))
        return ["processing-instruction", "(", *target, ")"]

    def attribute(self) -> Tokens:
        if self.chance(0.9):
            return [self.rng.choice((*ATTRIBUTES, "x", "y", "other:x", "*", "p:*"))]
        return self.test()

    def union(self, below: int, *, top: bool = False) -> Tokens:
        tokens = self.path(below, top=top)
        for _ in range(self.rng.choice((1, 1, 2))):
            if self.odd():
                tokens = ["(", *tokens, ")"]
            tokens += ["|", *self.path(below, top=top)]
        return tokens

    def filter_expression(self, below: int, *, top: bool = True) -> Tokens:
        """Return a filter expression: `(//a)[2]/b`, `id('i')/a`, `(a | b)[last()]`."""
        inner = self.union(below, top=top) if self.chance(0.3) else self.path(below, top=top)
        tokens = ["(", *inner, ")"]
        if self.chance(0.15):
            ids = " ".join(f"i{self.rng.randint(0, 9)}" for _ in range(3))
            tokens = ["id", "(", *(inner if self.chance(0.3) else [f"'{ids}'"]), ")"]
        if self.chance(0.7):
            tokens += ["[", *self.position(), "]"]
        tokens += self.predicates(below)
        if self.chance(0.5):
            tokens += [*self.separator(), *self.step(below, last=True)]
        return tokens

    # - predicates -

    def predicates(self, below: int) -> Tokens:
        tokens: Tokens = []
        if below <= 0:
            return tokens
        while self.chance(0.27):
            condition = self.condition(below - 1)
            tokens += ["[", *condition, "]"]
            if self.odd():
                tokens += ["[", *condition, "]"]
        return tokens

    def condition(self, below: int) -> Tokens:
        if self.outside():
            return self.pick(
                [
                    (3, lambda: self.number_test(below)),
                    (3, lambda: self.string_test(below)),
                    (2, lambda: [*self.path(below), *self.path_comparison(below)]),
                    (1, lambda: self.boolean(below)),
                    (1, lambda: self.number(below)),
                    (1, lambda: self.filter_expression(below, top=False)),
                    (1, lambda: self.string(below)),
                    (3, lambda: self.mixed_types(below)),
                ]
            )
        return self.maybe_parenthesize(
            self.pick(
                [
                    (6, lambda: self.path(below)),
                    (6, lambda: self.value_test(below)),
                    (5, self.position),
                    (3, lambda: self.logic(below)),
                    (2, lambda: self.text_test(below)),
                    (2, lambda: self.count_test(below)),
                    (1, lambda: self.union(below)),
                    (1, lambda: self.mixed_types(0)),
                ]
            )
        )

    def position(self) -> Tokens:
        number = str(self.rng.choice((1, 1, 1, 2, 2, 3, 0)))
        if self.chance(0.05):
            number = self.rng.choice(("1.0", "1.5", ".5", "2.", "100000000000000000000"))
        roll = self.rng.random()
        if roll < 0.45:
            return [number]
        if roll < 0.6:
            return ["last", "(", ")"]
        call = ["position", "(", ")"]
        operand = [number]
        if roll < 0.7:
            operand = ["last", "(", ")"]
        elif roll < 0.75:
            call = ["last", "(", ")"]
        elif roll < 0.78:
            operand = ["-", number]
        return self.comparison(call, operand)

    def logic(self, below: int, *, top: bool = False) -> Tokens:
        def part() -> Tokens:
            if not top:
                return self.condition(below - 1) if below > 0 else self.path(0)
            if self.chance(0.3):
                return self.value_test(below, top=True)
            return self.path(below, top=True)

        roll = self.rng.random()
        if roll < 0.3:
            return ["not", "(", *part(), ")"]
        left = part()
        right = left if self.odd() else part()
        if self.chance(0.2):
            right = ["not", "(", *right, ")"]
        if self.chance(0.2):
            right = ["(", *right, self.rng.choice(("and", "or")), *part(), ")"]
        return [*left, "and" if roll < 0.6 else "or", *right]

    def value_test(self, below: int, *, top: bool = False) -> Tokens:
        roll = self.rng.random()
        if roll < 0.25:
            path = ["@", *self.attribute()]
        elif roll < 0.45 and not top:
            path = ["."]
        elif roll < 0.55:
            path = ["text", "(", ")"]
        elif roll < 0.6:
            path = ["(", *self.union(0, top=top), ")"]
        else:
            path = self.path(below, top=top, steps=self.rng.choice((0, 1)))
        path = self.maybe_transform(path)
        return self.comparison(path, self.constant() if self.chance(0.6) else self.literal())

    def count_test(self, below: int, *, top: bool = False) -> Tokens:
        path = self.union(0, top=top) if self.chance(0.1) else self.path(below, top=top, steps=1)
        return self.comparison(["count", "(", *path, ")"], [self.rng.choice("0112234")])

    def text_test(self, below: int, *, top: bool = False) -> Tokens:
        if self.chance(0.25):
            path = ["@", *self.attribute()]
        elif self.chance(0.4) and not top:
            path = ["."]
        else:
            path = self.path(below, top=top, steps=1)
        path = self.maybe_transform(path)
        roll = self.rng.random()
        if roll < 0.6:
            name = "contains" if roll < 0.35 else "starts-with"
            return [name, "(", *path, ",", *self.literal(), ")"]
        if roll < 0.7 and not top:
            path = []
        length = ["string-length", "(", *path, ")"]
        return self.comparison(length, [self.rng.choice("0112345")])
