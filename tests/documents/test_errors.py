"""Kinds, places and hints of document errors; nothing external is accessed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from lxml import etree

from pathcast.documents import ERROR_KINDS, parse
from pathcast.documents.parse_errors import document_error
from pathcast.errors import DocumentError

CASES = [
    (b"", "empty", 1),
    (b" \n\t ", "empty", 2),
    (b"\xef\xbb\xbf", "empty", 1),
    (b"hello", "malformed", 1),
    (b"<a>", "malformed", 1),
    (b"<a>\n<b></a>", "malformed", 2),
    (b"<a/><b/>", "malformed", 1),
    (b"<a/>text", "malformed", 1),
    (b"<a k='1' k='2'/>", "malformed", 1),
    (b"<a k=1/>", "malformed", 1),
    (b"<a>\x00</a>", "malformed", 1),
    (b"<a>\x01</a>", "malformed", 1),
    (b"<a>&#0;</a>", "malformed", 1),
    (b"<a><!-- -- --></a>", "malformed", 1),
    (b"<?xml version='2.0'?><a/>", "malformed", 1),
    (b" <?xml version='1.0'?><a/>", "malformed", 1),
    ("<a>b</a>".encode("utf-16")[:-3], "malformed", 1),
    ("<a>b</a>".encode("utf-16-le"), "malformed", 1),
    (b"<a>\xff</a>", "encoding", 1),
    (b"<?xml version='1.0' encoding='nope'?><a/>", "encoding", 1),
    (b"<?xml version='1.0' encoding='JAVA'?>\\u003ca/>", "encoding", 1),
    (b"<?xml version='1.0' encoding='UTF-16'?><a/>", "encoding", 1),
    (
        b"<?xml version='1.0' encoding='UTF-16LE'" + "?><a/>".encode("utf-16-le"),
        "encoding",
        1,
    ),
    (b"<?xml version='1.0' encoding='&#85;TF-7'?><a/>", "encoding", 1),
    (b"<p:a/>", "namespace", 1),
    (b"<a p:k=''/>", "namespace", 1),
    (b"<a xmlns:p=''/>", "namespace", 1),
    (b"<a xmlns:p='u' xmlns:q='u' p:k='' q:k=''/>", "namespace", 1),
    (b"<a xmlns='not a uri'/>", "namespace", 1),
    (b"<a xml:id='x'><b xml:id='x'/></a>", "identifier", 1),
    (b"<a xml:id='1'/>", "identifier", 1),
    (b"<a>&e;</a>", "entity", 1),
    (b"<!DOCTYPE a SYSTEM 'a.dtd'><a>&e;</a>", "entity", 1),
    (b"<!DOCTYPE a SYSTEM 'a.dtd'><a k='&e;'/>", "entity", 1),
    (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>", "entity", 1),
    (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a k='&e;'/>", "entity", 1),
    (b"<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>", "entity", 1),
    (b"<!DOCTYPE a [<!ENTITY % p ''>%p;]><a/>", "entity", 1),
    (b"<!DOCTYPE a [<!ENTITY % p SYSTEM 'p.dtd'>%p;]><a/>", "entity", 1),
]


@pytest.mark.parametrize(("body", "kind", "line"), CASES)
def test_kind_and_place(body: bytes, kind: str, line: int) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(body)
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert kind in ERROR_KINDS
    assert ", line" not in caught.value.message
    assert caught.value.message == caught.value.message.strip()
    assert "XML_PARSE_HUGE" not in caught.value.message


def test_syntax_errors_have_a_column() -> None:
    with pytest.raises(DocumentError) as caught:
        parse(b"<a>\n  <b></a>")
    assert (caught.value.line, caught.value.column) == (2, 10)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b"<a>&e;</a>", "declare the entity"),
        (b"<!DOCTYPE a SYSTEM 'a.dtd'><a>&e;</a>", "external DTDs are never fetched"),
        (b"<!DOCTYPE a PUBLIC 'a' 'a.dtd' []><a>&e;</a>", "external DTDs are never fetched"),
        (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'e'>]><a>&e;</a>", "external entities are never fetched"),
        (b"<!DOCTYPE a [<!ENTITY % p ''>%p;]><a/>", "parameter entities are not expanded"),
        (b"<?xml version='1.0' encoding='nope'?><a/>", "UTF-8"),
        (b"<p:a/>", "declare the prefix"),
    ],
)
def test_hints(body: bytes, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(body)
    assert hint in (caught.value.hint or "")
    assert hint in str(caught.value)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE a SYSTEM '{0}'>",
        "<!DOCTYPE a PUBLIC 'x' '{0}'>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM '{0}'>]>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM '{0}'>%p;]>",
    ],
)
def test_network_is_not_accessed(doctype: str, listener: socket.socket) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    for content in ("", "&e;"):
        body = f"{doctype.format(address)}<a>{content}</a>".encode()
        with suppress(DocumentError):
            parse(body)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_files_are_not_accessed(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("files") / "secret"
    secret.write_text("<!ENTITY e 'secret'>")
    for doctype in (
        f"<!DOCTYPE a SYSTEM '{secret}'>",
        f"<!DOCTYPE a SYSTEM '{secret.as_uri()}'>",
        f"<!DOCTYPE a [<!ENTITY e SYSTEM '{secret.as_uri()}'>]>",
        f"<!DOCTYPE a [<!ENTITY % p SYSTEM '{secret.as_uri()}'>%p;]>",
    ):
        with pytest.raises(DocumentError) as caught:
            parse(f"{doctype}<a>&e;</a>".encode())
        assert caught.value.kind == "entity"
    include = f"<a xmlns:i='http://www.w3.org/2001/XInclude'><i:include href='{secret}'/></a>"
    assert parse(include.encode()).texts == []


def test_full_name_dictionary_is_kind_limit() -> None:
    """A real overflow takes 267 MB of names, so this uses the error that lxml raises then."""
    error = etree.XMLSyntaxError("unknown error", etree.ErrorTypes.ERR_NO_MEMORY, 0, 0)
    translated = document_error(error, b"<a/>")
    assert (translated.kind, translated.line, translated.column) == ("limit", None, None)
    assert "new thread" in str(translated)


def test_concurrent_parsing() -> None:
    bodies = [b"<a%d><b/>%d&amp;</a%d>" % (number, number, number) for number in range(8)]
    wrong = []

    def work(body: bytes) -> None:
        expected = parse(body).content
        for _ in range(50):
            if parse(body).content != expected:
                wrong.append(body)
            with suppress(DocumentError):
                parse(body + b"<")

    threads = [threading.Thread(target=work, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_errors_leave_no_state_behind() -> None:
    for body, kind, _ in CASES:
        with pytest.raises(DocumentError) as caught:
            parse(body)
        assert caught.value.kind == kind
        assert parse(b"<a>fine</a>").string_value(0) == "fine"
