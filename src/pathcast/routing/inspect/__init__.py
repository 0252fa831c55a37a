"""Tables with their reasons, for people: what is in them, why, and why a document went where it went.

    srt(router)                                  advertisements: what comes from where
    prt(router)                                  who wants what, and what other neighbours were told of it
    why_entry(router, neighbour, pattern)        what an entry that a neighbour was told stands for
    why_document(router, document, came_from)    of each neighbour and of our subscribers, whether they get it, and why

Every row is a value with `cells` for a text (`format_table(rows)` aligns them) and `as_dict` for machines. Looking changes nothing. It
may take a while: reasons are found by asking the tables again, not kept.
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
