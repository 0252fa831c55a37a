"""`DeliveryIndex` against a dictionary of lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.pipeline import delivery_index
from pathcast.pipeline.delivery_index import DeliveryIndex

NAMES = st.text(alphabet="ab\u00e9\U0001f600", max_size=3)


@given(
    subscribers=st.dictionaries(NAMES, NAMES, max_size=12),
    share_ids=st.booleans(),
    data=st.data(),
    listed=st.integers(1, 4),
)
def test_groups_equal_those_of_a_dictionary(
    subscribers: dict[str, str], share_ids: bool, data: st.DataObject, listed: int
) -> None:
    ids = list(subscribers)
    number_sets = st.lists(st.sets(st.integers(0, len(ids) - 1)) if ids else st.just(set()))
    documents = [sorted(numbers) for numbers in data.draw(number_sets)]
    owner = {id: id for id in ids} if share_ids else subscribers
    index = DeliveryIndex.build(
        pa.array(ids, pa.string()),
        None if share_ids else pa.array(list(owner.values()), pa.string()),
    )
    offsets = np.cumsum([0, *map(len, documents)])
    numbers = np.array([number for row in documents for number in row], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delivery_index, "MAX_LISTED_SUBSCRIPTIONS", listed)
        grouped = index.group(offsets, numbers)
    expected = []
    for position, row in enumerate(documents):
        deliveries: dict[str, list[str]] = {}
        for number in row:
            deliveries.setdefault(owner[ids[number]], []).append(ids[number])
        for subscriber in sorted(deliveries):
            matched = sorted(deliveries[subscriber])
            expected.append((position, subscriber, matched[:listed], len(matched)))
    columns = (grouped.subscribers, grouped.subscriptions, grouped.counts)
    rows = zip(grouped.documents.tolist(), *(column.to_pylist() for column in columns), strict=True)
    assert list(rows) == expected
