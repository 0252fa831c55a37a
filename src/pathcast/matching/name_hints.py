"""Hints at a name that no node has: another namespace, the other kind of node, a similar name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

__all__ = ["hint_at_name"]


def hint_at_name(
    name: str,
    labels: Collection[str],
    other_labels: Collection[str],
    *,
    is_attribute: bool,
    namespaces: Mapping[str, str] | None = None,
    default_namespace: str | None = None,
) -> str | None:
    """Return what a name that is not among `labels` may stand for, None if nothing is similar.

    Names are `local` or `{uri}local`. `labels` are those of nodes of its kind (elements or
    attributes), `other_labels` those of the other kind. `namespaces` are the subscriber's prefixes.

    >>> hint_at_name("boddy", ["body"], [], is_attribute=False)
    "no 'boddy'; did you mean 'body'?"
    """
    local = name.rpartition("}")[2]
    uris = [label[1:].rpartition("}")[0] for label in labels if label.endswith(f"}}{local}")]
    if uris and not name.startswith("{"):
        declared = [prefix for prefix, uri in (namespaces or {}).items() if uri == uris[0]]
        prefix = declared[0] if declared else "p"
        which = "the document's default namespace" if uris[0] == default_namespace else "namespace"
        return (
            f"{local!r} is in {which} {uris[0]!r}: declare a prefix for it and write"
            f" {prefix}:{local}"
        )
    if uris:
        given = name[1:].rpartition("}")[0]
        return f"{local!r} is in namespace {uris[0]!r}, not in {given!r}"
    if local in labels:
        return f"{local!r} is there in no namespace: write it without a prefix"
    if name in other_labels:
        kind, correct = ("element", local) if is_attribute else ("attribute", f"@{local}")
        return f"there is an {kind} {local!r}: write {correct}"
    local_names = {label.rpartition("}")[2]: label for label in labels}
    similar = difflib.get_close_matches(local, local_names, n=1)
    similar = similar or [label for label in local_names if label.lower() == local.lower()]
    return f"no {local!r}; did you mean {similar[0]!r}?" if similar else None
