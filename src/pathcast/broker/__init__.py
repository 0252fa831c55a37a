"""A broker: routing tables, links to neighbours and a log of documents, as a node without I/O.

broker    `Broker`, the state machine, and its `Settings`
inputs    what the driver passes to a broker, besides the inputs of `pathcast.node`
effects   what a broker asks of its driver, besides the effects of `pathcast.node`
storage   `MemoryStorage`, the durable state

The driver's contract
---------------------

A driver runs one broker: it owns the disk, the links, the clients and the clock. `pathcast.sim` is
a driver in virtual time.

1. **Create.** Load the storage, and pass it to `Broker`. The constructor begins a new session:
   `storage.session` must be on disk before the first frame of the session leaves.

2. **Start.** Pass `Start` first. In the first session of all, continue with step 3. Otherwise bring
   the clients' requests up to date. For each stored fact with the source `LOCAL` that no client
   wants any more, pass `ClientRequest` with `Cancel` or `Retract`. For each request that is not a
   stored fact, pass it as a `ClientRequest`. Then pass `ClientsKnown`. Until then a broker without
   tables defers documents for its own clients. Frames may arrive in between.

3. **Pass inputs** one at a time, with a time in seconds that never decreases. Perform all effects
   of an input before the next one. Inputs may wait in a queue; a crash may lose the queue.

4. **Perform effects** in list order, and finish each before you start the next:

   a. `PersistDocument`, `DropDocument`, `PersistParent`, `PersistFact` and `TablesRecovered` change
      the storage as `MemoryStorage.perform` does. They must be on disk before any later effect of
      the list starts: a later `Send` acknowledges frames and `Accepted` answers the publisher, and
      both promise that the broker will not lose the document. Adjacent ones may share one write.
   b. `Deliver` gives the document to the subscriber. It must be complete before a later
      `DropDocument` is on disk. Delivery is at-least-once: after a crash between the two, the
      broker delivers again, and the subscriber drops the duplicate by the document's id.
   c. `Accepted` and `Refuse` answer the publisher. They may be lost: the publisher submits the
      document again until it receives one of them.
   d. `Send` gives a frame to the link, which may lose, duplicate, delay or reorder it.
   e. `SetTimer` asks for `TimerFired`, at the earliest time that is pending (see `pathcast.node`).
      A broker has no background timer, and never returns `Changed`.

5. **After a crash**, effects that were not performed are lost, with timers and the input queue.
   Nothing else needs repair: go to step 1. If the stored tables are lost, call
   `storage.lose_tables()` before; documents, ids, parents and the session must not be lost.
"""

from pathcast.broker.broker import Broker, Settings
from pathcast.broker.effects import (
    Accepted,
    DropDocument,
    Effect,
    PersistDocument,
    PersistFact,
    PersistParent,
    TablesRecovered,
)
from pathcast.broker.inputs import ClientRequest, ClientsKnown, DocumentSubmitted, Input
from pathcast.broker.storage import MemoryStorage

__all__ = [
    "Accepted",
    "Broker",
    "ClientRequest",
    "ClientsKnown",
    "DocumentSubmitted",
    "DropDocument",
    "Effect",
    "Input",
    "MemoryStorage",
    "PersistDocument",
    "PersistFact",
    "PersistParent",
    "Settings",
    "TablesRecovered",
]
