"""What an overlay costs: messages and delay of the six strategies, routing time, a broker's decision, size.

inputs     subscriptions and documents
traffic    tables 2 and 3 of Li, Hou and Jacobsen (2008), with their costs and with ours
routing    their table 1: each entry tested, with and without covering; and our engine beside it
decision   what a broker's decision costs next to the engine's
scale      a thousand brokers and a hundred thousand subscriptions
"""
