"""What clients ask for is done as a whole or not at all."""

from __future__ import annotations

import pytest

from pathcast.errors import PathcastError
from pathcast.routing.advertisement import ANYTHING
from pathcast.routing.backend import Kit
from pathcast.routing.matcher_backend import EngineKit
from pathcast.routing.messages import Advertise, Document
from pathcast.routing.requests import Cancel, Register, Several
from pathcast.routing.router import Router
from pathcast.routing.shared_backend import SharedKit
from pathcast.routing.strategy import Strategy
from pathcast.xpath import parse

EXPENSIVE = "//b/ancestor::a[c]"
BODY = b"<a><b/><c/></a>"
KITS = [EngineKit, SharedKit]


def router_of(kit: Kit) -> Router:
    """With a publisher behind b2."""
    found = Router("b1", ["b2"], Strategy(), kit)
    found.hear("b2", Advertise("b2", "P", ("b2",), ANYTHING))
    return found


@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize(
    "last",
    [Register("s3", parse(EXPENSIVE), "ann"), Register("s0", parse("/a"), "ann"), Cancel("s9")],
)
def test_all_or_none(kit: type[EngineKit], last: Register | Cancel) -> None:
    router = router_of(kit(Strategy()))
    router.request(Register("s0", parse("/c"), "ann"))
    before = list(router.subscriptions())
    several = (Register("s1", parse("/a"), "ann"), Cancel("s0"), Register("s0", parse("/d"), "ann"))
    with pytest.raises((PathcastError, KeyError)):
        router.request(Several((*several, last)))
    assert list(router.subscriptions()) == before
    assert list(map(str, router.told("b2") or ())) == ["/c"]
    # What comes after is told as if nothing had been.
    assert router.request(Register("s1", parse("/a"), "ann"))
    assert list(map(str, router.told("b2") or ())) == ["/c", "/a"]
    router.request(Several(several[1:]))
    assert list(map(str, router.told("b2") or ())) == ["/a", "/d"]
    for id in ("s0", "s1"):
        router.request(Cancel(id))
    assert not router.told("b2")


@pytest.mark.parametrize("kit", KITS)
def test_what_is_refused_once_is_refused_again(kit: type[EngineKit]) -> None:
    router = router_of(kit(Strategy()))
    for _ in range(2):
        with pytest.raises(PathcastError, match="square"):
            router.request(Register("s1", parse(EXPENSIVE), "ann"))
    assert not router.decide(Document("d", "b2", "P", BODY)).deliveries
    assert not list(router.subscriptions())
