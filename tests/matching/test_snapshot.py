from __future__ import annotations

import gzip
import hashlib
import os
import struct
import sys
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import FormatError
from pathcast.matching.compiled.core.labels import Paths, Vocabulary
from pathcast.matching.encode import PlanEncoder
from pathcast.matching.matcher import MAX_HOPS
from pathcast.matching.plan import plan
from pathcast.matching.snapshot import SavedPattern, Snapshot, read, write
from pathcast.matching.snapshot.plans import _DEEPEST, _FIXED
from pathcast.matching.snapshot.sections import _MAX_HOPS, _turned
from pathcast.xpath import parse
from pathcast.xpath.parser import MAX_STEPS

HEADER = 104
CHECKSUM = 32
ARRAYS = ("labels", "ends", "hops", "entries")


def ints(*values: int) -> bytes:
    return array("i", values).tobytes()


TINY = Snapshot(
    ids=["desk-7", 1, "1", 1 << 64],
    names=["news", "{http://example.org}*", "?go"],
    values=[("string", "=", "Zürich"), ("number", "<=", (10.5).hex())],
    labels=ints(6 << 3, 1 << 3 | 1),
    ends=ints(2, 2, 2, 2),
    hops=ints(5, -1, 0, 4095),
    entries=ints(-1, 0, 1, 1),
    patterns=[
        SavedPattern(
            "//news[n1:*][. <= 10.5]",
            (("n1", "http://example.org"),),
            None,
            False,
            False,
            (("twig", (((49,), (((56,), ()), ((12,), ()))),)),),
        ),
        SavedPattern(
            "//news[last() = 2]",
            (),
            "//news[last() = 2]",
            True,
            True,
            (("exact", (49, 4)), ("general", ((49,), ()))),
        ),
    ],
)
PINNED = (
    b"pathcast subscriptions\n\0"
    + struct.pack("<10Q", 1, 8, 16, 16, 16, 88, 38, 38, 65, 145)
    + bytes.fromhex("30000000 09000000")
    + bytes.fromhex("02000000 02000000 02000000 02000000")
    + bytes.fromhex("05000000 ffffffff 00000000 ff0f0000")
    + bytes.fromhex("ffffffff 00000000 01000000 01000000")
    + struct.pack("<12i", 1, 1, 3, 1, 56, 0, 1, 12, 0, 1, 49, 2)
    + struct.pack("<10i", 2, 0, 2, 49, 4, 2, 2, 1, 49, 0)
    + b'["desk-7",1,"1",["10000000000000000"]]'
    + b'["news","{http://example.org}*","?go"]'
    + b'[["string","=","Z\xc3\xbcrich"],["number","<=","0x1.5000000000000p+3"]]'
    + b'[["//news[n1:*][. <= 10.5]","//news[last() = 2]"],[null,"//news[last() = 2]"],'
    + b'[false,true],[false,true],[0,1],[[["n1","http://example.org"]],[]]]'
    + bytes.fromhex("a145eba4331e71ff6f1b0a37d8086046e22f152d6179d3ef6f67af1110bcc464")
)


def same(one: Snapshot, two: Snapshot) -> bool:
    def parts(value: Snapshot) -> tuple[object, ...]:
        arrays = [bytes(getattr(value, name)) for name in ARRAYS]
        kinds = [type(id) for id in value.ids]
        return value.ids, kinds, value.names, value.values, arrays, value.patterns

    return parts(one) == parts(two)


def round_trip(snapshot: Snapshot) -> Snapshot:
    with tempfile.TemporaryDirectory() as folder:
        write(snapshot, Path(folder) / "all")
        return read(Path(folder) / "all")


def written(snapshot: Snapshot) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(snapshot, Path(folder) / "all")
        return (Path(folder) / "all").read_bytes()


def refusal(data: bytes) -> FormatError:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all"
        path.write_bytes(data)
        with pytest.raises(FormatError) as raised:
            read(path)
    assert raised.value.hint
    return raised.value


def forged(sections: Sequence[bytes]) -> bytes:
    """A file as a stranger would make it: anything, with a checksum that is right."""
    lengths = struct.pack("<9Q", *map(len, sections))
    data = b"pathcast subscriptions\n\0" + struct.pack("<Q", 1) + lengths + b"".join(sections)
    return data + hashlib.blake2b(data, digest_size=CHECKSUM).digest()


def sections_of(data: bytes) -> list[bytes]:
    at, found = HEADER, []
    for length in struct.unpack_from("<9Q", data, 32):
        found.append(data[at : at + length])
        at += length
    return found


# what comes back

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda name: name[0] != "{" or "}" in name
)
NUMBERS = st.floats(allow_nan=False).map(lambda value: ("number", (value + 0.0).hex()))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
IDS = st.text(st.characters(), max_size=6) | st.integers() | st.integers(-(1 << 70), 1 << 70)


@st.composite
def value_tests(draw: st.DrawFn) -> tuple[str, str, str]:
    if draw(st.booleans()):
        return "string", draw(st.sampled_from(["=", "!="])), draw(TEXTS)
    op = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    return "number", op, draw(NUMBERS)[1]


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    values = draw(st.lists(value_tests(), unique=True, max_size=3))
    tests = st.integers(1, 5 + len(names))
    steps = st.builds(lambda test, edge: test << 3 | edge, tests, st.integers(0, 3))
    tested = st.integers(0, len(values) - 1).map(lambda code: code << 3 | 4)
    labels = st.lists(steps | tested if values else steps, max_size=3).map(tuple)
    leaves = st.tuples(labels, st.just(()))
    trees = st.recursive(
        leaves,
        lambda kids: st.tuples(labels, st.lists(kids, min_size=2, max_size=3).map(tuple)),
        max_leaves=6,
    )
    twigs = st.lists(trees, min_size=1, max_size=3).filter(lambda one: len(one) > 1 or one[0][1])
    alternatives = st.one_of(
        st.tuples(st.just("exact"), labels),
        st.tuples(st.just("general"), st.lists(labels, max_size=3).map(tuple)),
        st.tuples(st.just("twig"), twigs.map(tuple)),
    )
    entries = st.builds(
        SavedPattern,
        TEXTS,
        st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
        st.none() | TEXTS,
        st.booleans(),
        st.booleans(),
        st.lists(alternatives, max_size=3).map(tuple),
    )
    patterns = draw(st.lists(entries, max_size=3, unique_by=lambda one: (one.text, one.namespaces)))
    ids = draw(st.lists(IDS, max_size=6, unique=True))
    paths = [draw(st.lists(steps, max_size=4)) for _ in ids]
    ends = [sum(map(len, paths[: count + 1])) for count in range(len(ids))]
    return Snapshot(
        ids=ids,
        names=names,
        values=values,
        labels=ints(*[label for path in paths for label in path]),
        ends=ints(*ends),
        hops=ints(*[draw(st.integers(-1, MAX_HOPS - 1)) for _ in ids]),
        entries=ints(*[draw(st.integers(-1, len(patterns) - 1)) for _ in ids]),
        patterns=patterns,
    )


@given(snapshots())
def test_round_trip(snapshot: Snapshot) -> None:
    found = round_trip(snapshot)
    assert same(found, snapshot)
    vocabulary = Vocabulary()
    for name in found.names:
        vocabulary.code(name)
    paths = Paths(vocabulary)
    paths.fill(*[memoryview(getattr(found, name)) for name in ARRAYS])
    assert paths.dump() == tuple(getattr(snapshot, name) for name in ARRAYS)
    assert written(found) == written(snapshot)  # what was read is as good as what was written


def test_every_id_comes_back() -> None:
    pair = "\ud800\udc00"  # two halves, which are not the character that they make in UTF-16
    texts = ["", "1", "-1", "\0", "\n", "\\ud800", "\ud800", pair, "\U00010000", '["1"]', "é"]
    numbers = [0, 1, -1, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, 10**5000, -(10**5000)]
    ids: list[str | int] = [*texts, *numbers]
    nothing = ints(*[0] * len(ids))
    none = ints(*[-1] * len(ids))
    found = round_trip(Snapshot(ids, [], [], b"", nothing, none, none, []))
    assert found.ids == ids
    assert list(map(type, found.ids)) == list(map(type, ids))


def test_an_empty_matcher() -> None:
    nothing = Snapshot([], [], [], b"", b"", b"", b"", [])
    assert same(round_trip(nothing), nothing)


@pytest.mark.parametrize(
    "text",
    [
        "//a[b][c]",
        "//a[b]/c | //a[@x = 1] | //a[2]",
        "/a[b[c][d] and e = 'x']/f[. >= -0.5]",
        "/a[b = 0.5 and b != -0]",
        "//text()[. = 'x'] | //comment() | //processing-instruction('go')[. != 'y']",
        "//a[b] and /c[d]",
        "/ and //a[b]",
        "//n:*[@n:b]/n:c",
        "not(//a)",
        "/" + "/".join(f"a{place}[b]" for place in range(250)),
        "//a" + "[b][c" * 190 + "]" * 190,
    ],
)
def test_what_the_encoder_makes_is_taken(text: str) -> None:
    pattern = parse(text, {"n": "http://example.org/}n"})
    vocabulary = Vocabulary()
    alternatives = tuple(PlanEncoder(vocabulary).encode_plan(plan(pattern.condition)))
    entry = SavedPattern(
        pattern.text, pattern.namespaces, pattern.check, False, False, alternatives
    )
    one = Snapshot(
        [1], vocabulary.keys[6:], vocabulary.value_tests, b"", ints(0), ints(-1), ints(0), [entry]
    )
    (found,) = round_trip(one).patterns
    assert found == entry


def twig(depth: int) -> Any:
    branch: Any = ((8,), ())
    for _ in range(depth - 1):
        branch = ((8,), (((8,), ()), branch))
    return ("twig", (branch,))


def test_twigs_as_deep_as_the_language_allows() -> None:
    deep = replace(TINY.patterns[0], alternatives=(twig(MAX_STEPS),))
    found = round_trip(replace(TINY, patterns=[deep, TINY.patterns[1]]))
    branch: Any = found.patterns[0].alternatives[0][1]
    depth = 0
    while branch:
        branch, depth = branch[-1][1], depth + 1
    assert depth == MAX_STEPS
    deeper = replace(deep, alternatives=(twig(MAX_STEPS + 1),))
    with pytest.raises(FormatError, match="forks more than"):
        written(replace(TINY, patterns=[deeper, TINY.patterns[1]]))


def test_arrays_are_parts_of_one_buffer() -> None:
    found = round_trip(TINY)
    views = [memoryview(getattr(found, name)) for name in ARRAYS]
    assert {view.format for view in views} == {"i"}
    assert len({id(view.obj) for view in views}) == 1


def test_the_format_is_what_it_was() -> None:
    assert written(TINY) == PINNED
    assert same(round_trip(TINY), TINY)


def test_a_machine_with_the_other_order_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    # The same numbers, as such a machine has them in memory.
    turned = {name: _swapped(getattr(TINY, name)) for name in ARRAYS}
    other = "big" if sys.byteorder == "little" else "little"
    monkeypatch.setattr(sys, "byteorder", other)
    swapped = _turned(memoryview(turned["hops"]))
    assert bytes(swapped) == TINY.hops
    assert bytes(_turned(swapped)) == turned["hops"]


def _swapped(data: bytes | memoryview) -> bytes:
    found = array("i", bytes(data))
    found.byteswap()
    return found.tobytes()


# files that are none


@given(st.data(), snapshots())
def test_cut_anywhere(data: st.DataObject, snapshot: Snapshot) -> None:
    whole = written(snapshot)
    kept = data.draw(st.integers(0, len(whole) - 1))
    error = refusal(whole[:kept])
    assert error.kind == ("truncated" if kept else "format")


def test_tiny_cut_everywhere() -> None:
    for kept in range(1, len(PINNED)):
        assert refusal(PINNED[:kept]).kind == "truncated"


@given(st.data(), snapshots())
def test_any_bit_flipped(data: st.DataObject, snapshot: Snapshot) -> None:
    whole = bytearray(written(snapshot))
    place = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[place >> 3] ^= 1 << (place & 7)
    kinds = ("format", "version", "truncated", "trailing", "checksum")
    assert refusal(bytes(whole)).kind in kinds


def test_tiny_with_every_bit_flipped(deep: bool) -> None:
    for place in range(0, 8 * len(PINNED), 1 if deep else 13):
        changed = bytearray(PINNED)
        changed[place >> 3] ^= 1 << (place & 7)
        assert refusal(bytes(changed)).kind != "content"


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    assert refusal(data).kind in ("format", "truncated")


@given(st.binary(max_size=80))
def test_any_bytes_after_a_right_start(data: bytes) -> None:
    assert refusal(PINNED[:32] + data).kind in ("truncated", "trailing", "checksum")


def test_foreign_files() -> None:
    assert refusal(b"").message == "the file is empty"
    assert refusal(b"id,xpath\n" * 99).kind == "format"
    packed = refusal(gzip.compress(PINNED))
    assert (packed.kind, packed.hint) == ("format", "it looks like gzip: unpack it first")


@pytest.mark.parametrize("version", [0, 2, 1 << 40])
def test_other_versions(version: int) -> None:
    error = refusal(PINNED[:24] + struct.pack("<Q", version) + b"whatever that will be")
    assert error.kind == "version"
    assert f"version {version}, and only version 1 is known" in error.message


def test_something_behind_it() -> None:
    error = refusal(PINNED + b"\n")
    assert (error.kind, error.message) == (
        "trailing",
        "1 bytes follow after the end of the subscriptions",
    )


def test_lengths_are_not_believed() -> None:
    huge = bytearray(PINNED)
    struct.pack_into("<Q", huge, 32, (1 << 64) - 1)  # a reader that trusts it has no memory left
    assert refusal(bytes(huge)).kind == "truncated"


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", "a\0b"):
        with pytest.raises(FormatError) as raised:
            read(path)
        assert raised.value.kind == "file"


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "all"
    write(TINY, path)
    with pytest.raises(FormatError, match="two subscriptions"):
        write(replace(TINY, ids=["a", "a", "b", "c"]), path)
    assert path.read_bytes() == PINNED
    for bad in (tmp_path / "none" / "all", tmp_path / "all.gz"):
        with pytest.raises(FormatError) as raised:
            write(TINY, bad)
        assert raised.value.kind == "file"
    assert [one.name for one in tmp_path.iterdir()] == ["all"]


# contents that nobody should have written, with a right checksum

LABELS, ENDS, HOPS, ENTRIES, PLANS, IDS_AT, NAMES_AT, VALUES_AT, PATTERNS = range(9)
PLAN = ints(1, 1, 3, 1, 56, 0, 1, 12, 0, 1, 49, 2)
REST = ints(2, 0, 2, 49, 4, 2, 2, 1, 49, 0)


@pytest.mark.parametrize(
    ("section", "content", "said"),
    [
        (LABELS, b"123", "within a number"),
        (LABELS, ints(48), "labels that belong to no path"),
        (ENDS, ints(2, 2, 2), "4 ids, 3 paths"),
        (HOPS, ints(5, -2, 0, 0), "a hop"),
        (HOPS, ints(5, 0, 0, MAX_HOPS), "a hop"),
        (ENTRIES, ints(-1, 0, 1, 2), "an entry"),
        (ENTRIES, ints(-2, 0, 1, 1), "an entry"),
        (PLANS, b"", "cut off"),
        (PLANS, PLAN, "cut off"),
        (PLANS, PLAN + REST[:-4], "cut off"),
        (PLANS, PLAN + REST + ints(0), "belongs to no pattern"),
        (PLANS, PLAN + ints(-1), "below 0"),
        (PLANS, PLAN + ints((1 << 31) - 1), "cut off"),
        (PLANS, PLAN + ints(1, 0, (1 << 31) - 1), "cut off"),
        (PLANS, PLAN + ints(1, 2, (1 << 31) - 1), "cut off"),
        (PLANS, PLAN + ints(1, 1, (1 << 31) - 1), "cut off"),
        (PLANS, PLAN + ints(1, 3), "no known kind"),
        (PLANS, PLAN + ints(1, 0, 1, 1), "a label that is none: 1"),
        (PLANS, PLAN + ints(1, 0, 1, 9 << 3), "a label"),
        (PLANS, PLAN + ints(1, 0, 1, 2 << 3 | 4), "a label"),
        (PLANS, PLAN + ints(1, 0, 1, 49 | 4), "a label"),
        (PLANS, PLAN + ints(1, 0, 1, 1 << 3 | 5), "a label"),
        (PLANS, PLAN + ints(1, 1, 0), "never forks"),
        (PLANS, PLAN + ints(1, 1, 1, 1, 49, 0), "never forks"),
        (PLANS, PLAN + ints(1, 1, 2, 1, 49, 0, 1, 49, 1), "a fork that is none"),
        (PLANS, PLAN + ints(1, 1, 2, 1, 49, 0, 1, 49, 2), "a fork that is none"),
        (IDS_AT, b"", "not the JSON"),
        (IDS_AT, b"\xff", "not the JSON"),
        (IDS_AT, b'{"a":1}', "not a list"),
        (IDS_AT, b"[" * 100_000, "not the JSON"),
        (IDS_AT, b"[" + b"9" * 10_000 + b"]", "not the JSON"),
        (IDS_AT, b"[1,2,3,4.0]", "4.0 among numbers"),
        (IDS_AT, b"[1,2,3,NaN]", "NaN among numbers"),
        (IDS_AT, b"[1,2,3,true]", "neither a text"),
        (IDS_AT, b"[1,2,3,null]", "neither a text"),
        (IDS_AT, b"[1,2,3,{}]", "neither a text"),
        (IDS_AT, b"[1,2,3]", "3 ids"),
        (IDS_AT, b"[1,2,3,1]", "two subscriptions"),
        (IDS_AT, b'["a","\\u0061",3,1]', "two subscriptions"),
        (IDS_AT, b'[1,2,3,["1"]]', "a large id"),
        (IDS_AT, b"[1,2,3,[]]", "a large id"),
        (IDS_AT, b"[1,2,3,[[]]]", "a large id"),
        (IDS_AT, b'[1,2,3,["xyz"]]', "a large id"),
        (IDS_AT, b'[1,2,["10000000000000000"],["0x10000000000000000"]]', "two subscriptions"),
        (NAMES_AT, b'["a","b","a"]', "two numbers"),
        (NAMES_AT, b'["a","b",""]', "not a text"),
        (NAMES_AT, b'["a","b",1]', "not a text"),
        (NAMES_AT, b'["a","b","{c"]', "half a namespace"),
        (NAMES_AT, b'["a","b","\\ud800"]', "half a surrogate pair"),
        (NAMES_AT, b'["a","b","\xed\xa0\x80"]', "not the JSON"),
        (NAMES_AT, b'["a"]', "a label"),
        (VALUES_AT, b'[["string","=","a"]]', "a label"),
        (VALUES_AT, b'[["string","=","a"],["string","=","a"]]', "two numbers"),
        (VALUES_AT, b'[["string","<","a"]]', "a value test"),
        (VALUES_AT, b'[["contains","=","a"]]', "a value test"),
        (VALUES_AT, b'[["number","=",1]]', "a value test"),
        (VALUES_AT, b'[["number","="]]', "a value test"),
        (VALUES_AT, b'[[[],"=","a"]]', "a value test"),
        (VALUES_AT, b'["=aa"]', "a value test"),
        (VALUES_AT, b'[["number","=","nan"]]', "a number that is none"),
        (VALUES_AT, b'[["number","=","1"]]', "a number that is none"),
        (VALUES_AT, b'[["number","=","-0x0.0p+0"]]', "a number that is none"),
        (VALUES_AT, b'[["number","=","0x1p99999"]]', "a number that is none"),
        (VALUES_AT, b'[["number","=","one"]]', "a number that is none"),
        (VALUES_AT, b'[["string","=","\\udfff"]]', "half a surrogate pair"),
        (PATTERNS, b"[]", "six columns"),
        (PATTERNS, b"[[],[],[],[],[],1]", "something else"),
        (PATTERNS, b"[[],[],[],[],[1.0],[]]", "not the JSON"),
        (PATTERNS, b"[[],[],[],[],[true],[]]", "something else"),
        (PATTERNS, b'[["a"],[null],[false],[1],[0],[[]]]', "something else"),
        (PATTERNS, b'[["a"],[null],[false],[],[0],[[]]]', "different lengths"),
        (PATTERNS, b'[["a"],[null],[false],[true],[1],[[]]]', "namespaces are missing"),
        (PATTERNS, b'[["a"],[null],[false],[true],[-1],[[]]]', "namespaces are missing"),
        (PATTERNS, b'[["a"],[null],[false],[true],[0],[["n"]]]', "a namespace that"),
        (PATTERNS, b'[["a"],[null],[false],[true],[0],[[["n",1]]]]', "a namespace that"),
        (PATTERNS, b'[["\\ud800"],[null],[false],[true],[0],[[]]]', "half a surrogate pair"),
        (PATTERNS, b'[["a"],["\\ud800"],[false],[true],[0],[[]]]', "half a surrogate pair"),
        (PATTERNS, b'[["a"],[null],[false],[true],[0],[[["n","\\udddd"]]]]', "half a surrogate"),
        (
            PATTERNS,
            b'[["a","a"],[null,"b"],[false,false],[true,true],[0,0],[[]]]',
            "two entries",
        ),
    ],
)
def test_forged_contents(section: int, content: bytes, said: str) -> None:
    sections = sections_of(PINNED)
    sections[section] = content
    error = refusal(forged(sections))
    assert error.kind == "content"
    assert said in error.message


@given(st.data(), st.integers(0, 8))
def test_forged_at_random(data: st.DataObject, section: int) -> None:
    """Whatever stands there, it is refused or it is a snapshot whose numbers are all within bounds."""
    sections = sections_of(PINNED)
    changed = bytearray(sections[section])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.integers(0, 255) | st.sampled_from(b'[]",0129'))
    sections[section] = bytes(changed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all"
        path.write_bytes(forged(sections))
        found: Snapshot | FormatError
        try:
            found = read(path)
        except FormatError as error:
            found = error
    if isinstance(found, FormatError):
        assert found.kind == "content"
        return
    assert len(found.ends) == len(found.hops) == len(found.entries) == len(found.ids)
    assert all(-1 <= entry < len(found.patterns) for entry in memoryview(found.entries))
    for entry in found.patterns:
        for kind, what in entry.alternatives:
            _check(kind, what, len(found.names), len(found.values))


def _check(kind: str, what: Any, names: int, values: int) -> None:
    """The dumb twin: what the automaton relies on, by recursion."""

    def labels(path: Any) -> None:
        for label in path:
            edge, code = label % 8, label // 8
            assert 0 <= code < values if edge == 4 else edge < 4 and 1 <= code < 6 + names

    def tree(branch: Any) -> None:
        labels(branch[0])
        assert len(branch[1]) != 1
        each(branch[1], tree)

    def each(many: Any, check: Callable[[Any], None]) -> None:
        for one in many:
            check(one)

    if kind == "exact":
        labels(what)
    elif kind == "general":
        each(what, labels)
    else:
        assert kind == "twig"
        assert len(what) > 1 or what[0][1]
        each(what, tree)


def test_limits_are_those_of_their_owners() -> None:
    assert _MAX_HOPS == MAX_HOPS
    assert _DEEPEST == MAX_STEPS
    assert len(Vocabulary().keys) == _FIXED
