"""Names of files for ids, which may be any text.

Two ids never get the same name, a name is never hidden and never leads out of its folder, and most ids are their own name.

>>> file_name("news-0001.xml"), file_name("a/b.xml"), file_name("../x"), file_name(".")
('news-0001.xml', 'a%2Fb.xml', '%2E.%2Fx', '%2E')
>>> len(file_name("x" * 1000))
200
"""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import quote

__all__ = ["file_name"]

_MAX_NAME_BYTES = 200  # bytes; file systems allow 255, and drafts have longer names
_SAFE = " !+,-.:=@_~()[]{}'"


def file_name(id: str) -> str:
    """The name of a file for an id."""
    name = quote(id.encode("utf-8", "surrogatepass"), safe=_SAFE)
    if name.startswith((".", "_")):  # hidden, or passed over by those who list folders
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > _MAX_NAME_BYTES:
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: _MAX_NAME_BYTES - 65]}%{digest}"  # no name that was not cut has %, and then 64 digits
    return name
