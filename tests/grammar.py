"""The grammar that random subscriptions are drawn from: XPath 1.0, typed so that none is an error.

Every method returns the tokens of one construct. `below` is how deep predicates may still nest; `top`
says that the construct stands outside all predicates, where a relative path starts anywhere and where
the context is the document node.
"""

from __future__ import annotations

from tests.pools import ATTRIBUTES, LABELS
from tests.values import Tokens, Values

__all__ = ["Maker", "Tokens"]

_AXES = ("child", "child", "child", "descendant", "descendant-or-self", "self", "attribute")
_OTHER_AXES = (
    *("parent", "ancestor", "ancestor-or-self", "following-sibling", "preceding-sibling"),
    *("following", "preceding", "following-sibling", "preceding-sibling", "parent", "namespace"),
)


class Maker(Values):
    """One expression in the making."""

    # - the top -

    def top(self) -> Tokens:
        below = self.knobs.depth
        if self.outside():
            return self.pick(
                [
                    (3, lambda: self.number_test(below, top=True)),
                    (2, lambda: self.filtered(below)),
                    (2, lambda: self.string_test(below, top=True)),
                    (2, lambda: [*self.path(below, top=True), *self.two_paths(below, top=True)]),
                    (1, lambda: self.number(below, top=True)),
                    (1, lambda: self.string(below, top=True)),
                    (1, lambda: self.boolean(below, top=True)),
                    (2, lambda: self.mixed(below, top=True)),
                ]
            )
        return self.wrapped(
            self.pick(
                [
                    (14, lambda: self.path(below, top=True)),
                    (3, lambda: self.union(below, top=True)),
                    (1, lambda: self.compared(below, top=True)),
                    (1, lambda: self.counted(below, top=True)),
                    (1, lambda: self.texted(below, top=True)),
                    (1, lambda: self.logic(below, top=True)),
                ]
            )
        )

    def wrapped(self, tokens: Tokens) -> Tokens:
        return ["(", *tokens, ")"] if self.odd() else tokens

    # - paths -

    def path(self, below: int, *, top: bool = False, steps: int = 0) -> Tokens:
        """A location path; at the top it may be absolute or not, in a predicate it seldom is."""
        rng = self.rng
        found: Tokens = []
        if top:
            if not self.chance(self.knobs.relative):
                found.append(rng.choice(("/", "//", "//")))
        elif self.chance(0.06):
            found.append(rng.choice(("/", "//")))
        elif self.chance(0.12):
            found += (".", rng.choice(("//", "//", "/")))
        elif self.chance(0.05):
            return ["."]
        elif self.outside() and self.chance(0.3):
            found += ("..", "/")
        count = steps or rng.choice((1, 1, 1, 2, 2, 3) if not top else (1, 2, 2, 3, 3, 4))
        for index in range(count):
            if index:
                found += self.separator()
            found += self.step(below, last=index == count - 1, first=index == 0 and found == ["/"])
        return found

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
            found = [axis, "::", *(["p"] if axis == "namespace" else self.test())]
        elif last and self.chance(0.12):
            found = ["attribute", "::"] if self.odd() else ["@"]
            found += self.attribute()
        elif last and self.chance(0.08):
            found = ["text", "(", ")"]
        elif self.chance(0.03):
            return ["."]
        elif self.chance(0.15):
            axis = rng.choice(_AXES)
            found = [axis, "::", *(self.attribute() if axis == "attribute" else self.test())]
        elif first and self.chance(0.8):
            found = [rng.choice(("a", "a", "*", "b", "p:a"))]
        else:
            found = self.test()
        return found + self.predicates(below)

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
        found = self.path(below, top=top)
        for _ in range(self.rng.choice((1, 1, 2))):
            if self.odd():
                found = ["(", *found, ")"]
            found += ["|", *self.path(below, top=top)]
        return found

    def filtered(self, below: int, *, top: bool = True) -> Tokens:
        """A filter expression: `(//a)[2]/b`, `id('i')/a`, `(a | b)[last()]`."""
        inner = self.union(below, top=top) if self.chance(0.3) else self.path(below, top=top)
        found = ["(", *inner, ")"]
        if self.chance(0.15):
            some = " ".join(f"i{self.rng.randint(0, 9)}" for _ in range(3))
            found = ["id", "(", *(inner if self.chance(0.3) else [f"'{some}'"]), ")"]
        if self.chance(0.7):
            found += ["[", *self.position(), "]"]
        found += self.predicates(below)
        if self.chance(0.5):
            found += [*self.separator(), *self.step(below, last=True)]
        return found

    # - predicates -

    def predicates(self, below: int) -> Tokens:
        found: Tokens = []
        if below <= 0:
            return found
        while self.chance(0.27):
            condition = self.condition(below - 1)
            found += ["[", *condition, "]"]
            if self.odd():
                found += ["[", *condition, "]"]
        return found

    def condition(self, below: int) -> Tokens:
        if self.outside():
            return self.pick(
                [
                    (3, lambda: self.number_test(below)),
                    (3, lambda: self.string_test(below)),
                    (2, lambda: [*self.path(below), *self.two_paths(below)]),
                    (1, lambda: self.boolean(below)),
                    (1, lambda: self.number(below)),
                    (1, lambda: self.filtered(below, top=False)),
                    (1, lambda: self.string(below)),
                    (3, lambda: self.mixed(below)),
                ]
            )
        return self.wrapped(
            self.pick(
                [
                    (6, lambda: self.path(below)),
                    (6, lambda: self.compared(below)),
                    (5, self.position),
                    (3, lambda: self.logic(below)),
                    (2, lambda: self.texted(below)),
                    (2, lambda: self.counted(below)),
                    (1, lambda: self.union(below)),
                    (1, lambda: self.mixed(0)),
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
        against = [number]
        if roll < 0.7:
            against = ["last", "(", ")"]
        elif roll < 0.75:
            call = ["last", "(", ")"]
        elif roll < 0.78:
            against = ["-", number]
        return self.either_way(call, against)

    def logic(self, below: int, *, top: bool = False) -> Tokens:
        def part() -> Tokens:
            if not top:
                return self.condition(below - 1) if below > 0 else self.path(0)
            if self.chance(0.3):
                return self.compared(below, top=True)
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

    def compared(self, below: int, *, top: bool = False) -> Tokens:
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
        return self.either_way(path, self.constant() if self.chance(0.6) else self.literal())

    def counted(self, below: int, *, top: bool = False) -> Tokens:
        path = self.union(0, top=top) if self.chance(0.1) else self.path(below, top=top, steps=1)
        return self.either_way(["count", "(", *path, ")"], [self.rng.choice("0112234")])

    def texted(self, below: int, *, top: bool = False) -> Tokens:
        if self.chance(0.25):
            path = ["@", *self.attribute()]
        elif self.chance(0.4) and not top:
            path = ["."]
        else:
            path = self.path(below, top=top, steps=1)
        roll = self.rng.random()
        if roll < 0.6:
            name = "contains" if roll < 0.35 else "starts-with"
            return [name, "(", *path, ",", *self.literal(), ")"]
        if roll < 0.7 and not top:
            path = []
        length = ["string-length", "(", *path, ")"]
        return self.either_way(length, [self.rng.choice("0112345")])
