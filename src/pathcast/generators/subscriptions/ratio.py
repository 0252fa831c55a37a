"""Subscriptions that a given share of documents matches: accept and reject, until the mean is right.

The *match ratio* is the mean, over documents, of the share of the subscriptions that a document matches (Cao 2012, table 5.4:
"the ratio of matched queries over test query population", around 0.05). Candidates are tried on sample documents, in batches,
by the `Matcher`. The *share* of a candidate is the share of documents that match it; the mean of the shares over the
subscriptions is the match ratio. So it is enough to choose among candidates that match rarely and those that match
often: whenever the mean so far is too low, the next is a common one, and else a rare one. The sum is then never further from
what it should be than 1, and the mean after n subscriptions is within 1 / n of the target.

One half of the samples says which candidates are rare, the other half what their shares are. Were it the same documents, those that
are rare on just these would be preferred, and on other documents the ratio would turn out higher.

Candidates of either kind keep their order; of the kind that is too common, most are dropped. Where one kind does not come up
among `SEARCH` candidates, or the mean stays off by a quarter, the target cannot be kept: a `WorkloadError` of the kind
"match-ratio" says what is possible.

What was reached is `achieved`. It is measured on half of the samples; on other documents the ratio differs as samples do.

>>> samples = [b"<a><b/></a>", b"<a><b/></a>", b"<a><c/></a>", b"<a><c/></a>"]
>>> steered = Steered(iter(["/a/b", "/a", "/x", "/a/c", "/y", "/z"]), samples, 0.25)
>>> list(steered), steered.achieved
(['/x', '/a/b', '/y', '/a', '/z'], 0.3)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from pathcast.errors import WorkloadError
from pathcast.matching import Matcher

__all__ = ["SEARCH", "Steered", "samples_for"]

SEARCH = 20_000  # candidates without one of the kind that is needed
_FIRST, _LARGEST = 250, 2000  # candidates tried at once: few at first, so that the first come soon
_WAITING = 2000  # candidates of one kind that are kept
_KNOWN = 100_000  # shares that are remembered, for candidates that come again
_NEAR = 0.1  # how far from the target, as a share of it, the mean may be where one kind does not come up
_FAR = 0.25  # and how far after every so many subscriptions
_JUDGED = 1000


def samples_for(target: float) -> int:
    """How many sample documents tell what matches more rarely than the target from what matches more often."""
    return 2 * min(max(24, round(1.5 / target) if target else 0), 200)


class Steered:
    """An iterator over the candidates that are taken. `achieved` is the match ratio of those given out so far."""

    def __init__(self, candidates: Iterator[str], samples: Sequence[bytes], target: float) -> None:
        if len(samples) < 2:
            raise WorkloadError("option", "a match ratio needs two sample documents at least")
        self._candidates = candidates
        self._samples = samples
        self._target = target
        self._size = _FIRST
        self._ended = False
        self._rare: deque[str] = deque()
        self._common: deque[str] = deque()
        self._first: dict[str, float] = {}  # shares of the first half of the samples
        self._second: dict[str, float] = {}
        self._sum = 0.0
        self.taken = 0
        self.tried = 0

    @property
    def achieved(self) -> float:
        return self._sum / self.taken if self.taken else 0.0

    def __iter__(self) -> Steered:
        return self

    def __next__(self) -> str:
        # Common ones are wanted while the mean is too low.
        common = self._sum < self._target * self.taken
        wanted, other = (self._common, self._rare) if common else (self._rare, self._common)
        if not self._found(wanted):
            if not other:
                raise StopIteration
            if self._off() > max(_NEAR * self._target, 1 / self.taken if self.taken else 0.0):
                side = "more" if common else "less"
                raise self._failed(f"of {min(SEARCH, self.tried):,} candidates none matches {side}")
            if self._ended:
                raise StopIteration
            wanted = other
        judged = self.taken and self.taken % _JUDGED == 0
        if judged and self._off() > _FAR * self._target + 1 / _JUDGED:
            kind = "common ones match too rarely" if common else "rare ones match too often"
            raise self._failed(f"even the {kind}")
        text = wanted.popleft()
        self._sum += self._second[text]
        self.taken += 1
        return text

    def _found(self, wanted: deque[str]) -> bool:
        """Try candidates until there is one of the kind that is wanted."""
        since = self.tried
        while not wanted and not self._ended and self.tried - since < SEARCH:
            self._more()
        return bool(wanted)

    def _off(self) -> float:
        return abs(self.achieved - self._target)

    def _failed(self, why: str) -> WorkloadError:
        shares = list(self._first.values())
        mean = sum(shares) / len(shares)
        return WorkloadError(
            "match-ratio",
            f"a match ratio of {self._target} cannot be kept: {why} (after {self.taken:,} subscriptions it "
            f"is {self.achieved:.4f})",
            hint=f"these candidates match {min(shares):.4f} to {max(shares):.4f} of the documents, {mean:.4f} in "
            "the mean; ask for a ratio between, or change p(*), p(//), the depth or the predicates",
        )

    def _more(self) -> None:
        """Try another batch."""
        batch = list(islice(self._candidates, self._size))
        self._ended = len(batch) < self._size
        self._size = min(2 * self._size, _LARGEST)
        self.tried += len(batch)
        self._measure(self._first, batch, self._samples[::2])
        kept = []
        for text in batch:
            share = self._first[text]
            kind = self._common if share > self._target or share == 1.0 else self._rare
            if len(kind) < _WAITING:
                kind.append(text)
                kept.append(text)
        self._measure(self._second, kept, self._samples[1::2])

    def _measure(self, known: dict[str, float], texts: list[str], samples: Sequence[bytes]) -> None:
        """Find out the shares that are not known."""
        if len(known) > _KNOWN:
            waiting = {*self._rare, *self._common, *texts}
            for text in [text for text in known if text not in waiting]:
                del known[text]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        matcher = Matcher()
        matcher.add_many(enumerate(new))
        hits = [0] * len(new)
        for body in samples if new else ():
            for number in matcher.match(body).numbers:
                hits[number] += 1
        known.update(zip(new, (count / len(samples) for count in hits), strict=True))
