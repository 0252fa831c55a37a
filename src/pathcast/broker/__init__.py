"""A broker: its routing tables, its links and its log of documents, as one state machine without I/O."""

from pathcast.broker.broker import Broker
from pathcast.broker.effects import (
    Accepted,
    Effect,
    Forget,
    Keep,
    Remember,
    Send,
    Wake,
)
from pathcast.broker.inputs import (
    Alarm,
    Ask,
    ClientsKnown,
    FrameIn,
    Input,
    Start,
    Submit,
)
from pathcast.broker.saved import Saved

__all__ = [
    "Accepted",
    "Alarm",
    "Ask",
    "Broker",
    "ClientsKnown",
    "Effect",
    "Forget",
    "FrameIn",
    "Input",
    "Keep",
    "Remember",
    "Saved",
    "Send",
    "Start",
    "Submit",
    "Wake",
]
