"""Subscription ids and the dense numbers that stand for them inside a matcher.

Numbers are assigned in the order of `add`. A number is not reused while a result may refer to it:
results hold a reference to the list `ids`, so they name their subscriptions even after these have
been removed. Only `compact`, which renumbers the live ids, starts a new list.

>>> table = IdTable()
>>> table.add("a"), table.add(1), table.add("1")
(0, 1, 2)
>>> table.remove(1), table.compact(), table.ids
(1, [0, 2], ['a', '1'])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pathcast.errors import SubscriptionError
from pathcast.matching.matches import Id, format_id

__all__ = ["IdTable"]

MIN_DEAD_IDS = 4096  # do not compact below this
_ID_TYPES = (str, int)  # a union type would be made anew for each check


class IdTable:
    """A bijection between ids and numbers. 1 and "1" are two ids; a bool is not an id."""

    __slots__ = ("_by_int", "_by_str", "ids")

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self._by_str: dict[str, int] = {}
        self._by_int: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._by_str) + len(self._by_int)

    def __contains__(self, id: object) -> bool:
        return self.number(id) is not None

    def number(self, id: object) -> int | None:
        """Return the number of an id, None if the table does not hold it."""
        if isinstance(id, str):
            return self._by_str.get(id)
        if isinstance(id, int) and not isinstance(id, bool):
            return self._by_int.get(id)
        return None

    def check(self, id: object) -> None:
        """Raise SubscriptionError if the id has a wrong type or the table holds it already."""
        if not isinstance(id, _ID_TYPES) or isinstance(id, bool):
            raise SubscriptionError("id", f"an id is a str or an int, not {type(id).__name__}")
        if (id in self._by_str) if isinstance(id, str) else (id in self._by_int):
            raise SubscriptionError(
                "duplicate-id",
                f"there is a subscription {format_id(id)} already",
                hint="remove it first",
            )

    def add(self, id: Id) -> int:
        """Assign the next number to an id that has passed `check`, and return it."""
        number = len(self.ids)
        self.ids.append(id)
        if isinstance(id, str):
            self._by_str[id] = number
        else:
            self._by_int[id] = number
        return number

    def remove(self, id: object) -> int:
        """Remove an id and return its number; raise KeyError if the table does not hold it."""
        number = self.number(id)
        if number is None:
            raise KeyError(id)
        if isinstance(id, str):
            del self._by_str[id]
        else:
            del self._by_int[id]  # type: ignore[arg-type]
        return number

    def renew(self, id: Id) -> None:
        """Assign the next number to an id that has one already."""
        self.remove(id)
        self.add(id)

    def fill(self, ids: Iterable[Id]) -> None:
        """Add distinct, valid ids to an empty table."""
        for id in ids:
            self.add(id)

    def numbers(self) -> list[int]:
        """Return the numbers of all live ids, in ascending order."""
        return sorted([*self._by_str.values(), *self._by_int.values()])

    @property
    def mostly_dead(self) -> bool:
        """Whether removed ids hold more than half of the numbers, so that `compact` pays."""
        return len(self.ids) - len(self) > max(MIN_DEAD_IDS, len(self))

    def compact(self) -> list[int]:
        """Renumber the live ids from 0 without gaps; return their old numbers in order."""
        old_numbers = self.numbers()
        ids = [self.ids[number] for number in old_numbers]
        self.ids = []
        self._by_str, self._by_int = {}, {}
        for id in ids:
            self.add(id)
        return old_numbers

    def __iter__(self) -> Iterator[Id]:
        return (self.ids[number] for number in self.numbers())
