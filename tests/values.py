"""Random values of the four XPath types and comparisons between them.

Most constructs outside tree patterns are made here. Types are mixed on purpose: a count compared
with a string, a condition with a number, a constant with a constant. XPath converts them all, and
an engine must not mistake them for the comparisons that it indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from tests.pools import LANGUAGES, NUMBERS, Knobs, chance, value

__all__ = ["COMPARISONS", "Tokens", "ValueMaker"]

COMPARISONS = ("=", "=", "=", "!=", "<", "<=", ">", ">=")

Tokens = list[str]
T = TypeVar("T")


class ValueMaker:
    """The part of the grammar that treats paths as given; subclasses define `path`."""

    def __init__(self, rng: Random, knobs: Knobs) -> None:
        self.rng = rng
        self.knobs = knobs

    def chance(self, probability: float) -> bool:
        return chance(self.rng, probability)

    def outside(self) -> bool:
        return self.chance(self.knobs.residual)

    def sideways(self) -> bool:
        # Without the knob no draw: the sequences of other seeded tests stay as they are.
        return bool(self.knobs.sideways) and self.chance(self.knobs.sideways)

    def odd(self) -> bool:
        return self.chance(self.knobs.odd)

    def pick(self, choices: Sequence[tuple[int, Callable[[], T]]]) -> T:
        total = sum(weight for weight, _ in choices)
        roll = self.rng.randrange(total)
        for weight, make in choices:
            roll -= weight
            if roll < 0:
                return make()
        raise AssertionError("weights cover every roll")

    def path(self, below: int, *, top: bool = False, steps: int = 0) -> Tokens:
        raise NotImplementedError

    def comparison(self, left: Tokens, right: Tokens) -> Tokens:
        if self.chance(0.2):
            left, right = right, left
        return [*left, self.rng.choice(COMPARISONS), *right]

    def literal(self) -> Tokens:
        text = value(self.rng)
        if "'" in text:
            return [f'"{text}"']
        return [f"'{text}'" if '"' in text or self.chance(0.7) else f'"{text}"']

    def constant(self) -> Tokens:
        text = self.rng.choice((*NUMBERS, "5.0", "5.", ".5", "100", "12345678901234567890", "0.1"))
        digits = text.removeprefix("-")
        signed = [digits] if digits == text else ["-", digits]
        if self.chance(0.04):
            return self.rng.choice(
                (
                    ["-", "(", "-", digits, ")"],
                    ["-", "-", digits],
                    ["-", "(", digits, ")"],
                    ["(", *signed, ")"],
                )
            )
        return signed

    def mixed_types(self, below: int, *, top: bool = False) -> Tokens:
        """Return a comparison of two values of any types, or one value converted to a boolean."""
        left = self.any_value(below, top=top)
        if self.chance(0.15):
            return ["boolean", "(", *left, ")"]
        if self.chance(0.15):
            return ["not", "(", *left, ")"]
        return self.comparison(left, self.any_value(below, top=top))

    def any_value(self, below: int, *, top: bool = False) -> Tokens:
        def path() -> Tokens:
            return ["."] if self.chance(0.3) and not top else self.path(below - 1, top=top, steps=1)

        def pair() -> Tokens:
            sides = [self.pick([(3, path), (2, self.literal), (1, self.constant)]) for _ in "12"]
            return ["(", *sides[0], ",", *sides[1], ")"]

        calls = ("count", "string", "number", "string-length", "boolean", "not", "normalize-space")
        return self.pick(
            [
                (3, self.constant),
                (3, self.literal),
                (3, path),
                (5, lambda: [self.rng.choice(calls), "(", *path(), ")"]),
                (2, lambda: [self.rng.choice(("contains", "starts-with")), *pair()]),
                (2, lambda: [self.rng.choice(("position", "last", "true", "false")), "(", ")"]),
                (1, lambda: ["string-length", "(", *self.literal(), ")"]),
                (1, lambda: ["(", *self.comparison(path(), self.constant()), ")"]),
            ]
        )

    def path_comparison(self, below: int, *, top: bool = False) -> Tokens:
        return [self.rng.choice(COMPARISONS), *self.path(below, top=top)]

    def number_test(self, below: int, *, top: bool = False) -> Tokens:
        other = self.number(below, top=top) if self.chance(0.3) else self.constant()
        return self.comparison(self.number(below, top=top), other)

    def string_test(self, below: int, *, top: bool = False) -> Tokens:
        if self.chance(0.3):
            name = self.rng.choice(("contains", "starts-with"))
            return [name, "(", *self.string(below), ",", *self.string(below, top=top), ")"]
        other = self.literal() if self.chance(0.8) else self.string(below, top=top)
        return self.comparison(self.string(below, top=top), other)

    def number(self, below: int, *, top: bool = False) -> Tokens:
        def path() -> Tokens:
            return self.path(below - 1, top=top, steps=self.rng.choice((1, 2)))

        def arithmetic() -> Tokens:
            sides = [self.number(below - 1, top=top), self.constant()]
            self.rng.shuffle(sides)
            tokens = [*sides[0], self.rng.choice(("+", "-", "*", "div", "mod")), *sides[1]]
            return ["(", *tokens, ")"] if self.chance(0.5) else tokens

        def call(*names: str) -> Callable[[], Tokens]:
            return lambda: [self.rng.choice(names), "(", *path(), ")"]

        leaves: list[tuple[int, Callable[[], Tokens]]] = [
            (2, self.constant),
            (3, call("count")),
            (2, call("sum", "number")),
            (1, call("string-length")),
            (1, lambda: ["position", "(", ")"]),
            (1, lambda: ["last", "(", ")"]),
            (1, lambda: ["string-length", "(", *self.string(0, top=top), ")"]),
        ]
        if not top:
            leaves.append((1, lambda: ["number", "(", ")"]))
        if below <= 0:
            return self.pick(leaves)
        rounding = ("floor", "ceiling", "round", "number")
        return self.pick(
            [
                *leaves,
                (3, arithmetic),
                (1, lambda: ["-", *self.number(below - 1, top=top)]),
                (1, lambda: [self.rng.choice(rounding), "(", *self.number(below - 1), ")"]),
            ]
        )

    def string(self, below: int, *, top: bool = False) -> Tokens:
        def path() -> Tokens:
            return self.path(below - 1, top=top, steps=1)

        def part() -> Tokens:
            return self.string(below - 1, top=top) if below > 0 else self.literal()

        names = ("string", "normalize-space", "name", "local-name", "namespace-uri")
        digit = self.rng.choice(("0", "1", "2", "1.5", "-", "3"))
        start = ["-", "1"] if digit == "-" else [digit]
        return self.pick(
            [
                (2, self.literal),
                (3, lambda: [self.rng.choice(names), "(", *path(), ")"]),
                (1, lambda: [self.rng.choice(names), "(", ")"]),
                (1, lambda: ["concat", "(", *part(), ",", *part(), ")"]),
                (1, lambda: ["substring", "(", *part(), ",", *start, ")"]),
                (1, lambda: ["substring", "(", *part(), ",", *start, ",", "2", ")"]),
                (1, lambda: ["substring-before", "(", *part(), ",", *self.literal(), ")"]),
                (1, lambda: ["substring-after", "(", *part(), ",", *self.literal(), ")"]),
                (1, lambda: ["translate", "(", *part(), ",", "'abé'", ",", "'bA'", ")"]),
                (1, lambda: ["normalize-space", "(", *part(), ")"]),
            ]
        )

    def maybe_transform(self, tokens: Tokens) -> Tokens:
        """Return the value, or a string function with constant arguments around it."""
        while self.sideways():
            if self.chance(0.5):
                tokens = ["normalize-space", "(", *tokens, ")"]
            else:
                old = self.rng.choice(("'abc'", "'5'", "' '", "'aba5'", '"é5b"'))
                new = self.rng.choice(("'ABC'", "''", "'x'", "'éX'", "' '"))
                tokens = ["translate", "(", *tokens, ",", old, ",", new, ")"]
        return tokens

    def boolean(self, below: int, *, top: bool = False) -> Tokens:
        def inner() -> Tokens:
            return self.path(below - 1, top=top, steps=1)

        return self.pick(
            [
                (1, lambda: ["true", "(", ")"]),
                (1, lambda: ["false", "(", ")"]),
                (2, lambda: ["boolean", "(", *inner(), ")"]),
                (2, lambda: ["lang", "(", f"'{self.rng.choice(LANGUAGES)}'", ")"]),
                (1, lambda: [*inner(), self.rng.choice(COMPARISONS), "true", "(", ")"]),
                (1, lambda: ["(", *inner(), "and", *inner(), ")", "=", "false", "(", ")"]),
                (1, lambda: ["not", "(", *self.number_test(below - 1, top=top), ")"]),
            ]
        )
