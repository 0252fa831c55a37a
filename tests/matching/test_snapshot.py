"""Tests of snapshot files: round trips, damage, forged content, and files of earlier versions."""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
import sys
import tempfile
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import FormatError
from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.matching.encode import PlanEncoder
from pathcast.matching.engine import EngineName
from pathcast.matching.matcher import MAX_HOPS
from pathcast.matching.plan import plan
from pathcast.matching.snapshot import SavedPattern, Snapshot, read, write
from pathcast.matching.snapshot.plan_codes import _FIRST_NAME_CODE, _MAX_TWIG_DEPTH
from pathcast.matching.snapshot.sections import _MAX_HOPS, _swap_bytes
from pathcast.xpath import parse
from pathcast.xpath.parser import MAX_STEPS
from tests.matching.engines import ENGINES

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


def is_same(left: Snapshot, right: Snapshot) -> bool:
    def fields(snapshot: Snapshot) -> tuple[object, ...]:
        arrays = [bytes(getattr(snapshot, name)) for name in ARRAYS]
        types = [type(id) for id in snapshot.ids]
        return (snapshot.ids, types, snapshot.names, snapshot.values, arrays, snapshot.patterns)

    return fields(left) == fields(right)


def round_trip(snapshot: Snapshot) -> Snapshot:
    with tempfile.TemporaryDirectory() as folder:
        write(snapshot, Path(folder) / "all")
        return read(Path(folder) / "all")


def file_bytes(snapshot: Snapshot) -> bytes:
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


def forge(sections: Sequence[bytes]) -> bytes:
    """Return a file with arbitrary sections and a right checksum."""
    lengths = struct.pack("<9Q", *map(len, sections))
    data = b"pathcast subscriptions\n\0" + struct.pack("<Q", 1) + lengths + b"".join(sections)
    return data + hashlib.blake2b(data, digest_size=CHECKSUM).digest()


def sections_of(data: bytes) -> list[bytes]:
    start, sections = HEADER, []
    for length in struct.unpack_from("<9Q", data, 32):
        sections.append(data[start : start + length])
        start += length
    return sections


# round trips

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
    value_labels = st.integers(0, len(values) - 1).map(lambda code: code << 3 | 4)
    labels = st.lists(steps | value_labels if values else steps, max_size=3).map(tuple)
    leaves = st.tuples(labels, st.just(()))
    trees = st.recursive(
        leaves,
        lambda kids: st.tuples(labels, st.lists(kids, min_size=2, max_size=3).map(tuple)),
        max_leaves=6,
    )
    twigs = st.lists(trees, min_size=1, max_size=3).filter(
        lambda branches: len(branches) > 1 or branches[0][1]
    )
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
    patterns = draw(
        st.lists(entries, max_size=3, unique_by=lambda saved: (saved.text, saved.namespaces))
    )
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
    loaded = round_trip(snapshot)
    assert is_same(loaded, snapshot)
    vocabulary = Vocabulary()
    for name in loaded.names:
        vocabulary.code(name)
    paths = LinearPaths(vocabulary)
    paths.load(*[memoryview(getattr(loaded, name)) for name in ARRAYS])
    assert paths.dump() == tuple(getattr(snapshot, name) for name in ARRAYS)
    assert file_bytes(loaded) == file_bytes(snapshot)


def test_every_str_and_int_id_round_trips() -> None:
    pair = "\ud800\udc00"  # two lone surrogates, not the character that they form in UTF-16
    texts = ["", "1", "-1", "\0", "\n", "\\ud800", "\ud800", pair, "\U00010000", '["1"]', "é"]
    numbers = [0, 1, -1, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, 10**5000, -(10**5000)]
    ids: list[str | int] = [*texts, *numbers]
    ends = ints(*[0] * len(ids))
    none = ints(*[-1] * len(ids))
    loaded = round_trip(Snapshot(ids, [], [], b"", ends, none, none, []))
    assert loaded.ids == ids
    assert list(map(type, loaded.ids)) == list(map(type, ids))


def test_empty_snapshot_round_trips() -> None:
    empty = Snapshot([], [], [], b"", b"", b"", b"", [])
    assert is_same(round_trip(empty), empty)


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
        "/" + "/".join(f"a{number}[b]" for number in range(250)),
        "//a" + "[b][c" * 190 + "]" * 190,
    ],
)
def test_every_encoded_plan_is_accepted(text: str) -> None:
    pattern = parse(text, {"n": "http://example.org/}n"})
    vocabulary = Vocabulary()
    alternatives = tuple(PlanEncoder(vocabulary).encode_plan(plan(pattern.condition)))
    entry = SavedPattern(
        pattern.text, pattern.namespaces, pattern.check, False, False, alternatives
    )
    snapshot = Snapshot(
        [1], vocabulary.keys[6:], vocabulary.value_tests, b"", ints(0), ints(-1), ints(0), [entry]
    )
    (loaded,) = round_trip(snapshot).patterns
    assert loaded == entry


def test_a_saved_residual_that_the_engine_decides_now_is_planned_again(tmp_path: Path) -> None:
    """An earlier version left normalize-space() to libxml2, and saved the plan of the skeleton."""
    text = "//a[normalize-space(.) = 'x']"
    vocabulary = Vocabulary()
    skeleton = tuple(PlanEncoder(vocabulary).encode_plan(plan(parse("//a").condition)))
    check = f"boolean(/self::node()[{text}])"
    entry = SavedPattern(text, (), check, False, False, skeleton)
    file = tmp_path / "old.snapshot"
    file.write_bytes(
        file_bytes(Snapshot([7], vocabulary.keys[6:], [], b"", ints(0), ints(-1), ints(0), [entry]))
    )
    for engine in ENGINES:
        matcher = Matcher.load(file, engine=engine)
        assert list(matcher.match(b"<r><a> x </a></r>")) == [7]
        assert list(matcher.match(b"<r><a>y</a></r>")) == []


def twig(depth: int) -> Any:
    branch: Any = ((8,), ())
    for _ in range(depth - 1):
        branch = ((8,), (((8,), ()), branch))
    return ("twig", (branch,))


def test_twig_depth_limit_is_that_of_the_language() -> None:
    deep = replace(TINY.patterns[0], alternatives=(twig(MAX_STEPS),))
    loaded = round_trip(replace(TINY, patterns=[deep, TINY.patterns[1]]))
    branch: Any = loaded.patterns[0].alternatives[0][1]
    depth = 0
    while branch:
        branch, depth = branch[-1][1], depth + 1
    assert depth == MAX_STEPS
    deeper = replace(deep, alternatives=(twig(MAX_STEPS + 1),))
    with pytest.raises(FormatError, match="more than 1000 branch points"):
        file_bytes(replace(TINY, patterns=[deeper, TINY.patterns[1]]))


def test_arrays_are_views_of_one_buffer() -> None:
    loaded = round_trip(TINY)
    views = [memoryview(getattr(loaded, name)) for name in ARRAYS]
    assert {view.format for view in views} == {"i"}
    assert len({id(view.obj) for view in views}) == 1


def test_format_is_pinned() -> None:
    assert file_bytes(TINY) == PINNED
    assert is_same(round_trip(TINY), TINY)


def test_other_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The integers of TINY, as a machine of the other byte order holds them in memory."""
    native = byteswap(TINY.hops)
    other = "big" if sys.byteorder == "little" else "little"
    monkeypatch.setattr(sys, "byteorder", other)
    swapped = _swap_bytes(memoryview(native))
    assert bytes(swapped) == TINY.hops
    assert bytes(_swap_bytes(swapped)) == native


def byteswap(data: bytes | memoryview) -> bytes:
    values = array("i", bytes(data))
    values.byteswap()
    return values.tobytes()


# files of earlier versions

OLD_SNAPSHOTS = Path(__file__).parent / "snapshots"
STORM = (
    b"<news date='1'><item lang='en'><title>Storm</title><price>20</price>"
    b"<p><person role='host'/></p></item><item><title>Calm</title></item></news>"
)
NAMESPACED = (
    b"<news><draft/><p:item xmlns:p='urn:p' xmlns:q='urn:q' q:lang='de'/>"
    b"<!-- comment --><?style x?></news>"
)
NESTED = b"<item><title>Storm</title><p:item xmlns:p='urn:p'/></item>"


@pytest.mark.parametrize("engine", ENGINES)
def test_snapshot_of_format_1_loads_and_matches(engine: EngineName) -> None:
    """The file was written before packages, classes and columns were renamed.

    It holds linear paths, value tests, a twig with two ids, a union, a position, a negation, a
    count, two residuals, namespaces and hops, under str and int ids:

        linear        /news/item/title                                          hop 2
        7             //item//person
        -(1 << 70)    /news/@date                                               hop 0
        namespace     //p:item/@q:lang                                          hop 4095
        string-value  //item[@lang = 'en']                                      hop 5
        8             //price[. > 10]                                           hop 1
        twig          /news/item[title][price < 100]//person[@role != 'guest']  hop 2
        twig-again    the same, with its predicates exchanged                   hop 3
        union         //cup | //item[title and price]
        position      /news/item[2]/title
        negation      not(//draft)                                              hop 1
        count         /news[count(item) >= 2]
        residual      //item[price * 2 > 30]                                    hop 6
        9             //item[string-length(title) = 5]/p:item
        instruction   //processing-instruction('style')
        \\ud800 ...    //comment()
    """
    matcher = Matcher.load(OLD_SNAPSHOTS / "format-1.snapshot", engine=engine)
    assert len(matcher) == 16
    assert list(matcher.match(STORM)) == [
        "linear",
        7,
        -(1 << 70),
        "string-value",
        8,
        "twig",
        "twig-again",
        "union",
        "position",
        "negation",
        "count",
        "residual",
    ]
    assert list(matcher.match_hops(STORM)) == [0, 1, 2, 3, 5, 6]
    surrogate = "\ud800 half a surrogate pair"
    assert list(matcher.match(NAMESPACED)) == ["namespace", "instruction", surrogate]
    assert list(matcher.match_hops(NAMESPACED)) == [4095]
    assert list(matcher.match(b"<cup/>")) == ["union", "negation"]
    assert list(matcher.match(NESTED)) == ["negation", 9]


def test_snapshot_of_format_1_is_written_again_unchanged(tmp_path: Path) -> None:
    old = OLD_SNAPSHOTS / "format-1.snapshot"
    Matcher.load(old, engine="core").save(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == old.read_bytes()


@pytest.mark.parametrize("version", [0, 2, 1 << 40])
def test_other_versions_are_refused_by_number(version: int) -> None:
    error = refusal(PINNED[:24] + struct.pack("<Q", version) + b"content of another version")
    assert error.kind == "version"
    assert f"version {version}, and only version 1 is known" in error.message


# damaged and foreign files


@given(st.data(), snapshots())
def test_truncation_is_detected(data: st.DataObject, snapshot: Snapshot) -> None:
    intact = file_bytes(snapshot)
    length = data.draw(st.integers(0, len(intact) - 1))
    error = refusal(intact[:length])
    assert error.kind == ("truncated" if length else "format")


def test_every_truncation_of_tiny_is_detected() -> None:
    for length in range(1, len(PINNED)):
        assert refusal(PINNED[:length]).kind == "truncated"


@given(st.data(), snapshots())
def test_a_flipped_bit_is_detected(data: st.DataObject, snapshot: Snapshot) -> None:
    damaged = bytearray(file_bytes(snapshot))
    bit = data.draw(st.integers(0, 8 * len(damaged) - 1))
    damaged[bit >> 3] ^= 1 << (bit & 7)
    kinds = ("format", "version", "truncated", "trailing", "checksum")
    assert refusal(bytes(damaged)).kind in kinds


def test_every_flipped_bit_of_tiny_is_detected(deep: bool) -> None:
    for bit in range(0, 8 * len(PINNED), 1 if deep else 13):
        damaged = bytearray(PINNED)
        damaged[bit >> 3] ^= 1 << (bit & 7)
        assert refusal(bytes(damaged)).kind != "content"


@given(st.binary())
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    assert refusal(data).kind in ("format", "truncated")


@given(st.binary(max_size=80))
def test_arbitrary_bytes_after_a_valid_header_are_refused(data: bytes) -> None:
    assert refusal(PINNED[:32] + data).kind in ("truncated", "trailing", "checksum")


def test_foreign_files_are_refused() -> None:
    assert refusal(b"").message == "the file is empty"
    assert refusal(b"id,xpath\n" * 99).kind == "format"
    packed = refusal(gzip.compress(PINNED))
    assert (packed.kind, packed.hint) == ("format", "it looks like gzip: unpack it first")


def test_trailing_bytes_are_refused() -> None:
    error = refusal(PINNED + b"\n")
    assert (error.kind, error.message) == (
        "trailing",
        "1 bytes follow after the end of the subscriptions",
    )


def test_a_forged_length_allocates_nothing() -> None:
    huge = bytearray(PINNED)
    struct.pack_into("<Q", huge, 32, (1 << 64) - 1)  # a reader that trusts it runs out of memory
    assert refusal(bytes(huge)).kind == "truncated"


def test_paths_that_are_not_regular_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", "a\0b"):
        with pytest.raises(FormatError) as raised:
            read(path)
        assert raised.value.kind == "file"


def test_write_is_atomic(tmp_path: Path) -> None:
    path = tmp_path / "all"
    write(TINY, path)
    with pytest.raises(FormatError, match="two subscriptions"):
        write(replace(TINY, ids=["a", "a", "b", "c"]), path)
    assert path.read_bytes() == PINNED
    for bad in (tmp_path / "none" / "all", tmp_path / "all.gz"):
        with pytest.raises(FormatError) as raised:
            write(TINY, bad)
        assert raised.value.kind == "file"
    assert [path.name for path in tmp_path.iterdir()] == ["all"]


# forged content with a right checksum

LABELS, ENDS, HOPS, ENTRIES, PLANS, IDS_AT, NAMES_AT, VALUES_AT, PATTERNS = range(9)
FIRST_PLAN = ints(1, 1, 3, 1, 56, 0, 1, 12, 0, 1, 49, 2)
SECOND_PLAN = ints(2, 0, 2, 49, 4, 2, 2, 1, 49, 0)


@pytest.mark.parametrize(
    ("section", "content", "message"),
    [
        (LABELS, b"123", "within a number"),
        (LABELS, ints(48), "labels that belong to no path"),
        (ENDS, ints(2, 2, 2), "4 ids, 3 paths"),
        (HOPS, ints(5, -2, 0, 0), "a hop"),
        (HOPS, ints(5, 0, 0, MAX_HOPS), "a hop"),
        (ENTRIES, ints(-1, 0, 1, 2), "an entry"),
        (ENTRIES, ints(-2, 0, 1, 1), "an entry"),
        (PLANS, b"", "cut off"),
        (PLANS, FIRST_PLAN, "cut off"),
        (PLANS, FIRST_PLAN + SECOND_PLAN[:-4], "cut off"),
        (PLANS, FIRST_PLAN + SECOND_PLAN + ints(0), "belongs to no pattern"),
        (PLANS, FIRST_PLAN + ints(-1), "below 0"),
        (PLANS, FIRST_PLAN + ints((1 << 31) - 1), "cut off"),
        (PLANS, FIRST_PLAN + ints(1, 0, (1 << 31) - 1), "cut off"),
        (PLANS, FIRST_PLAN + ints(1, 2, (1 << 31) - 1), "cut off"),
        (PLANS, FIRST_PLAN + ints(1, 1, (1 << 31) - 1), "cut off"),
        (PLANS, FIRST_PLAN + ints(1, 3), "unknown form"),
        (PLANS, FIRST_PLAN + ints(1, 0, 1, 1), "an invalid label: 1"),
        (PLANS, FIRST_PLAN + ints(1, 0, 1, 9 << 3), "an invalid label"),
        (PLANS, FIRST_PLAN + ints(1, 0, 1, 2 << 3 | 4), "an invalid label"),
        (PLANS, FIRST_PLAN + ints(1, 0, 1, 49 | 4), "an invalid label"),
        (PLANS, FIRST_PLAN + ints(1, 0, 1, 1 << 3 | 5), "an invalid label"),
        (PLANS, FIRST_PLAN + ints(1, 1, 0), "without a branch point"),
        (PLANS, FIRST_PLAN + ints(1, 1, 1, 1, 49, 0), "without a branch point"),
        (PLANS, FIRST_PLAN + ints(1, 1, 2, 1, 49, 0, 1, 49, 1), "an invalid branch point"),
        (PLANS, FIRST_PLAN + ints(1, 1, 2, 1, 49, 0, 1, 49, 2), "an invalid branch point"),
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
        (IDS_AT, b'[1,2,3,["1"]]', "an invalid large id"),
        (IDS_AT, b"[1,2,3,[]]", "an invalid large id"),
        (IDS_AT, b"[1,2,3,[[]]]", "an invalid large id"),
        (IDS_AT, b'[1,2,3,["xyz"]]', "an invalid large id"),
        (IDS_AT, b'[1,2,["10000000000000000"],["0x10000000000000000"]]', "two subscriptions"),
        (NAMES_AT, b'["a","b","a"]', "two numbers"),
        (NAMES_AT, b'["a","b",""]', "not a text"),
        (NAMES_AT, b'["a","b",1]', "not a text"),
        (NAMES_AT, b'["a","b","{c"]', "half a namespace"),
        (NAMES_AT, b'["a","b","\\ud800"]', "half a surrogate pair"),
        (NAMES_AT, b'["a","b","\xed\xa0\x80"]', "not the JSON"),
        (NAMES_AT, b'["a"]', "an invalid label"),
        (VALUES_AT, b'[["string","=","a"]]', "an invalid label"),
        (VALUES_AT, b'[["string","=","a"],["string","=","a"]]', "two numbers"),
        (VALUES_AT, b'[["string","<","a"]]', "a value test"),
        (VALUES_AT, b'[["contains","=","a"]]', "a value test"),
        (VALUES_AT, b'[["number","=",1]]', "a value test"),
        (VALUES_AT, b'[["number","="]]', "a value test"),
        (VALUES_AT, b'[[[],"=","a"]]', "a value test"),
        (VALUES_AT, b'["=aa"]', "a value test"),
        (VALUES_AT, b'[["number","=","nan"]]', "an invalid number"),
        (VALUES_AT, b'[["number","=","1"]]', "an invalid number"),
        (VALUES_AT, b'[["number","=","-0x0.0p+0"]]', "an invalid number"),
        (VALUES_AT, b'[["number","=","0x1p99999"]]', "an invalid number"),
        (VALUES_AT, b'[["number","=","one"]]', "an invalid number"),
        (VALUES_AT, b'[["string","=","\\udfff"]]', "half a surrogate pair"),
        (VALUES_AT, b'[["functions","","[]"]]', "unknown string functions"),
        (VALUES_AT, b'[["functions","","x"]]', "unknown string functions"),
        (VALUES_AT, b'[["functions","","[[\\"upper-case\\"]]"]]', "unknown string functions"),
        (VALUES_AT, b'[["functions","","[ [\\"normalize-space\\"]]"]]', "unknown string"),
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
def test_forged_content_is_refused(section: int, content: bytes, message: str) -> None:
    sections = sections_of(PINNED)
    sections[section] = content
    error = refusal(forge(sections))
    assert error.kind == "content"
    assert message in error.message


@given(st.data(), st.integers(0, 8))
def test_random_content_is_refused_or_valid(data: st.DataObject, section: int) -> None:
    """A reader that accepts it returns a snapshot whose numbers are all within bounds."""
    sections = sections_of(PINNED)
    changed = bytearray(sections[section])
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(changed) - 1))
        changed[index] = data.draw(st.integers(0, 255) | st.sampled_from(b'[]",0129'))
    sections[section] = bytes(changed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all"
        path.write_bytes(forge(sections))
        result: Snapshot | FormatError
        try:
            result = read(path)
        except FormatError as error:
            result = error
    if isinstance(result, FormatError):
        assert result.kind == "content"
        return
    assert len(result.ends) == len(result.hops) == len(result.entries) == len(result.ids)
    assert all(-1 <= entry < len(result.patterns) for entry in memoryview(result.entries))
    for pattern in result.patterns:
        for form, codes in pattern.alternatives:
            check_plan(form, codes, len(result.names), len(result.values))


def check_plan(form: str, codes: Any, names: int, values: int) -> None:
    """Check by recursion the properties that the NFA relies on: the oracle of `PlanReader`."""

    def check_labels(path: Any) -> None:
        for label in path:
            edge, code = label % 8, label // 8
            assert 0 <= code < values if edge == 4 else edge < 4 and 1 <= code < 6 + names

    def check_branch(branch: Any) -> None:
        check_labels(branch[0])
        assert len(branch[1]) != 1
        for child in branch[1]:
            check_branch(child)

    if form == "exact":
        check_labels(codes)
    elif form == "general":
        for path in codes:
            check_labels(path)
    else:
        assert form == "twig"
        assert len(codes) > 1 or codes[0][1]
        for branch in codes:
            check_branch(branch)


def test_limits_equal_those_of_their_sources() -> None:
    assert _MAX_HOPS == MAX_HOPS
    assert _MAX_TWIG_DEPTH == MAX_STEPS
    assert len(Vocabulary().keys) == _FIRST_NAME_CODE
