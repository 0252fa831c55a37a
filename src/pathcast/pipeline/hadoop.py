"""Access to Hadoop file systems that PySpark does not offer.

Every path that Spark can read and write (local disk, HDFS, object store) is reached through Hadoop,
by the same names and with the same credentials. All other modules call Hadoop through this one.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

from pyspark.sql import SparkSession

__all__ = [
    "RAW_LOCAL_FILES",
    "escape_glob",
    "file_system",
    "hadoop_path",
    "is_file",
    "is_local",
    "qualify",
    "real_path",
]

RAW_LOCAL_FILES: Final = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
"""Reader options: local files without checksum files, so that names may contain a colon.

Hadoop would look for a checksum file beside each file, and rejects its name if it contains a colon.
The options apply to single reads, because Hadoop elsewhere requires its own local file system
class. Caching is off so that other readers do not receive this instance.
"""


def hadoop_path(session: SparkSession, path: str) -> Any:
    """Return a Hadoop `Path` object."""
    jvm = session.sparkContext._jvm  # noqa: SLF001 - PySpark's only way in
    assert jvm is not None
    return jvm.org.apache.hadoop.fs.Path(path)


def file_system(session: SparkSession, path: str) -> Any:
    """Return the Hadoop file system of a path."""
    configuration = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - the same
    return hadoop_path(session, path).getFileSystem(configuration)


def qualify(session: SparkSession, path: str) -> str:
    """Return the absolute path with its scheme, as Spark writes it in tables."""
    return str(file_system(session, path).makeQualified(hadoop_path(session, path)).toString())


def real_path(session: SparkSession, path: str) -> str:
    """Resolve a path, and its symbolic links if it is local."""
    qualified = qualify(session, path).rstrip("/")
    is_here = qualified.startswith("file:")
    return os.path.realpath(qualified.removeprefix("file:")) if is_here else qualified


def is_local(session: SparkSession, path: str) -> bool:
    """Return whether a path is on a disk that this process sees, mounted disks included."""
    return qualify(session, path).startswith("file:")


def is_file(session: SparkSession, path: str) -> bool:
    """Return whether an existing path is a single file."""
    return bool(file_system(session, path).getFileStatus(hadoop_path(session, path)).isFile())


def escape_glob(path: str) -> str:
    r"""Escape a path so that Spark does not read it as a glob pattern.

    >>> escape_glob("feed[1]/*.xml") == r"feed\[1\]/\*.xml"
    True
    """
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", path)
