"""The DOCUMENT arguments of commands: order, laziness, links and unreadable files."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from pathcast.errors import DocumentError, FormatError
from pathcast.files import iter_documents


def relative_names(folder: Path) -> list[str]:
    return [str(Path(file.name).relative_to(folder)) for file in iter_documents([folder])]


def create_files(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"<{Path(path).stem}/>")


def test_folder_yields_every_file_in_order_without_hidden_ones(tmp_path: Path) -> None:
    visible = ["a.xml", "b/c/d.xml", "b/z.xml", "b/é.xml", "b.xml", "c"]
    create_files(tmp_path, *reversed(visible), "b/.a.xml", ".git/x", "_SUCCESS", "b/_tmp/x.xml")
    (tmp_path / "empty").mkdir()
    assert relative_names(tmp_path) == visible
    assert relative_names(tmp_path / ".git") == ["x"], "as an argument it is read"
    (document,) = iter_documents([tmp_path / "b/.a.xml"])
    assert document.read() == b"<.a/>"


def test_names_keep_their_spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_files(tmp_path, "d/a.xml")
    monkeypatch.chdir(tmp_path)
    names = [file.name for file in iter_documents(["./d/a.xml", "d/", "./d", "-"])]
    assert names == ["./d/a.xml", "d/a.xml", "./d/a.xml", "-"]


def test_reading_is_lazy(tmp_path: Path) -> None:
    create_files(tmp_path, "a.xml", "b.xml")
    documents = iter_documents(
        [tmp_path / "a.xml", "-", tmp_path / "b.xml"], stdin=io.BytesIO(b"<c/>")
    )
    bodies = []
    for document in documents:
        bodies.append(document.read())
        (tmp_path / "b.xml").write_bytes(b"<later/>")
    assert bodies == [b"<a/>", b"<c/>", b"<later/>"]


def test_limit_bounds_the_bytes_read(tmp_path: Path) -> None:
    create_files(tmp_path, "aaaa.xml")
    stdin = io.BytesIO(b"x" * 100)
    documents = iter_documents([tmp_path / "aaaa.xml", "-"], limit=3, stdin=stdin)
    assert [document.read() for document in documents] == [b"<aaa", b"xxxx"]
    assert stdin.tell() == 4


@pytest.mark.parametrize("name", ["none.xml", "a\0b"])
def test_missing_argument_fails_before_reading(tmp_path: Path, name: str) -> None:
    create_files(tmp_path, "a.xml")
    with pytest.raises(FormatError, match=r"none\.xml: No such file|null"):
        iter_documents([str(tmp_path / "a.xml"), str(tmp_path) + "/" + name])


def test_standard_input_twice_is_refused() -> None:
    with pytest.raises(FormatError, match="twice"):
        iter_documents(["-", "-"])


def test_unreadable_file_is_one_bad_document(tmp_path: Path) -> None:
    create_files(tmp_path, "a.xml", "b.xml", "c.xml")
    (tmp_path / "ab.xml").symlink_to("nowhere")
    (tmp_path / "loop.xml").symlink_to("loop.xml")
    results: list[bytes | str] = []
    for document in iter_documents([tmp_path]):
        if document.name.endswith("/b.xml"):
            (tmp_path / "b.xml").unlink()
        try:
            results.append(document.read())
        except DocumentError as error:
            results.append(f"{error.kind}: {error.message}")
    assert results == [
        b"<a/>",
        "unreadable: No such file or directory",
        "unreadable: No such file or directory",
        b"<c/>",
        "unreadable: Too many levels of symbolic links",
    ]


def test_folder_without_permission_is_one_bad_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def deny(name: str) -> object:  # permissions would not do: root may read everything
        if name.endswith("/b"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(name)

    create_files(tmp_path, "a.xml", "b/c.xml", "c.xml")
    monkeypatch.setattr(os, "scandir", deny)
    first, second, third = iter_documents([tmp_path])
    assert (first.read(), third.read()) == (b"<a/>", b"<c/>")
    with pytest.raises(DocumentError, match="Permission denied"):
        second.read()


def test_links_are_followed_except_to_a_folder_that_contains_them(tmp_path: Path) -> None:
    create_files(tmp_path, "far/a.xml", "top/b.xml")
    (tmp_path / "top/link.xml").symlink_to(tmp_path / "far/a.xml")
    (tmp_path / "top/folder").symlink_to(tmp_path / "far")
    (tmp_path / "top/circle").symlink_to(tmp_path / "top")
    (tmp_path / "door").symlink_to(tmp_path / "top")
    for folder in ("top", "door"):
        assert relative_names(tmp_path / folder) == ["b.xml", "folder/a.xml", "link.xml"]


def test_pipes_below_a_folder_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert list(iter_documents([tmp_path])) == []
    assert [file.name for file in iter_documents([tmp_path / "pipe"])] == [str(tmp_path / "pipe")]


def test_deep_folders(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(150):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.xml").write_bytes(b"<a/>")
    assert [file.read() for file in iter_documents([tmp_path])] == [b"<a/>"]
