"""Coded columns against lists of names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from pathcast.pipeline.coded_columns import code_names, data_bytes, merge_chunks
from pathcast.pipeline.task_files import TableWriter

NAMES = st.lists(st.text(alphabet="ab\u00e9\U0001f600", max_size=3), min_size=1, max_size=200)


@st.composite
def coded_chunks(draw: st.DrawFn) -> list[pa.DictionaryArray]:
    """Draw chunks of which some share a dictionary."""
    dictionaries = [pa.array(names, pa.string()) for names in draw(st.lists(NAMES, min_size=1))]
    chunks = []
    for dictionary in draw(st.lists(st.sampled_from(dictionaries), min_size=1, max_size=6)):
        codes = draw(st.lists(st.integers(0, len(dictionary) - 1), max_size=30))
        chunks.append(code_names(np.array(codes, np.int64), dictionary))
    return chunks


@given(coded_chunks())
def test_merged_chunks_have_the_names_of_the_chunks(chunks: list[pa.DictionaryArray]) -> None:
    merged = merge_chunks(chunks)
    names = [name for chunk in chunks for name in chunk.to_pylist()]
    assert merged.to_pylist() == names
    assert set(merged.dictionary.to_pylist()) == set(names)


@given(coded_chunks(), st.data())
def test_merged_lists_have_the_names_of_the_lists(
    chunks: list[pa.DictionaryArray], data: st.DataObject
) -> None:
    lists = []
    for chunk in chunks:
        ends = sorted(data.draw(st.lists(st.integers(0, len(chunk)), max_size=4)))
        offsets = pa.array([0, *ends, len(chunk)], pa.int32())
        column = pa.ListArray.from_arrays(offsets, chunk)
        lists.append(column.slice(data.draw(st.integers(0, len(column)))))
    assert merge_chunks(lists).to_pylist() == [
        row for column in lists for row in column.to_pylist()
    ]


def test_plain_columns_are_concatenated() -> None:
    assert merge_chunks([pa.array([1, None]), pa.array([3])]).to_pylist() == [1, None, 3]


def test_size_does_not_count_shared_dictionaries() -> None:
    names = pa.array([f"{number}" for number in range(10_000)])
    codes = code_names(np.arange(10), names)
    assert data_bytes(codes) == 40
    assert data_bytes(pa.ListArray.from_arrays(pa.array([0, 10], pa.int32()), codes)) == 48
    assert data_bytes(pa.array([1, 2])) == 16


def test_files_have_strings(tmp_path: Path) -> None:
    """Row groups with different dictionaries, read as plain strings and lists of strings."""
    (tmp_path / "tasks").mkdir()
    writer = TableWriter(tmp_path, "7")
    for number in range(3):
        names = pa.array([f"{number}-{position}" for position in range(1_000)])
        codes = code_names(np.array([number, 5]), names)
        lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), codes)
        rows = pa.RecordBatch.from_arrays([codes, lists], names=["document", "subscriptions"])
        writer.append("matches", rows)
        writer._flush("matches")
    (staged,) = writer.close()
    file = pq.ParquetFile(tmp_path / "tasks" / staged.name)
    assert (file.num_row_groups, staged.rows) == (3, 6)
    assert [field.type for field in file.schema_arrow] == [pa.string(), pa.list_(pa.string())]
    documents = ["0-0", "0-5", "1-1", "1-5", "2-2", "2-5"]
    assert file.read().to_pydict() == {
        "document": documents,
        "subscriptions": [[document] for document in documents],
    }
    first = file.metadata.row_group(0).column(0)
    assert "RLE_DICTIONARY" in first.encodings
    assert first.total_uncompressed_size < 200  # names that do not occur are not written
