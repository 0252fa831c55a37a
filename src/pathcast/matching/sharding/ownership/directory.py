"""The directory of keys in use, and of those that a document activates.

It holds each key in two NFAs: the full path, run over documents, and the element prefix, run over
label paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pathcast.documents import Document
from pathcast.matching.nfa import DfaMemo, Nfa
from pathcast.matching.sharding.ownership.tag_matching import TagMatcher
from pathcast.matching.sharding.state_key import StateKey, element_prefix

__all__ = ["KeyDirectory"]


class KeyDirectory:
    """The keys in use, each with the number of its queries. Not thread-safe.

    `limit` bounds each of the two memos, as in `DfaMemo`.
    """

    def __init__(
        self, counts: Mapping[StateKey, int] | None = None, limit: int = 2_000_000
    ) -> None:
        self._limit = limit
        self._counts: Counter[StateKey] = Counter()
        self._nfa: Nfa[StateKey] = Nfa()
        self._memo: DfaMemo[StateKey] = DfaMemo(limit)
        self._tags = TagMatcher(limit)
        for key, count in ({} if counts is None else counts).items():
            if count < 1:
                raise ValueError(f"{count} queries at {key}")
            self._enter(key, count)

    def __reduce__(self) -> tuple[type[KeyDirectory], tuple[dict[StateKey, int], int]]:
        return (KeyDirectory, (self.counts(), self._limit))  # the receiver rebuilds the NFAs

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[StateKey]:
        return iter(self._counts)

    def __contains__(self, key: object) -> bool:
        return key in self._counts

    def counts(self) -> dict[StateKey, int]:
        """Return the number of queries at each key."""
        return dict(self._counts)

    def add(self, keys: Iterable[StateKey]) -> None:
        """Add a query by its keys."""
        for key in keys:
            self._enter(key, 1)

    def remove(self, keys: Iterable[StateKey]) -> None:
        """Undo `add`; raise KeyError and change nothing if a key has no query."""
        removed = Counter(keys)
        for key, count in removed.items():
            if self._counts[key] < count:
                raise KeyError(key)
        for key, count in removed.items():
            self._counts[key] -= count
            if not self._counts[key]:
                del self._counts[key]
                self._nfa.remove(key.labels, key)
                self._tags.nfa.remove(element_prefix(key), key)

    def _enter(self, key: StateKey, count: int) -> None:
        if key not in self._counts:  # only a new key changes the NFAs and invalidates the memos
            self._nfa.add(key.labels, key)
            self._tags.nfa.add(element_prefix(key), key)
        self._counts[key] += count

    def activated_keys(self, document: Document) -> frozenset[StateKey]:
        """Return the keys in use that are the path of some node of the document."""
        states = self._memo.run(self._nfa, document)
        return frozenset(key for state in states for key in state.outputs)

    def possible_keys(self, paths: Iterable[Iterable[str]]) -> frozenset[StateKey]:
        """Return the keys in use that a document with these label paths may activate.

        Paths are those of `documents.label_paths`, with names as `{uri}local`; prefixes of given
        paths may be left out. Attributes, texts, comments and processing instructions are assumed
        to be everywhere.
        """
        return frozenset(key for state in self._tags.run(paths) for key in state.outputs)
