"""Catalogs: the mapping from external identifiers to files, and a DTD's only access to files.

A DTD may reference other files (modules, entity sets) by system or public identifier. A `Catalog`
maps the identifier to a file; a reference that it does not map is refused. So a DTD can reach
neither the network nor a file outside the catalog.

A catalog is an OASIS XML catalog or a folder. A folder maps each file below it by its path relative
to the referring file, and nothing else. Symbolic links that lead out of the folder are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lxml import etree

from pathcast.errors import SchemaError

__all__ = ["Catalog"]

_NAMESPACE = "{urn:oasis:names:tc:entity:xmlns:xml:catalog}"
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"


@dataclass(frozen=True, slots=True)
class Catalog:
    """Identifiers with their files; `folder`, if given, holds files that a DTD may name by path."""

    system: Mapping[str, Path] = field(default_factory=dict)
    public: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """Open an OASIS catalog file or a folder; raises SchemaError."""
        if path.is_dir():
            return cls(folder=path.resolve())
        return _read(path)

    def find(self, system: str | None, public: str | None) -> Path | None:
        """Return the file of an identifier, or None; a relative path is relative to the folder."""
        if system and system in self.system:
            return self.system[system]
        if public and _normalize_space(public) in self.public:
            return self.public[_normalize_space(public)]
        if self.folder is None or not system or "\0" in system or _is_url(system):
            return None
        for spelling in (system, unquote(system)):
            try:
                file = (self.folder / spelling).resolve()
                if file.is_relative_to(self.folder) and file.is_file():
                    return file
            except (OSError, RuntimeError):  # name too long, loop of symbolic links
                continue
        return None


def _is_url(system: str) -> bool:
    parts = urlsplit(system)
    return bool(parts.scheme or parts.netloc)


def _normalize_space(public: str) -> str:
    return " ".join(public.split())


def _read(path: Path) -> Catalog:
    """Read the entries that concern DTDs: system and public, also in groups, with xml:base."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(path.read_bytes(), parser)
    except OSError as error:
        raise SchemaError("unreadable", f"{path}: {error.strerror or error}") from None
    except etree.XMLSyntaxError as error:
        raise SchemaError(
            "catalog", f"{path}: {error.msg}", line=error.lineno, hint="an OASIS XML catalog"
        ) from None
    if root.tag != _NAMESPACE + "catalog":
        message = f"{path}: the root element is {root.tag!r}, not that of an OASIS XML catalog"
        raise SchemaError("catalog", message)
    system: dict[str, Path] = {}
    public: dict[str, Path] = {}
    for entry in root.iter(_NAMESPACE + "system", _NAMESPACE + "public"):
        uri = entry.get("uri")
        if uri is None:
            continue
        bases = [ancestor.get(_XML_BASE, "") for ancestor in entry.iterancestors()][::-1]
        for base in [*bases, entry.get(_XML_BASE, "")]:
            if base:
                uri = urljoin(base, uri)
        parts = urlsplit(uri)
        if parts.scheme not in ("", "file") or parts.netloc:
            continue  # a URL: the reader fetches nothing
        file = (path.parent / unquote(parts.path)).resolve()
        if entry.tag == _NAMESPACE + "system":
            system.setdefault(entry.get("systemId", ""), file)
        else:
            public.setdefault(_normalize_space(entry.get("publicId", "")), file)
    return Catalog(system, public)
