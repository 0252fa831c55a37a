"""The choice of outboxes by name: `segments`, `files`, `links`, an address of NATS, or `none`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pathcast.errors import PipelineError
from pathcast.files.outboxes import FILES_FOLDER, SEGMENTS_FOLDER
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.sinks.files import FileOutboxes
from pathcast.pipeline.sinks.segments import SegmentOutboxes
from pathcast.pipeline.storage import local_path

__all__ = ["outbox_factory"]


def outbox_factory(deliver: str) -> Callable[[str], Outbox] | None:
    """Return a function from OUT to its outboxes, None for tables only; or raise PipelineError."""
    match deliver:
        case "none":
            return None
        case "segments":
            return lambda out: SegmentOutboxes(_outbox_folder(out, SEGMENTS_FOLDER))
        case "files" | "links":
            return partial(_file_outboxes, links=deliver == "links")
    if "://" not in deliver:
        raise PipelineError(
            "outbox", f"{deliver!r} is not segments, files, links, none or an address"
        )
    from pathcast.pipeline.jetstream import OutboxAddress
    from pathcast.pipeline.sinks.nats import NatsOutbox

    outbox = NatsOutbox(OutboxAddress.parse(deliver))
    return lambda _: outbox


def _file_outboxes(out: str, *, links: bool) -> Outbox:
    return FileOutboxes(_outbox_folder(out, FILES_FOLDER), links)


def _outbox_folder(out: str, name: str) -> Path:
    """Return a folder in OUT; PipelineError if this machine does not see OUT."""
    try:
        return local_path(out).resolve() / name
    except PipelineError as error:
        hint = "--deliver none or NATS, or a folder that all machines see"
        raise PipelineError(error.kind, error.message, hint=hint) from None
