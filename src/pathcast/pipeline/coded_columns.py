"""Columns of names as codes, with one dictionary of the names that occur.

A task writes the same names many times: a subscription for each of its matches, a document for each
of its deliveries. Parquet stores such a column as a dictionary and codes. A worker has the codes
already, as numbers of subscriptions and positions of documents, so it passes them on: no name is
copied or hashed per row.

`merge_chunks` joins chunks with different dictionaries. The result has only names that occur, since
the dictionary of a chunk may hold all subscriptions of a version.

>>> names = pa.array(["a", "b", "c"])
>>> merged = merge_chunks([code_names(np.array([2, 2]), names), code_names(np.array([0]), names)])
>>> merged.to_pylist(), merged.dictionary.to_pylist()
(['c', 'c', 'a'], ['a', 'c'])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["code_names", "data_bytes", "merge_chunks"]

_MAX_SPARSITY: Final = 8  # names per code up to which an array over all names is cheaper


def code_names(codes: npt.NDArray[Any], names: pa.StringArray) -> pa.DictionaryArray:
    """Return the column of the names at these positions."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32, copy=False)), names)


def data_bytes(column: pa.Array) -> int:
    """Return the size of a column without its dictionary, which chunks may share."""
    if pa.types.is_dictionary(column.type):
        return int(column.indices.nbytes)
    if pa.types.is_list(column.type):
        return int(column.offsets.nbytes) + data_bytes(column.values)
    return int(column.nbytes)


def merge_chunks(chunks: Sequence[pa.Array]) -> pa.Array:
    """Concatenate chunks of a column; codes get a common dictionary without unused names.

    Coded columns, and lists of them, must have no nulls.
    """
    kind = chunks[0].type
    if pa.types.is_dictionary(kind):
        return _merge_codes(chunks)
    if pa.types.is_list(kind) and pa.types.is_dictionary(kind.value_type):
        lengths = np.concatenate([np.diff(chunk.offsets.to_numpy()) for chunk in chunks])
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        return pa.ListArray.from_arrays(
            pa.array(offsets), _merge_codes([chunk.flatten() for chunk in chunks])
        )
    return pa.concat_arrays(chunks)


def _merge_codes(chunks: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    dictionaries: list[pa.StringArray] = []
    codes = []
    start = size = 0
    for chunk in chunks:
        assert not chunk.null_count
        if not dictionaries or not chunk.dictionary.equals(dictionaries[-1]):
            start = size
            size += len(chunk.dictionary)
            dictionaries.append(chunk.dictionary)
        codes.append(chunk.indices.to_numpy() + np.int64(start))
    present, renumbered = _renumber(np.concatenate(codes), size)
    return code_names(renumbered, pa.concat_arrays(dictionaries).take(pa.array(present)))


def _renumber(
    codes: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the codes that occur, in ascending order, and each code's position among them."""
    if size > len(codes) * _MAX_SPARSITY:
        return np.unique(codes, return_inverse=True)
    is_present = np.zeros(size, np.bool_)
    is_present[codes] = True
    return np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[codes]
