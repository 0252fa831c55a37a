"""What goes through the pipes between a runner and its helper process.

A frame is eight bytes of length, big-endian, and then that many bytes. The runner asks with one frame of
JSON, and others after it that are documents as they came; the helper answers each question
with one frame of JSON. Nothing is pickled: a helper that was talked into misbehaving can give a wrong
answer, and nothing more.

    {"document": {limits}, "seconds": s}  + body     ->  {} | {"error": [kind, message]}
    {"xpath": ..., "namespaces": [[prefix, uri]...], "seconds": s}  ->  {"holds": bool} | {"error": ...}

    {"sheet": name, "max_bytes": bytes, "memory": bytes, "limits": {...}, "seconds": s}  + sheet  ->  {} | {"error": ...}
    {"bodies": n, "parameters": {name: text}, "seconds": s}  + n bodies  ->  n frames or fewer, then perhaps `.`

Of the last one each frame is the answer to one document, given as soon as it is known: `=` and the bytes of what was
made of it, or `!` and the JSON of [kind, message]. `.` says that the rest was left alone and may be asked again.

`seconds` is when the helper ends itself if nobody else does, for each answer.

>>> frame({"xpath": "//a"})
b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x10{"xpath": "//a"}'
"""

from __future__ import annotations

import json
from struct import Struct
from typing import BinaryIO, Final

__all__ = ["HEADER", "Message", "frame", "read_frame", "unpack"]

Message = dict[str, object]

HEADER: Final = Struct(">Q")


def frame(content: Message | bytes) -> bytes:
    """One frame, ready to be written."""
    octets = content if isinstance(content, bytes) else json.dumps(content).encode()
    return HEADER.pack(len(octets)) + octets


def unpack(octets: bytes) -> Message:
    """The message in a frame; ValueError if it is none."""
    message = json.loads(octets)
    if not isinstance(message, dict):
        raise ValueError("a frame holds one JSON object")
    return message


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame of a stream that blocks, None at its end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    octets = stream.read(length)
    return octets if len(octets) == length else None
