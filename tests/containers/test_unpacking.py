"""Archives: members become documents, and errors become faults. No Spark needed."""

from __future__ import annotations

import gzip
import io
import tarfile
import warnings
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.containers.unpacking import UnpackedDocument, unpack

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=8
).filter(lambda name: name[0] not in "._")
MEMBERS = st.lists(st.tuples(NAMES, st.binary(max_size=50)), max_size=6)


def make_zip(members: list[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # duplicate names are intended
        for name, body in members:
            archive.writestr(name, body)
    return buffer.getvalue()


def make_tar(members: list[tuple[str, bytes]], mode: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return buffer.getvalue()


@given(MEMBERS)
def test_tar_roundtrip(members: list[tuple[str, bytes]]) -> None:
    for name, packed in (
        ("a.tar", make_tar(members, "w")),
        ("a.TGZ", make_tar(members, "w:gz")),
        ("x/a.tar.gz", make_tar(members, "w:gz")),
    ):
        documents = list(unpack(name, packed, 1000))
        assert [document.body for document in documents] == [body for _, body in members]
        assert all(
            document.fault is None and document.id.startswith(f"{name}!") for document in documents
        )
        assert len({document.id for document in documents}) == len(members)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=50)), max_size=6))
def test_zip_with_duplicate_names(members: list[tuple[str, bytes]]) -> None:
    documents = list(unpack("a.zip", make_zip(members), 1000))
    assert [document.body for document in documents] == [body for _, body in members]
    assert len({document.id for document in documents}) == len(members)


def test_folders_and_links_are_skipped() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (("d", tarfile.DIRTYPE), ("l", tarfile.SYMTYPE), ("f", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
    assert list(unpack("a.tar", buffer.getvalue(), 1000)) == []
    assert list(unpack("a.zip", make_zip([("d/", b"")]), 1000)) == []


def test_hidden_members_are_skipped() -> None:
    names = ("__MACOSX/._a.xml", ".hidden", "a/_b/c.xml", "./a.xml", "a/b_.xml", "../c.xml")
    members = [(name, b"<a/>") for name in names]
    for name, packed in (("a.zip", make_zip(members)), ("a.tar", make_tar(members, "w"))):
        documents = [document.id.partition("!")[2] for document in unpack(name, packed, 1000)]
        assert documents == ["./a.xml", "a/b_.xml", "../c.xml"]


@pytest.mark.parametrize("name", ["a.zip", "a.tgz", "a.xml.gz"])
def test_members_are_read_up_to_the_limit(name: str) -> None:
    bomb = b"<a>" + b" " * 50_000_000
    packed = {
        "a.zip": lambda: make_zip([("x", b"<a/>"), ("b", bomb), ("y", b"<c/>")]),
        "a.tgz": lambda: make_tar([("x", b"<a/>"), ("b", bomb), ("y", b"<c/>")], "w:gz"),
        "a.xml.gz": lambda: gzip.compress(bomb),
    }[name]()
    documents = list(unpack(name, packed, 1000))
    assert [document.fault for document in documents if document.fault] == [
        ("size", "more than 1,000 bytes")
    ]
    assert [document.body for document in documents if document.body] == (
        [b"<a/>", b"<c/>"] if "!" in documents[0].id else []
    )


@given(st.binary(max_size=200), st.sampled_from(["a.zip", "a.tar", "a.tgz", "a.gz"]))
def test_any_bytes_give_documents_or_faults(packed: bytes, name: str) -> None:
    for document in unpack(name, packed, 1000):
        assert isinstance(document, UnpackedDocument)
        assert (document.body is None) == (document.fault is not None)


@given(st.data())
def test_damaged_archive_keeps_earlier_members(data: st.DataObject) -> None:
    archive = make_tar([(str(number), b"%d" % number * 300) for number in range(5)], "w:gz")
    cut = data.draw(st.integers(0, len(archive) - 1))
    documents = list(unpack("a.tgz", archive[:cut], 10_000))
    good = [document.body for document in documents if document.fault is None]
    assert good == [b"%d" % number * 300 for number in range(5)][: len(good)]
    assert len(good) == 5 or [document.fault for document in documents[len(good) :]] != []


def test_encrypted_member() -> None:
    packed = bytearray(make_zip([("a", b"<a/>"), ("b", b"<b/>")]))
    for start in (packed.find(b"PK\x03\x04"), packed.find(b"PK\x01\x02")):
        packed[start + (6 if packed[start + 2] == 3 else 8)] |= 1  # mark the first as encrypted
    first, second = unpack("a.zip", bytes(packed), 1000)
    assert first.fault is not None
    assert "encrypted" in first.fault[1]
    assert second.body == b"<b/>"
