"""Selection of subscriptions for a match ratio, by accept and reject.

The *match ratio* is the mean, over documents, of the share of subscriptions that a document matches
(Cao 2012, table 5.4: "the ratio of matched queries over test query population", around 0.05). The
`Matcher` tries candidates on sample documents, in batches. The *share* of a candidate is the share
of documents that match it; the mean share of the subscriptions is the match ratio. So it suffices
to choose between rare and common candidates: if the mean so far is too low, the next is a common
one, else a rare one. The sum then stays within 1 of its target, and the mean after n subscriptions
within 1 / n.

One half of the samples classifies candidates, the other half measures their shares. With the same
documents for both, candidates that are rare on just these would be preferred, and other documents
would show a higher ratio.

Candidates of either class keep their order; surplus candidates of the more frequent class are
dropped. If one class does not occur among `MAX_SEARCH` candidates, or the mean stays off by a
quarter, the target is unreachable: a `WorkloadError` of the kind "match-ratio" reports the possible
range.

`achieved_ratio` is measured on half of the samples; on other documents the ratio differs by
sampling error.

>>> samples = [b"<a><b/></a>", b"<a><b/></a>", b"<a><c/></a>", b"<a><c/></a>"]
>>> steered = RatioFilter(iter(["/a/b", "/a", "/x", "/a/c", "/y", "/z"]), samples, 0.25)
>>> list(steered), steered.achieved_ratio
(['/x', '/a/b', '/y', '/a', '/z'], 0.3)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from pathcast.errors import WorkloadError
from pathcast.matching import Matcher

__all__ = ["MAX_SEARCH", "RatioFilter", "sample_count"]

MAX_SEARCH = 20_000  # candidates tried for one of the class required
_FIRST_BATCH, _MAX_BATCH = 250, 2000  # candidates; small at first, for a quick start
_MAX_WAITING = 2000  # candidates per class
_MAX_CACHED_SHARES = 100_000  # for candidates that recur
_TOLERANCE = 0.1  # relative error allowed if one class does not occur
_MAX_DRIFT = 0.25  # relative error allowed at every check
_CHECK_INTERVAL = 1000  # subscriptions


def sample_count(target: float) -> int:
    """Return the number of samples that separates shares below and above the target."""
    return 2 * min(max(24, round(1.5 / target) if target else 0), 200)


class RatioFilter:
    """Iterator over the accepted candidates; `achieved_ratio` is the match ratio so far."""

    def __init__(self, candidates: Iterator[str], samples: Sequence[bytes], target: float) -> None:
        if len(samples) < 2:
            raise WorkloadError("option", "a match ratio needs two sample documents at least")
        self._candidates = candidates
        self._samples = samples
        self._target = target
        self._size = _FIRST_BATCH
        self._ended = False
        self._rare: deque[str] = deque()
        self._common: deque[str] = deque()
        self._screening_shares: dict[str, float] = {}  # on the first half of the samples
        self._measured_shares: dict[str, float] = {}
        self._sum = 0.0
        self.taken = 0
        self.tried = 0

    @property
    def achieved_ratio(self) -> float:
        return self._sum / self.taken if self.taken else 0.0

    def __iter__(self) -> RatioFilter:
        return self

    def __next__(self) -> str:
        # Take a common candidate while the mean is too low.
        common = self._sum < self._target * self.taken
        queue, other_queue = (self._common, self._rare) if common else (self._rare, self._common)
        if not self._refill(queue):
            if not other_queue:
                raise StopIteration
            if self._error() > max(
                _TOLERANCE * self._target, 1 / self.taken if self.taken else 0.0
            ):
                side = "more" if common else "less"
                raise self._unreachable(
                    f"of {min(MAX_SEARCH, self.tried):,} candidates none matches {side}"
                )
            if self._ended:
                raise StopIteration
            queue = other_queue
        judged = self.taken and self.taken % _CHECK_INTERVAL == 0
        if judged and self._error() > _MAX_DRIFT * self._target + 1 / _CHECK_INTERVAL:
            kind = "common ones match too rarely" if common else "rare ones match too often"
            raise self._unreachable(f"even the {kind}")
        text = queue.popleft()
        self._sum += self._measured_shares[text]
        self.taken += 1
        return text

    def _refill(self, queue: deque[str]) -> bool:
        """Try candidates until the queue has one; return whether it has."""
        since = self.tried
        while not queue and not self._ended and self.tried - since < MAX_SEARCH:
            self._try_batch()
        return bool(queue)

    def _error(self) -> float:
        return abs(self.achieved_ratio - self._target)

    def _unreachable(self, why: str) -> WorkloadError:
        shares = list(self._screening_shares.values())
        mean = sum(shares) / len(shares)
        return WorkloadError(
            "match-ratio",
            f"a match ratio of {self._target} cannot be kept: {why} "
            f"(after {self.taken:,} subscriptions it is {self.achieved_ratio:.4f})",
            hint=f"these candidates match {min(shares):.4f} to {max(shares):.4f} of the documents, "
            f"{mean:.4f} in the mean; ask for a ratio between, "
            "or change p(*), p(//), the depth or the predicates",
        )

    def _try_batch(self) -> None:
        """Classify and measure another batch of candidates."""
        batch = list(islice(self._candidates, self._size))
        self._ended = len(batch) < self._size
        self._size = min(2 * self._size, _MAX_BATCH)
        self.tried += len(batch)
        self._measure(self._screening_shares, batch, self._samples[::2])
        measured = []
        for text in batch:
            share = self._screening_shares[text]
            kind = self._common if share > self._target or share == 1.0 else self._rare
            if len(kind) < _MAX_WAITING:
                kind.append(text)
                measured.append(text)
        self._measure(self._measured_shares, measured, self._samples[1::2])

    def _measure(
        self, shares: dict[str, float], texts: list[str], samples: Sequence[bytes]
    ) -> None:
        """Measure the shares that are not cached."""
        if len(shares) > _MAX_CACHED_SHARES:
            waiting = {*self._rare, *self._common, *texts}
            for text in [text for text in shares if text not in waiting]:
                del shares[text]
        unmeasured = [text for text in dict.fromkeys(texts) if text not in shares]
        matcher = Matcher()
        matcher.add_many(enumerate(unmeasured))
        hits = [0] * len(unmeasured)
        for body in samples if unmeasured else ():
            for number in matcher.match(body).numbers:
                hits[number] += 1
        shares.update(zip(unmeasured, (count / len(samples) for count in hits), strict=True))
