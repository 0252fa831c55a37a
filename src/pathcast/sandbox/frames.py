"""Wire protocol between a runner and its worker process.

A frame is eight bytes of length, big-endian, followed by that many bytes. A request is one frame of
JSON, followed by frames with the documents as they came. The response is one frame of JSON. Nothing
is pickled: a compromised worker can send a wrong answer, and nothing more.

XPath worker:

    {"document": {limits}, "seconds": s}  + body
        ->  {} | {"error": [kind, message]}
    {"xpath": ..., "namespaces": [[prefix, uri]...], "seconds": s}
        ->  {"holds": bool} | {"error": ...}

XSLT worker:

    {"sheet": name, "max_bytes": n, "memory": bytes, "limits": {...}, "seconds": s}  + style sheet
        ->  {} | {"error": ...}
    {"bodies": n, "parameters": {name: text}, "seconds": s}  + n bodies
        ->  up to n frames, then possibly `.`

In the last case the worker sends one frame for each document as soon as it has the result: `=` and
the result's bytes, or `!` and the JSON of [kind, message]. `.` ends the response early; the runner
sends the remaining documents in another request.

`seconds` is the time after which the worker ends itself, for each response, in case that the runner
is gone.

>>> frame({"xpath": "//a"})
b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x10{"xpath": "//a"}'
"""

from __future__ import annotations

import json
from struct import Struct
from typing import BinaryIO, Final

__all__ = ["HEADER", "JsonObject", "frame", "read_frame", "unpack"]

JsonObject = dict[str, object]

HEADER: Final = Struct(">Q")


def frame(content: JsonObject | bytes) -> bytes:
    """Return a frame with bytes, or with the JSON of an object."""
    octets = content if isinstance(content, bytes) else json.dumps(content).encode()
    return HEADER.pack(len(octets)) + octets


def unpack(octets: bytes) -> JsonObject:
    """Return the JSON object in a frame's content; ValueError if there is none."""
    message = json.loads(octets)
    if not isinstance(message, dict):
        raise ValueError("a frame holds one JSON object")
    return message


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the content of the next frame of a blocking stream, None at its end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    octets = stream.read(length)
    return octets if len(octets) == length else None
