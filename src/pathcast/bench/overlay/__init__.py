"""Benchmark of an overlay of brokers.

    inputs     subscriptions and documents
    traffic    messages and delay of the six strategies (Li 2008, tables 2 and 3)
    routing    routing time per publication, with and without covering (Li 2008, table 1)
    decision   a broker's decision, against the engine's match_hops
    scale      a thousand brokers and a hundred thousand subscriptions
    suite      the parts and their lines

Delays are computed twice: with the costs that the paper reports and with those of our engine.
"""
