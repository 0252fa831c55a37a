"""The keys in use, and which of them a document activates.

They are entered twice: with all labels in an automaton that runs over documents, and as far as tags tell of them in one
that runs over label paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pathcast.documents import Document
from pathcast.matching.nfa import DfaMemo, Nfa
from pathcast.matching.sharding.key import Key, told
from pathcast.matching.sharding.tags import Tags

__all__ = ["Directory"]


class Directory:
    """The keys in use, each with the number of queries at it, and which of them a document activates.

    `limit` bounds what it remembers of earlier documents, as in `DfaMemo`. Not for several threads at once.
    """

    def __init__(self, counts: Mapping[Key, int] | None = None, limit: int = 2_000_000) -> None:
        self._limit = limit
        self._counts: Counter[Key] = Counter()
        self._automaton: Nfa[Key] = Nfa()
        self._memo: DfaMemo[Key] = DfaMemo(limit)
        self._tags = Tags(limit)
        for key, count in ({} if counts is None else counts).items():
            if count < 1:
                raise ValueError(f"{count} queries at {key}")
            self._enter(key, count)

    def __reduce__(self) -> tuple[type[Directory], tuple[dict[Key, int], int]]:
        return (Directory, (self.counts(), self._limit))  # workers build their own automata

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._counts)

    def __contains__(self, key: object) -> bool:
        return key in self._counts

    def counts(self) -> dict[Key, int]:
        """How many queries are at each key."""
        return dict(self._counts)

    def add(self, keys: Iterable[Key]) -> None:
        """Enter a query by its keys."""
        for key in keys:
            self._enter(key, 1)

    def remove(self, keys: Iterable[Key]) -> None:
        """Undo `add`; raises KeyError, and changes nothing, if there is no query at one of the keys."""
        leaving = Counter(keys)
        for key, count in leaving.items():
            if self._counts[key] < count:
                raise KeyError(key)
        for key, count in leaving.items():
            self._counts[key] -= count
            if not self._counts[key]:
                del self._counts[key]
                self._automaton.remove(key.labels, key)
                self._tags.automaton.remove(told(key), key)

    def _enter(self, key: Key, count: int) -> None:
        if (
            key not in self._counts
        ):  # only a new key changes the automaton, and ends what was remembered
            self._automaton.add(key.labels, key)
            self._tags.automaton.add(told(key), key)
        self._counts[key] += count

    def activated(self, document: Document) -> frozenset[Key]:
        """The keys in use that are the path of some node of the document."""
        states = self._memo.run(self._automaton, document)
        return frozenset(key for state in states for key in state.outputs)

    def possible(self, paths: Iterable[Iterable[str]]) -> frozenset[Key]:
        """The keys in use that a document with these label paths may activate.

        Paths are those of `stream.label_paths`, names as `{uri}local`; what begins a path need not be given
        again. Attributes, texts, comments and processing instructions are taken to be everywhere.
        """
        return frozenset(key for state in self._tags.run(paths) for key in state.outputs)
