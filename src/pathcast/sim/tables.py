"""The tables of a simulated overlay's brokers, as files of subscriptions whose subscribers are hops: `BROKER.jsonl`.

`pathcast run --hops` decides with such a file as the broker does; so does anything else that reads subscriptions. A broker that is down has no table.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from pathcast.errors import FormatError, RoutingError
from pathcast.files import write_subscriptions
from pathcast.routing.export import hop_table
from pathcast.sim.simulation import Simulation

__all__ = ["write_tables"]


def write_tables(
    run: Simulation, folder: Path, *, origin: str | None = None, local: str | None = None
) -> dict[str, Path]:
    """Write the table of every broker, for documents of one origin, or for those submitted at the broker itself.

    `local` as in `hop_table`. Tables that are there are replaced, each at once, and that of a broker that is down is removed; tables of brokers that this overlay
    has not are an error, lest they pass for its own. Raises RoutingError and FormatError; if a table cannot be made, none is written.
    """
    if origin is not None and origin not in run.hosts:
        raise RoutingError("topology", f"there is no broker {origin}")
    tables = {
        name: hop_table(host.broker.router, origin, local=local)
        for name, host in run.hosts.items()
        if host.broker is not None
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make the folder {folder}: {error.strerror or error}"
        raise FormatError("file", message) from None
    places = {name: folder / f"{quote(name, safe=' ')}.jsonl" for name in run.hosts}
    known = set(places.values())
    for one in sorted(folder.glob("*.jsonl")):
        if one not in known:
            message = f"{one} is there already, and of another overlay"
            raise FormatError("file", message, hint="an empty folder")
    for name, place in places.items():
        if name not in tables:
            place.unlink(missing_ok=True)
    files = {name: places[name] for name in tables}
    for name, table in tables.items():
        write_subscriptions(files[name], (entry.subscription() for entry in table))
    return files
