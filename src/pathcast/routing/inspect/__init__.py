"""Inspection of routing tables: their rows with reasons, and the trace of a document.

    srt(router)                                advertisements with the neighbour they came from
    prt(router)                                entries, and how each was forwarded to neighbours
    why_entry(router, neighbour, pattern)      the reasons of an entry sent to a neighbour
    why_document(router, document, came_from)  for each hop, whether a document takes it, and why

tables          `srt` and `prt`
entries         `why_entry`
document_trace  `why_document`
text            formatting of rows

A row has `cells` for text (`format_table` aligns them) and `as_dict` for JSON. Inspection does not
change the tables. Reasons are derived from the tables on each call, so it may be slow.
"""

from pathcast.routing.inspect.document_trace import HopTrace, HopVerdict, why_document
from pathcast.routing.inspect.entries import EntryReason, SentEntry, why_entry
from pathcast.routing.inspect.tables import Forwarding, ForwardingKind, PrtRow, SrtRow, prt, srt
from pathcast.routing.inspect.text import TableRow, format_table

__all__ = [
    "EntryReason",
    "Forwarding",
    "ForwardingKind",
    "HopTrace",
    "HopVerdict",
    "PrtRow",
    "SentEntry",
    "SrtRow",
    "TableRow",
    "format_table",
    "prt",
    "srt",
    "why_document",
    "why_entry",
]
