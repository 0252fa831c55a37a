from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from pathcast.errors import DocumentError, FormatError
from pathcast.files import iter_documents


def names(top: Path, found: list[str]) -> list[str]:
    return [str(Path(name).relative_to(top)) for name in found]


def fill(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(f"<{Path(path).stem}/>")


def test_a_folder_is_every_file_below_it_in_order_hidden_ones_too(tmp_path: Path) -> None:
    fill(tmp_path, "b/z.xml", "b/.a.xml", "b/c/d.xml", "a.xml", "b.xml", "c", ".git/x", "b/é.xml")
    (tmp_path / "empty").mkdir()
    found = names(tmp_path, [one.name for one in iter_documents([tmp_path])])
    assert found == [
        ".git/x",
        "a.xml",
        "b/.a.xml",
        "b/c/d.xml",
        "b/z.xml",
        "b/é.xml",
        "b.xml",
        "c",
    ]


def test_names_are_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "d/a.xml")
    monkeypatch.chdir(tmp_path)
    found = [one.name for one in iter_documents(["./d/a.xml", "d/", "./d", "-"])]
    assert found == ["./d/a.xml", "d/a.xml", "./d/a.xml", "-"]


def test_bytes_are_read_when_asked_for(tmp_path: Path) -> None:
    fill(tmp_path, "a.xml", "b.xml")
    documents = iter_documents(
        [tmp_path / "a.xml", "-", tmp_path / "b.xml"], stdin=io.BytesIO(b"<c/>")
    )
    bodies = []
    for document in documents:
        bodies.append(document.read())
        (tmp_path / "b.xml").write_bytes(b"<later/>")
    assert bodies == [b"<a/>", b"<c/>", b"<later/>"]


def test_no_more_than_the_limit_and_a_byte_is_read(tmp_path: Path) -> None:
    fill(tmp_path, "aaaa.xml")
    stdin = io.BytesIO(b"x" * 100)
    documents = iter_documents([tmp_path / "aaaa.xml", "-"], limit=3, stdin=stdin)
    assert [document.read() for document in documents] == [b"<aaa", b"xxxx"]
    assert stdin.tell() == 4


@pytest.mark.parametrize("name", ["none.xml", "a\0b"])
def test_a_missing_argument_is_said_before_anything_is_read(tmp_path: Path, name: str) -> None:
    fill(tmp_path, "a.xml")
    with pytest.raises(FormatError, match=r"none\.xml: No such file|null"):
        iter_documents([str(tmp_path / "a.xml"), str(tmp_path) + "/" + name])


def test_standard_input_can_be_read_once() -> None:
    with pytest.raises(FormatError, match="twice"):
        iter_documents(["-", "-"])


def test_a_file_that_cannot_be_read_is_one_bad_document(tmp_path: Path) -> None:
    fill(tmp_path, "a.xml", "b.xml", "c.xml")
    (tmp_path / "ab.xml").symlink_to("nowhere")
    (tmp_path / "loop.xml").symlink_to("loop.xml")
    found: list[bytes | str] = []
    for document in iter_documents([tmp_path]):
        if document.name.endswith("/b.xml"):
            (tmp_path / "b.xml").unlink()
        try:
            found.append(document.read())
        except DocumentError as error:
            found.append(f"{error.kind}: {error.message}")
    assert found == [
        b"<a/>",
        "unreadable: No such file or directory",
        "unreadable: No such file or directory",
        b"<c/>",
        "unreadable: Too many levels of symbolic links",
    ]


def test_a_closed_folder_is_one_bad_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def closed(name: str) -> object:  # not by its permissions: root may read everything
        if name.endswith("/b"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(name)

    fill(tmp_path, "a.xml", "b/c.xml", "c.xml")
    monkeypatch.setattr(os, "scandir", closed)
    first, second, third = iter_documents([tmp_path])
    assert (first.read(), third.read()) == (b"<a/>", b"<c/>")
    with pytest.raises(DocumentError, match="Permission denied"):
        second.read()


def test_links_to_files_are_followed_and_links_to_folders_are_not(tmp_path: Path) -> None:
    fill(tmp_path, "far/a.xml", "top/b.xml")
    (tmp_path / "top/link.xml").symlink_to(tmp_path / "far/a.xml")
    (tmp_path / "top/folder").symlink_to(tmp_path / "far")
    (tmp_path / "top/circle").symlink_to(tmp_path / "top")
    (tmp_path / "door").symlink_to(tmp_path / "top")
    for top in ("top", "door"):
        found = names(tmp_path / top, [one.name for one in iter_documents([tmp_path / top])])
        assert found == ["b.xml", "link.xml"]


def test_pipes_below_a_folder_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert list(iter_documents([tmp_path])) == []
    assert [one.name for one in iter_documents([tmp_path / "pipe"])] == [str(tmp_path / "pipe")]


def test_folders_in_folders_in_folders(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(150):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.xml").write_bytes(b"<a/>")
    assert [one.read() for one in iter_documents([tmp_path])] == [b"<a/>"]
