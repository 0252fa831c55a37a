"""File names for ids, which may be any text.

The mapping is injective. A name is never hidden and never leaves its folder, and most ids map to
themselves.

>>> file_name("news-0001.xml"), file_name("a/b.xml"), file_name("../x"), file_name(".")
('news-0001.xml', 'a%2Fb.xml', '%2E.%2Fx', '%2E')
>>> id_of_file("a%2Fb.xml")
'a/b.xml'
>>> len(file_name("x" * 1000))
200
"""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import quote, unquote

__all__ = ["file_name", "id_of_file"]

_MAX_NAME_BYTES = 200  # file systems allow 255, and drafts have longer names
_SAFE = " !+,-.:=@_~()[]{}'"
_EMPTY = "%"  # no other id has this name


def file_name(id: str) -> str:
    """Return the file name for an id."""
    name = quote(id.encode("utf-8", "surrogatepass"), safe=_SAFE)
    if name.startswith((".", "_")):  # hidden, or skipped by Spark
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > _MAX_NAME_BYTES:
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        # Unique: an uncut name never has % followed by 64 hexadecimal digits.
        name = f"{name[: _MAX_NAME_BYTES - 65]}%{digest}"
    return name or _EMPTY


def id_of_file(name: str) -> str:
    """Return the id of a file name; of an id that was too long, only the beginning is right."""
    return "" if name == _EMPTY else unquote(name, errors="surrogatepass")
