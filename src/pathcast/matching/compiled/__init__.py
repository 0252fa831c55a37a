"""The compiled engine: NFAs in flat arrays, traversed by lazy DFAs without the GIL.

engine   `CompiledEngine`: subscriptions, snapshots, matching
tiers    NFAs of different sizes, so that additions rebuild small ones only
core     the Cython modules
"""
