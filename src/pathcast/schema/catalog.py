"""Which file stands for an external identifier: the only way from a DTD to a file.

A DTD may ask for others (modules, entity sets) by system or public identifier. `Catalog` says which file that is;
what it does not name is refused, so no DTD can reach the network or a file that nobody meant it to. It is made from
an OASIS XML catalog, or from a folder: then every file below it answers to its path relative to the asking file, and
to nothing else. Links that lead outside the folder are refused too.
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
    """Identifiers and their files; `folder`, if given, holds files that may be asked for by path."""

    system: Mapping[str, Path] = field(default_factory=dict)
    public: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """An OASIS catalog file, or a folder; raises SchemaError."""
        if path.is_dir():
            return cls(folder=path.resolve())
        return _read(path)

    def find(self, system: str | None, public: str | None) -> Path | None:
        """The file of an identifier (a relative path is relative to the folder), or None."""
        if system and system in self.system:
            return self.system[system]
        if public and _squeezed(public) in self.public:
            return self.public[_squeezed(public)]
        if self.folder is None or not system or "\0" in system or _is_address(system):
            return None
        for spelling in (system, unquote(system)):
            try:
                found = (self.folder / spelling).resolve()
                if found.is_relative_to(self.folder) and found.is_file():
                    return found
            except (OSError, RuntimeError):  # a name too long, a loop of links
                continue
        return None


def _is_address(system: str) -> bool:
    parts = urlsplit(system)
    return bool(parts.scheme or parts.netloc)


def _squeezed(public: str) -> str:
    return " ".join(public.split())


def _read(path: Path) -> Catalog:
    """The entries that matter for DTDs: system and public, in groups or not, with xml:base."""
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
        bases = [one.get(_XML_BASE, "") for one in entry.iterancestors()][::-1]
        for base in [*bases, entry.get(_XML_BASE, "")]:
            if base:
                uri = urljoin(base, uri)
        parts = urlsplit(uri)
        if parts.scheme not in ("", "file") or parts.netloc:
            continue  # an address: nothing is fetched
        file = (path.parent / unquote(parts.path)).resolve()
        if entry.tag == _NAMESPACE + "system":
            system.setdefault(entry.get("systemId", ""), file)
        else:
            public.setdefault(_squeezed(entry.get("publicId", "")), file)
    return Catalog(system, public)
