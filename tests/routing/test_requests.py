"""Requests of clients are atomic."""

from __future__ import annotations

import pytest

from pathcast.errors import PathcastError
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.backend import Backend
from pathcast.routing.matcher_backend import MatcherBackend
from pathcast.routing.messages import Advertise, Publication
from pathcast.routing.requests import Cancel, Register, RequestBatch
from pathcast.routing.router import Router
from pathcast.routing.shared_backend import SharedBackend
from pathcast.routing.strategy import Strategy
from pathcast.xpath import parse

EXPENSIVE = "//b[c = d]"
BODY = b"<a><b/><c/></a>"
BACKENDS = [MatcherBackend, SharedBackend]


def make_router(backend: Backend) -> Router:
    """Return a router with a publisher behind b2."""
    router = Router("b1", ["b2"], Strategy(), backend)
    router.on_message("b2", Advertise("b2", "P", ("b2",), ANYTHING))
    return router


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "last",
    [Register("s3", parse(EXPENSIVE), "ann"), Register("s0", parse("/a"), "ann"), Cancel("s9")],
)
def test_a_batch_is_applied_entirely_or_not_at_all(
    backend: type[MatcherBackend], last: Register | Cancel
) -> None:
    router = make_router(backend(Strategy()))
    router.request(Register("s0", parse("/c"), "ann"))
    before = list(router.subscriptions())
    batch = (Register("s1", parse("/a"), "ann"), Cancel("s0"), Register("s0", parse("/d"), "ann"))
    with pytest.raises((PathcastError, KeyError)):
        router.request(RequestBatch((*batch, last)))
    assert list(router.subscriptions()) == before
    assert list(map(str, router.sent_interests("b2") or ())) == ["/c"]
    # Later requests are propagated as if the batch had never been.
    assert router.request(Register("s1", parse("/a"), "ann"))
    assert list(map(str, router.sent_interests("b2") or ())) == ["/c", "/a"]
    router.request(RequestBatch(batch[1:]))
    assert list(map(str, router.sent_interests("b2") or ())) == ["/a", "/d"]
    for id in ("s0", "s1"):
        router.request(Cancel(id))
    assert not router.sent_interests("b2")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rejected_request_is_rejected_again(backend: type[MatcherBackend]) -> None:
    router = make_router(backend(Strategy()))
    for _ in range(2):
        with pytest.raises(PathcastError, match="square"):
            router.request(Register("s1", parse(EXPENSIVE), "ann"))
    assert not router.decide(Publication("d", "b2", "P", BODY)).deliveries
    assert not list(router.subscriptions())
