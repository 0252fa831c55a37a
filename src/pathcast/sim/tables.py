"""Writes the tables of an overlay's brokers as files of subscriptions, `BROKER.jsonl`.

The subscribers in a file are next hops. `pathcast run --hops` makes with a file the decisions of
the broker, and so can any program that reads subscriptions. A broker that is down has no table.
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
    """Write the table of every broker and return the files.

    The tables are for documents of one origin, or for those submitted at the broker itself. `local`
    is as in `hop_table`. The function replaces each existing table atomically, and removes that of
    a broker that is down. A table of a broker outside this overlay is an error. Raise RoutingError
    or FormatError; if one table cannot be made, none is written.
    """
    if origin is not None and origin not in run.hosts:
        raise RoutingError("topology", f"there is no broker {origin}")
    tables = {
        name: hop_table(broker.router, origin, local=local)
        for name, broker in run.brokers().items()
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make the folder {folder}: {error.strerror or error}"
        raise FormatError("file", message) from None
    paths = {name: folder / f"{quote(name, safe=' ')}.jsonl" for name in run.hosts}
    expected = set(paths.values())
    for path in sorted(folder.glob("*.jsonl")):
        if path not in expected:
            message = f"{path} is there already, and of another overlay"
            raise FormatError("file", message, hint="an empty folder")
    for name, path in paths.items():
        if name not in tables:
            path.unlink(missing_ok=True)
    files = {name: paths[name] for name in tables}
    for name, table in tables.items():
        write_subscriptions(files[name], (entry.subscription() for entry in table))
    return files
