"""The guide for PySpark users runs, in the session of the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.conftest import BRIEF
from tests.project.readme import blocks

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "pyspark.md"
GUIDE = PAGE.read_text(encoding="utf-8")


def run_program(spark: SparkSession) -> dict[str, Any]:
    """Run the program of the page; return its names."""
    names: dict[str, Any] = {"spark": spark}
    for block in blocks(GUIDE):
        if block.language == "python":
            text = "\n" * (block.line - 1) + block.text
            exec(compile(text, str(PAGE), "exec"), names)
    return names


def block_after(comment: str) -> str:
    (text,) = re.findall(rf"<!-- {comment} -->\n```py\n(.*?)```", GUIDE, re.DOTALL)
    return str(text)


def test_program_of_the_guide(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = run_program(spark)
    pytest.importorskip("pyiceberg", reason="the part on Iceberg needs PyIceberg")
    for key, value in {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": tmp_path.as_uri(),
    }.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__NEWS__{key}", value)
    for _ in range(2):  # the second time, there is nothing to add
        exec(block_after("iceberg"), names)
        assert names["table"].scan().to_arrow().num_rows == 2


@pytest.mark.deep
def test_declarative_pipeline_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    lines = '{"id": "1", "body": "<item/>"}\n{"id": "2", "body": "<oops"}\n'
    (tmp_path / "lines" / "1.json").write_text(lines)
    (tmp_path / "flows").mkdir()
    program = block_after("pipeline").replace("FOLDER", str(tmp_path))
    (tmp_path / "flows" / "news.py").write_text(program)
    (tmp_path / "spark-pipeline.yml").write_text(
        f"name: news\nstorage: {(tmp_path / 'storage').as_uri()}\n"
        "libraries:\n  - glob:\n      include: flows/**\n"
    )
    commands = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_PYTHON": sys.executable,
        "JDK_JAVA_OPTIONS": BRIEF,
    }
    child = subprocess.run(
        [commands / "spark-pipelines", "run", "--spec", "spark-pipeline.yml"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr[-4000:]
    files = (tmp_path / "spark-warehouse" / "matches").glob("*.parquet")
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert rows == [{"id": "1", "subscriptions": ["all"]}, {"id": "2", "subscriptions": None}]
