"""The compiled core: twigs as integers, alone or in an index.

    labels         labels as ids, and subsumption between them
    twigs          twigs as flat arrays, the homomorphism test, and a linear scan of many twigs
    feature_index  the feature index of many twigs

`pathcast.covering.index_registry` wraps the stores of twigs as indexes of patterns.
"""
