"""Archives: what is in them comes out, and what is wrong with them is told; none of it needs Spark."""

from __future__ import annotations

import gzip
import io
import tarfile
import warnings
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.pipeline.sources.unpacking import UnpackedDocument, unpack

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=8
).filter(lambda name: name[0] not in "._")
MEMBERS = st.lists(st.tuples(NAMES, st.binary(max_size=50)), max_size=6)


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice, which is what we want
        for name, body in members:
            archive.writestr(name, body)
    return held.getvalue()


def tarred(members: list[tuple[str, bytes]], mode: str) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:  # type: ignore[call-overload]
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return held.getvalue()


@given(MEMBERS)
def test_what_goes_in_comes_out(members: list[tuple[str, bytes]]) -> None:
    for name, packed in (
        ("a.tar", tarred(members, "w")),
        ("a.TGZ", tarred(members, "w:gz")),
        ("x/a.tar.gz", tarred(members, "w:gz")),
    ):
        found = list(unpack(name, packed, 1000))
        assert [one.body for one in found] == [body for _, body in members]
        assert all(one.fault is None and one.id.startswith(f"{name}!") for one in found)
        assert len({one.id for one in found}) == len(members)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=50)), max_size=6))
def test_a_zip_with_names_that_are_there_twice(members: list[tuple[str, bytes]]) -> None:
    found = list(unpack("a.zip", zipped(members), 1000))
    assert [one.body for one in found] == [body for _, body in members]
    assert len({one.id for one in found}) == len(members)


def test_folders_and_links_are_no_documents() -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, kind in (("d", tarfile.DIRTYPE), ("l", tarfile.SYMTYPE), ("f", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
    assert list(unpack("a.tar", held.getvalue(), 1000)) == []
    assert list(unpack("a.zip", zipped([("d/", b"")]), 1000)) == []


def test_hidden_members_are_no_documents() -> None:
    names = ("__MACOSX/._a.xml", ".hidden", "a/_b/c.xml", "./a.xml", "a/b_.xml", "../c.xml")
    members = [(name, b"<a/>") for name in names]
    for name, packed in (("a.zip", zipped(members)), ("a.tar", tarred(members, "w"))):
        found = [one.id.partition("!")[2] for one in unpack(name, packed, 1000)]
        assert found == ["./a.xml", "a/b_.xml", "../c.xml"]


@pytest.mark.parametrize("name", ["a.zip", "a.tgz", "a.xml.gz"])
def test_no_more_is_read_than_allowed(name: str) -> None:
    bomb = b"<a>" + b" " * 50_000_000
    packed = {
        "a.zip": lambda: zipped([("x", b"<a/>"), ("b", bomb), ("y", b"<c/>")]),
        "a.tgz": lambda: tarred([("x", b"<a/>"), ("b", bomb), ("y", b"<c/>")], "w:gz"),
        "a.xml.gz": lambda: gzip.compress(bomb),
    }[name]()
    found = list(unpack(name, packed, 1000))
    assert [one.fault for one in found if one.fault] == [("size", "more than 1,000 bytes")]
    assert [one.body for one in found if one.body] == (
        [b"<a/>", b"<c/>"] if "!" in found[0].id else []
    )


@given(st.binary(max_size=200), st.sampled_from(["a.zip", "a.tar", "a.tgz", "a.gz"]))
def test_any_bytes_give_documents_or_a_fault(packed: bytes, name: str) -> None:
    for one in unpack(name, packed, 1000):
        assert isinstance(one, UnpackedDocument)
        assert (one.body is None) == (one.fault is not None)


@given(st.data())
def test_a_damaged_archive_keeps_what_came_before(data: st.DataObject) -> None:
    whole = tarred([(str(number), b"%d" % number * 300) for number in range(5)], "w:gz")
    cut = data.draw(st.integers(0, len(whole) - 1))
    found = list(unpack("a.tgz", whole[:cut], 10_000))
    good = [one.body for one in found if one.fault is None]
    assert good == [b"%d" % number * 300 for number in range(5)][: len(good)]
    assert len(good) == 5 or [one.fault for one in found[len(good) :]] != []


def test_an_encrypted_member() -> None:
    packed = bytearray(zipped([("a", b"<a/>"), ("b", b"<b/>")]))
    for start in (packed.find(b"PK\x03\x04"), packed.find(b"PK\x01\x02")):
        packed[start + (6 if packed[start + 2] == 3 else 8)] |= (
            1  # the first is said to be encrypted
        )
    first, second = unpack("a.zip", bytes(packed), 1000)
    assert first.fault is not None
    assert "encrypted" in first.fault[1]
    assert second.body == b"<b/>"
