"""The compiled core: twigs as integers, alone or in an index.

    labels     labels as ids, and subsumption between them
    twigs      twigs as flat arrays, the homomorphism test, and a linear scan of many twigs
    features   the feature index of many twigs

`pathcast.covering.indexes` wraps the stores of twigs as indexes of patterns.
"""
