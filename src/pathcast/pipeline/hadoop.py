"""The little of Hadoop's file systems that PySpark has no door to.

Whatever Spark can read and write (a local disk, HDFS, an object store) is reached through them, by the same
names and with the same credentials. Everything else in this room asks here.
"""

from __future__ import annotations

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
]

RAW_LOCAL_FILES: Final = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
"""Options of a reading: local files as they are. Hadoop would look for a sum beside each, and fails on the name of that if there is a colon in it.

For all of Spark they will not do: Hadoop itself expects its own kind of local files in places. They are not kept, or others would be given them.
"""


def hadoop_path(session: SparkSession, path: str) -> Any:
    """Hadoop's own path."""
    jvm = session.sparkContext._jvm  # noqa: SLF001 - PySpark's only way in
    assert jvm is not None
    return jvm.org.apache.hadoop.fs.Path(path)


def file_system(session: SparkSession, path: str) -> Any:
    """The file system that a path is in."""
    configuration = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - the same
    return hadoop_path(session, path).getFileSystem(configuration)


def qualify(session: SparkSession, path: str) -> str:
    """The path as Spark writes it in its tables: with its scheme, and from the root."""
    return str(file_system(session, path).makeQualified(hadoop_path(session, path)).toString())


def is_local(session: SparkSession, path: str) -> bool:
    """Whether a path is on a disk that this process sees, mounted ones included."""
    return qualify(session, path).startswith("file:")


def is_file(session: SparkSession, path: str) -> bool:
    """Whether a path that is there is a single file."""
    return bool(file_system(session, path).getFileStatus(hadoop_path(session, path)).isFile())


def escape_glob(path: str) -> str:
    r"""A path that means itself: Spark would take some characters for a pattern, and ids would not be places below it.

    >>> escape_glob("feed[1]/*.xml") == r"feed\[1\]/\*.xml"
    True
    """
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", path)
