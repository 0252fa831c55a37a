r"""Ids of documents in files: a location as text, different for different locations.

The id of a file is its path below the folder. A document inside a file has a derived id, which
continues that of its container: `archive!member` or `rows.csv:LINE`. Two escapes make all ids of a
folder distinct, and leave most paths as they are:

- A byte that is not UTF-8 is `\xFF`. A backslash before such a code is itself `\x5C`.
- Directly after the suffix of a container, `!` is `%21`, `:` is `%3A` and `%` is `%25`. So no path
  continues the path of a container as a derived id does.

Both escapes can be undone, so the mapping from paths to ids is injective.

>>> path_id("deeper/100%.xml"), path_id("a.zip!m.xml"), path_id("rows.csv:3"), path_id("1:2.xml")
('deeper/100%.xml', 'a.zip%21m.xml', 'rows.csv%3A3', '1:2.xml')
>>> print(path_id(b"caf\xe9.xml".decode("utf-8", "surrogateescape")))
caf\xE9.xml
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["CONTAINER_SUFFIX", "MemberIds", "escape_bytes", "path_id"]

CONTAINER_SUFFIX: Final = r"(?i)(\.(?:zip|tar(?:\.gz)?|tgz|(?:csv|jsonl?|ndjson)(?:\.gz)?))"
"""A regular expression, for Python and Java."""
_AFTER_CONTAINER: Final = re.compile(f"{CONTAINER_SUFFIX}([!:%])")
_NOT_TEXT: Final = re.compile("[\ud800-\udfff]|\\\\(?=x(?:5C|[89A-F][0-9A-F]))")


def path_id(path: str) -> str:
    """Return the id of the file at a path, in which `surrogateescape` stands for odd bytes."""
    return _AFTER_CONTAINER.sub(lambda match: f"{match[1]}%{ord(match[2]):02X}", escape_bytes(path))


def escape_bytes(name: str) -> str:
    r"""Replace the bytes of a name that are not UTF-8 by codes like `\xFF`."""
    return _NOT_TEXT.sub(_codes, name)


def _codes(match: re.Match[str]) -> str:
    char = match[0]
    is_byte = "\udc80" <= char <= "\udcff"
    content = char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\x{byte:02X}" for byte in content)


class MemberIds:
    """The ids of an archive's members, which may repeat a name.

    A name that is taken gets the first free number from 2 on.

    >>> ids = MemberIds("a.zip")
    >>> [ids.add(member) for member in ("m.xml#2", "m.xml", "m.xml", "m.xml")]
    ['a.zip!m.xml#2', 'a.zip!m.xml', 'a.zip!m.xml#3', 'a.zip!m.xml#4']
    """

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._taken: dict[str, int] = {}  # name -> the last number tried

    def add(self, member: str) -> str:
        """Return the id of the next member."""
        name = escape_bytes(member)
        candidate, number = name, self._taken.get(name, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{name}#{number}"
        self._taken[name] = number
        self._taken.setdefault(candidate, 1)
        return f"{self._archive}!{candidate}"
