"""The DOCUMENT arguments of a command, as documents to read one after the other.

A file is itself, `-` is standard input, and a folder stands for every file below it:

- in the order of their names, folder by folder, so that the order is reproducible everywhere;
- without names that begin with `.` or `_`, folders included, as in `pathcast run`: programs mark
  unfinished files that way. As arguments of their own they are read;
- links are followed, except to a folder that contains them;
- pipes, sockets and devices below a folder are skipped. As arguments of their own they are read.

Only names are in memory, those of one folder at each level. `read` reads the bytes. An argument
that does not exist is a `FormatError` before anything is read. A file that cannot be read (no
permission, deleted) is a `DocumentError` from its own `read`: one bad document among many.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from pathcast.errors import DocumentError, FormatError

__all__ = ["DocumentFile", "is_hidden", "iter_documents", "leads_back"]


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document to read; `name` is the argument, or a path below it."""

    name: str
    open: Callable[[], BinaryIO]
    """Opens the document as a stream; DocumentError if it cannot be read."""
    limit: int | None = None

    def read(self) -> bytes:
        """Return the bytes, at most one beyond the limit; DocumentError if they are unreadable."""
        stream = self.open()
        try:
            return stream.read(-1 if self.limit is None else self.limit + 1)
        except OSError as error:
            _fail(error)
        finally:
            if self.name != "-":
                stream.close()


def iter_documents(
    arguments: Iterable[str | os.PathLike[str]],
    *,
    limit: int | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[DocumentFile]:
    """Return the documents of the arguments; FormatError at once if one does not exist.

    With a `limit`, at most one byte beyond it is read of a document. A size check then sees that
    the document is too large, without a file of any size in memory.
    """
    names = [os.fspath(argument) for argument in arguments]
    if names.count("-") > 1:
        raise FormatError("file", "standard input (-) is given twice")
    for name in names:
        try:
            if name != "-":
                Path(name).stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FormatError("file", f"{name}: {reason}") from None
    return _documents(names, limit, stdin)


def _documents(
    names: list[str], limit: int | None, stdin: BinaryIO | None
) -> Iterator[DocumentFile]:
    for name in names:
        if name == "-":
            yield DocumentFile("-", functools.partial(_open_stdin, stdin), limit)
        elif Path(name).is_dir():
            yield from _documents_below(name, limit)
        else:
            yield DocumentFile(name, functools.partial(_open, name), limit)


def _documents_below(root: str, limit: int | None) -> Iterator[DocumentFile]:
    pending: list[str | os.DirEntry[str]] = [root]  # a stack, the first entry on top
    while pending:
        entry = pending.pop()
        name = os.fspath(entry)
        if isinstance(entry, str) or _is_folder(entry):
            try:
                with os.scandir(name) as entries:
                    children = sorted(
                        (child for child in entries if not is_hidden(child.name)),
                        key=lambda child: os.fsencode(child.name),
                        reverse=True,
                    )
            except OSError as error:
                yield DocumentFile(name, functools.partial(_fail, error))
            else:
                pending += children
        elif _is_document(entry):
            yield DocumentFile(name, functools.partial(_open, name), limit)


def is_hidden(name: str) -> bool:
    """Return whether a file or folder of this name is skipped."""
    return name.startswith((".", "_"))


def leads_back(link: str) -> bool:
    """Return whether a link leads to a folder that contains it."""
    target = os.path.realpath(link)
    origin = os.path.realpath(os.path.dirname(link))
    return os.path.commonpath([target, origin]) == target


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether the entry is a folder to enter."""
    try:
        return entry.is_dir() and not (entry.is_symlink() and leads_back(entry.path))
    except OSError:  # a link to itself, for example
        return False


def _is_document(entry: os.DirEntry[str]) -> bool:
    """Whether the entry is a file, or a broken link, which deserves an error."""
    try:
        return entry.is_file() or not Path(entry).exists()
    except OSError:  # a link to itself, or into a folder without permission
        return True


def _open(name: str) -> BinaryIO:
    try:
        return Path(name).open("rb")
    except OSError as error:
        _fail(error)


def _open_stdin(stdin: BinaryIO | None) -> BinaryIO:
    if stdin is None and sys.stdin is None:  # `pathcast ... <&-`
        _fail(OSError("standard input is closed"))
    return stdin or sys.stdin.buffer


def _fail(error: OSError) -> NoReturn:
    raise DocumentError("unreadable", error.strerror or str(error)) from None
