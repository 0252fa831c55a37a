"""Who is who: ids and the small numbers that stand for them inside.

Numbers are given in the order of coming, and a number is never given again while somebody may still ask for its id: answers
hold the list `ids` as it was, so an answer can name its subscriptions long after they are gone. Only
`compact`, which numbers those that are left anew, starts a new list.

>>> register = Register()
>>> register.add("a"), register.add(1), register.add("1")
(0, 1, 2)
>>> register.remove(1), register.compact(), register.ids
(1, [0, 2], ['a', '1'])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pathcast.errors import SubscriptionError
from pathcast.matching.matches import Id, shown_id

__all__ = ["Register"]

_FEW = 4096  # so many numbers may be wasted before anybody minds


class Register:
    """Ids by number and numbers by id. 1 and "1" are two ids, and True is none."""

    __slots__ = ("_texts", "_wholes", "ids")

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self._texts: dict[str, int] = {}
        self._wholes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._texts) + len(self._wholes)

    def __contains__(self, id: object) -> bool:
        return self.number(id) is not None

    def number(self, id: object) -> int | None:
        """The number of an id, None if it has none."""
        if isinstance(id, str):
            return self._texts.get(id)
        if isinstance(id, int) and not isinstance(id, bool):
            return self._wholes.get(id)
        return None

    def check(self, id: object) -> None:
        """Raise SubscriptionError unless the id is new, and is one."""
        if not isinstance(id, str | int) or isinstance(id, bool):
            raise SubscriptionError("id", f"an id is a str or an int, not {type(id).__name__}")
        if (id in self._texts) if isinstance(id, str) else (id in self._wholes):
            raise SubscriptionError(
                "duplicate-id",
                f"there is a subscription {shown_id(id)} already",
                hint="remove it first",
            )

    def add(self, id: Id) -> int:
        """The next number, for an id that was checked."""
        number = len(self.ids)
        self.ids.append(id)
        if isinstance(id, str):
            self._texts[id] = number
        else:
            self._wholes[id] = number
        return number

    def remove(self, id: object) -> int:
        """Take an id away; gives its number, raises KeyError if there is none."""
        number = self.number(id)
        if number is None:
            raise KeyError(id)
        if isinstance(id, str):
            del self._texts[id]
        else:
            del self._wholes[id]  # type: ignore[arg-type]
        return number

    def fill(self, ids: Iterable[Id]) -> None:
        """Take ids that are known to be different, where there are none yet."""
        for id in ids:
            self.add(id)

    def numbers(self) -> list[int]:
        """All numbers in use, in order."""
        return sorted([*self._texts.values(), *self._wholes.values()])

    @property
    def wasteful(self) -> bool:
        """Whether most numbers are of ids that are gone."""
        return len(self.ids) - len(self) > max(_FEW, len(self))

    def compact(self) -> list[int]:
        """Number those that are left anew; gives their old numbers in order."""
        kept = self.numbers()
        ids = [self.ids[number] for number in kept]
        self.ids = []
        self._texts, self._wholes = {}, {}
        for id in ids:
            self.add(id)
        return kept

    def __iter__(self) -> Iterator[Id]:
        return (self.ids[number] for number in self.numbers())
