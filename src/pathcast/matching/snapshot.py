"""All subscriptions of a matcher in one file: what `Matcher.save` writes and `Matcher.load` reads.

    magic line, version, length of every section      104 bytes
    labels, ends, hops, entries, plans                int32, little-endian
    ids, names, values, patterns                      JSON in UTF-8
    checksum                                          blake2b (32 bytes) of everything before it

Subscriptions that are paths lie in the arrays as the core has them (see `core.labels`), so nothing is parsed again. Of
all others `patterns` has the text and `plans` the alternatives as plain numbers: an alternative is its kind, then one path, or
how many there are and those, or how many branches a twig has and those, each after what hangs at its end. So nothing nests,
and a file cannot exhaust the stack of whoever reads it. Equal content gives equal bytes.

Whoever writes a checksum can write anything, so a right one is not the end of the matter: every number that
will be an index is checked, here or (labels and ends) by `Paths.fill`. A length is compared with the file's size before anybody
believes it. What is written is read back first: a file that could not be loaded is never made.

Ids may be any str, halves of surrogate pairs included, and any int; those that no int64 can hold are written as
`["hex digits"]`, for which no number of digits is too large.

>>> import tempfile
>>> one = Snapshot(ids=["desk-7"], names=["news"], values=[], labels=b"\\x31\\0\\0\\0", ends=b"\\1\\0\\0\\0",
...     hops=b"\\2\\0\\0\\0", entries=b"\\xff" * 4, patterns=[])
>>> with tempfile.TemporaryDirectory() as folder:
...     write(one, folder + "/all.subscriptions")
...     found = read(folder + "/all.subscriptions")
>>> found.ids, list(found.labels), list(found.hops)
(['desk-7'], [49], [2])
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, cast

from pathcast.errors import FormatError
from pathcast.formats.draft import file_draft
from pathcast.matching.matches import Id
from pathcast.pattern import Cost, Pattern

__all__ = ["SavedEntry", "Snapshot", "read", "saved_entry", "snapshot_ints", "write"]

_MAGIC: Final = b"pathcast subscriptions\n\0"
_VERSION: Final = 1
_START: Final = struct.Struct("<24sQ")  # so much is the same in every version
_LENGTHS: Final = struct.Struct("<9Q")
_CHECKSUM: Final = 32
_ARRAYS: Final = 5  # so many sections are arrays, and they come first
_LARGE: Final = 1 << 63
_MOST_HOPS: Final = 4096
_FIXED: Final = 6  # tests that are no names have the numbers below this
_VALUE: Final = 4  # the edge of a value test
_DEEPEST: Final = 1000  # a pattern has at most so many steps, and each of them may fork
_KINDS: Final = ("exact", "twig", "general")
_OPS: Final = {"string": ("=", "!="), "number": ("=", "!=", "<", "<=", ">", ">=")}

_Labels: TypeAlias = tuple[int, ...]
_Tree: TypeAlias = "tuple[_Labels, tuple[_Tree, ...]]"
_Alternatives: TypeAlias = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """A pattern that is no path alone."""

    text: str
    namespaces: tuple[tuple[str, str], ...]
    check: str | None
    """The expression of its residual."""
    fears_long_runs: bool
    expensive: bool
    alternatives: _Alternatives
    """As `Encoder.alternatives` gives them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of a matcher, numbered from 0 without gaps. Arrays are of int32.

    `read` gives them as memoryviews of ints, all of them parts of one buffer.
    """

    ids: list[Id]
    names: list[str]
    """The keys of the vocabulary, from the first that is a name."""
    values: list[tuple[str, str, str]]
    """The value tests of the vocabulary."""
    labels: bytes | memoryview
    ends: bytes | memoryview
    hops: bytes | memoryview
    entries: bytes | memoryview
    """For every number its place in `patterns`, -1 if it is a path."""
    patterns: list[SavedEntry]


# files


def saved_entry(pattern: Pattern, alternatives: Iterable[tuple[str, object]]) -> SavedEntry:
    """A pattern with its plan, as it is saved."""
    return SavedEntry(
        pattern.text,
        pattern.namespaces,
        pattern.check,
        pattern.fears_long_runs,
        pattern.cost is Cost.EXPENSIVE,
        tuple(alternatives),
    )


def snapshot_ints(section: bytes | memoryview) -> memoryview:
    """An array of a snapshot as numbers."""
    return memoryview(section).cast("B").cast("i")


def write(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a snapshot, all or nothing; FormatError if it would not be read again, or cannot be written."""
    place = Path(path)
    if place.name.lower().endswith(".gz"):
        hint = "choose a name that does not end with .gz"
        raise FormatError("file", f"{place}: subscriptions are not packed", hint=hint)
    sections = _packed(snapshot)
    _unpacked(sections)
    start = _START.pack(_MAGIC, _VERSION) + _LENGTHS.pack(*map(len, sections))
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM)
    with file_draft(place) as stream:
        stream.write(start)
        for section in sections:
            checksum.update(section)
            stream.write(section)
        stream.write(checksum.digest())


def read(path: str | os.PathLike[str]) -> Snapshot:
    """The snapshot of a file; FormatError if there is none, or anything is wrong with it."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened: a pipe would wait
            hint = "name the file that Matcher.save wrote"
            raise FormatError("file", f"cannot read {os.fspath(path)}: it is no file", hint=hint)
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            start = stream.read(_START.size)
            _check_start(start)
            start += stream.read(_LENGTHS.size)
            lengths = _lengths(start, size)
            # Read, not mapped: whoever shortens a mapped file kills those who look at it.
            rest = stream.read(size - len(start))
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        said = (isinstance(error, OSError) and error.strerror) or str(error)
        raise FormatError("file", f"cannot read {os.fspath(path)}: {said}") from None
    if len(start) + len(rest) < size:  # it was shortened this very moment
        _truncated(len(start) + len(rest), size)
    body = memoryview(rest)
    checksum = hashlib.blake2b(start, digest_size=_CHECKSUM)
    checksum.update(body[:-_CHECKSUM])
    if checksum.digest() != body[-_CHECKSUM:]:
        raise FormatError(
            "checksum",
            "the checksum is wrong: the file was changed or damaged after it was written",
            hint="copy it again, or save the subscriptions again",
        )
    bounds = pairwise(accumulate(lengths, initial=0))
    return _unpacked([body[first:end] for first, end in bounds])


def _check_start(start: bytes) -> None:
    """Refuse what is no such file, or of a version that is not known here."""
    if not start or not _MAGIC.startswith(start[: len(_MAGIC)]):
        hint = "subscriptions that Matcher.save wrote are expected here"
        if start.startswith(b"\x1f\x8b"):
            hint = "it looks like gzip: unpack it first"
        found = "is not one of saved subscriptions" if start else "is empty"
        raise FormatError("format", f"the file {found}", hint=hint)
    if len(start) < _START.size:
        _truncated(len(start), None)
    _, version = _START.unpack(start)
    if version != _VERSION:
        raise FormatError(
            "version",
            f"the file is of version {version}, and only version {_VERSION} is known here",
            hint="use the pathcast that wrote it, or add the subscriptions here anew and save them",
        )


def _lengths(start: bytes, size: int) -> tuple[int, ...]:
    """The lengths of the sections, which fill the file."""
    if len(start) < _START.size + _LENGTHS.size:
        _truncated(len(start), None)
    lengths: tuple[int, ...] = _LENGTHS.unpack_from(start, _START.size)
    wanted = len(start) + sum(lengths) + _CHECKSUM
    if size < wanted:
        _truncated(size, wanted)
    if size > wanted:
        raise FormatError(
            "trailing",
            f"{size - wanted} bytes follow after the end of the subscriptions",
            hint="copy it again, or save the subscriptions again",
        )
    return lengths


def _truncated(size: int, wanted: int | None) -> NoReturn:
    of = "" if wanted is None else f" of {wanted}"
    raise FormatError(
        "truncated",
        f"the file ends after {size}{of} bytes",
        hint="copy it again, or save the subscriptions again",
    )


def _wrong(message: str) -> NoReturn:
    """The bytes are as they were written, but nobody should have written them."""
    hint = "save the subscriptions again with Matcher.save"
    raise FormatError("content", message, hint=hint)


# sections


def _packed(snapshot: Snapshot) -> list[memoryview]:
    """The sections of a file, in order."""
    patterns = snapshot.patterns
    parts: list[bytes | memoryview] = [
        snapshot.labels,
        snapshot.ends,
        snapshot.hops,
        snapshot.entries,
        _plans(one.alternatives for one in patterns).tobytes(),
    ]
    spaces: dict[tuple[tuple[str, str], ...], int] = {}
    columns = (
        [one.text for one in patterns],
        [one.check for one in patterns],
        [one.fears_long_runs for one in patterns],
        [one.expensive for one in patterns],
        [spaces.setdefault(one.namespaces, len(spaces)) for one in patterns],
        list(spaces),
    )
    ids = [
        id if isinstance(id, str) or -_LARGE <= id < _LARGE else [format(id, "x")]
        for id in snapshot.ids
    ]
    return [
        *[_turned(memoryview(part).cast("B")) for part in parts],
        _json(ids, "surrogatepass"),
        *[_json(part) for part in (snapshot.names, snapshot.values, columns)],
    ]


def _unpacked(sections: Sequence[memoryview]) -> Snapshot:
    """The other way; everything is checked but what `Paths.fill` looks at anyway."""
    if any(len(section) % 4 for section in sections[:_ARRAYS]):
        _wrong("an array ends within a number")
    labels, ends, hops, entries, plans = [
        _turned(section).cast("i") for section in sections[:_ARRAYS]
    ]
    ids, names, values, patterns = sections[_ARRAYS:]
    found = Snapshot(
        ids=_ids(_list(ids, "surrogatepass")),
        names=_names(_list(names)),
        values=_values(_list(values)),
        labels=labels,
        ends=ends,
        hops=hops,
        entries=entries,
        patterns=[],
    )
    count = len(found.ids)
    if not len(ends) == len(hops) == len(entries) == count:
        _wrong(f"{count} ids, {len(ends)} paths, {len(hops)} hops and {len(entries)} entries")
    if (ends[-1] if count else 0) != len(labels):
        _wrong("labels that belong to no path")
    if count and not -1 <= min(hops) <= max(hops) < _MOST_HOPS:
        _wrong(f"a hop that is not from 0 to {_MOST_HOPS - 1}")
    plan = _Plans(plans.tolist(), len(found.names), len(found.values))
    found.patterns.extend(_patterns(_list(patterns), plan))
    _check_entries(set(entries), found.patterns)
    return found


def _check_entries(used: set[int], patterns: Sequence[SavedEntry]) -> None:
    """Every entry is one, and no two that are used are of the same pattern."""
    used.discard(-1)
    if used and not 0 <= min(used) <= max(used) < len(patterns):
        _wrong("an entry that no pattern belongs to")
    keys = {(patterns[place].text, patterns[place].namespaces) for place in used}
    if len(keys) < len(used):
        _wrong("a pattern that has two entries")


def _turned(part: memoryview) -> memoryview:
    """From the machine's order of bytes to that of the file, and back."""
    if sys.byteorder == "little" or len(part) % 4:
        return part
    turned = array("i", bytes(part))
    turned.byteswap()
    return memoryview(turned).cast("B")


def _json(value: object, errors: str = "strict") -> memoryview:
    # Escapes would make two halves of a pair one character, so there are none.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return memoryview(text.encode(errors=errors))
    except UnicodeEncodeError:
        _wrong("half a surrogate pair outside of the ids")


def _list(section: memoryview, errors: str = "strict") -> list[Any]:
    try:
        text = str(section, "utf-8", errors)
        found = json.loads(text, parse_float=_no_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        _wrong(f"a section is not the JSON that it should be: {error}")
    if type(found) is not list:
        _wrong("a section is not a list")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} among numbers that are whole")


# what is in them


def _ids(found: list[Any]) -> list[Id]:
    kinds = set(map(type, found))
    if list in kinds:
        found = [_large(one) if type(one) is list else one for one in found]
        kinds = set(map(type, found))
    if not kinds <= {str, int}:
        _wrong("an id that is neither a text nor a whole number")
    if len(set(found)) < len(found):
        _wrong("an id that two subscriptions have")
    return found


def _large(found: list[Any]) -> int:
    """The number that stands as ["hex digits"]."""
    try:
        (text,) = found
        value = int(text, 16)
    except (TypeError, ValueError):
        value = 0
    if -_LARGE <= value < _LARGE:
        _wrong("a large id that is none")
    return value


def _names(found: list[Any]) -> list[str]:
    if not set(map(type, found)) <= {str} or not all(found):
        _wrong("a name that is not a text")
    if len(set(found)) < len(found):
        _wrong("a name that has two numbers")
    if any(name[0] == "{" and "}" not in name for name in found):
        _wrong("a name with half a namespace")
    _check_text(found)
    return found


def _values(found: list[Any]) -> list[tuple[str, str, str]]:
    tests = [_value(one) for one in found]
    if len(set(tests)) < len(tests):
        _wrong("a value test that has two numbers")
    _check_text(operand for _, _, operand in tests)
    return tests


def _value(found: Any) -> tuple[str, str, str]:
    match found:
        case [str(kind), str(op), str(operand)] if op in _OPS.get(kind, ()):
            if kind == "number" and not _is_number(operand):
                _wrong("a value test with a number that is none")
            return kind, op, operand
    _wrong("a value test that is not a kind, an operator and an operand")


def _is_number(text: str) -> bool:
    """Whether this is how a number is spelled; there is one way for each, so that equal ones are one."""
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        return False
    return not math.isnan(value) and (value + 0.0).hex() == text


def _check_text(texts: Iterable[str]) -> None:
    """Refuse what the core could not look for in a document: halves of surrogate pairs, which JSON can spell."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        _wrong("half a surrogate pair outside of the ids")


def _patterns(columns: list[Any], plan: _Plans) -> list[SavedEntry]:
    """Patterns; in columns, since there may be many."""
    kinds: tuple[set[type], ...] = ({str}, {str, type(None)}, {bool}, {bool}, {int}, {list})
    if len(columns) != len(kinds):
        _wrong("patterns that are not six columns")
    for column, allowed in zip(columns, kinds, strict=True):
        if type(column) is not list or not set(map(type, column)) <= allowed:
            _wrong("patterns with a column of something else")
    texts, checks, fears, expensive, spaces, distinct = columns
    if len({len(column) for column in columns[:-1]}) > 1:
        _wrong("patterns with columns of different lengths")
    if spaces and not 0 <= min(spaces) <= max(spaces) < len(distinct):
        _wrong("a pattern whose namespaces are missing")
    known = [tuple([_pair(pair) for pair in one]) for one in distinct]
    _check_text(texts)
    _check_text(filter(None, checks))
    _check_text(part for one in known for pair in one for part in pair)
    namespaces = [known[place] for place in spaces]
    alternatives = plan.all(len(texts))
    return list(map(SavedEntry, texts, namespaces, checks, fears, expensive, alternatives))


def _pair(found: Any) -> tuple[str, str]:
    match found:
        case [str(prefix), str(address)]:
            return prefix, address
    _wrong("a namespace that is not a prefix and an address")


# plans


def _plans(patterns: Iterable[_Alternatives]) -> array[int]:
    """The alternatives of patterns, as numbers in a row."""
    found = array("i")
    for alternatives in patterns:
        found.append(len(alternatives))
        for kind, what in alternatives:
            found.append(_KINDS.index(kind))
            if kind == "exact":
                _add_labels(found, cast(_Labels, what))
            elif kind == "general":
                paths = cast(tuple[_Labels, ...], what)
                found.append(len(paths))
                for path in paths:
                    _add_labels(found, path)
            else:
                _add_twig(found, cast(tuple[_Tree, ...], what))
    return found


def _add_labels(found: array[int], labels: _Labels) -> None:
    found.append(len(labels))
    found.extend(labels)


def _add_twig(found: array[int], branches: tuple[_Tree, ...]) -> None:
    waiting, ordered = list(branches), []
    while waiting:
        branch = waiting.pop()
        ordered.append(branch)
        waiting += branch[1]
    found.append(len(ordered))
    for labels, kids in reversed(ordered):  # so that what hangs at a branch comes before it
        _add_labels(found, labels)
        found.append(len(kids))


class _Plans:
    """Reads numbers in a row as alternatives. `names` and `values`: how many of them the labels may speak of.

    Whatever a number counts takes at least one number each, so a false one runs out of numbers soon.
    """

    __slots__ = ("_known", "_left", "_take", "_tests", "_values")

    def __init__(self, codes: list[int], names: int, values: int) -> None:
        if min(codes, default=0) < 0:
            _wrong("a plan with a number below 0")
        self._left = iter(codes)
        self._take = self._left.__next__
        self._tests = _FIXED + names
        self._values = values
        self._known: dict[_Labels, _Labels] = {}  # paths that were checked; equal ones are one

    def all(self, count: int) -> list[_Alternatives]:
        """The alternatives of so many patterns, after which nothing must be left."""
        try:
            found = [
                tuple([self._alternative() for _ in range(self._take())]) for _ in range(count)
            ]
        except StopIteration:
            _wrong("a plan that is cut off")
        if next(self._left, None) is not None:
            _wrong("a plan that belongs to no pattern")
        return found

    def _alternative(self) -> tuple[str, object]:
        kind = self._take()
        if kind >= len(_KINDS):
            _wrong("a plan of no known kind")
        if _KINDS[kind] == "exact":
            return "exact", self._labels(self._take())
        if _KINDS[kind] == "general":
            return "general", tuple([self._labels(self._take()) for _ in range(self._take())])
        return "twig", self._twig()

    def _labels(self, count: int) -> _Labels:
        found = tuple(islice(self._left, count))
        known = self._known.get(found)
        if known is None:
            for label in found:
                self._check_label(label)
            known = self._known[found] = found
        if len(found) < count:
            raise StopIteration
        return known

    def _check_label(self, label: int) -> None:
        edge, code = label & 7, label >> 3
        good = code < self._values if edge == _VALUE else edge < _VALUE and 0 < code < self._tests
        if not good:
            _wrong(f"a label that is none: {label}")

    def _twig(self) -> tuple[_Tree, ...]:
        """Branches; they fork somewhere, and where they fork there are two prongs at least: joins rely on it."""
        take = self._take
        found: list[_Tree] = []
        depths: list[int] = []
        for _ in range(take()):
            labels, count = self._labels(take()), take()
            if not count:
                found.append((labels, ()))
                depths.append(1)
                continue
            first = len(found) - count
            if first < 0 or count == 1:
                _wrong("a twig with a fork that is none")
            depth = 1 + max(depths[first:])
            if depth > _DEEPEST:
                _wrong(f"a twig that forks more than {_DEEPEST} times on one way")
            found[first:] = [(labels, tuple(found[first:]))]
            depths[first:] = [depth]
        if not found or (len(found) == 1 and not found[0][1]):
            _wrong("a twig that never forks")
        return tuple(found)
