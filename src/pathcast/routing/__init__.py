"""Routing: the messages between brokers, the tables built from them, and the route of a document.

advertisement    automata of the paths that publishers send; overlap with subscriptions
messages         Advertise, Subscribe, Publish, their inverses, and the messages of recovery
requests         requests of clients to their broker
outputs          outputs of a router: messages to send, deliveries, rejections
strategy         the routing strategies: advertisements, covering, merging
trees            the spanning tree of each origin, as seen by one broker (SRT)
interests        the interests of each source, and the part that each neighbour must know
summaries        reduction of a set of interests by covering and merging
entries          the entries of neighbours and the filter over them (PRT)
subscribers      a broker's own subscribers and their deliveries
tables           trees, interests and entries together, and the propagation of changes
recovery         recovery of tables after a restart of this broker or a neighbour
router           `Router`: messages in, messages and decisions out
backend          protocols of the engines behind the tables
matcher_backend  the backend of one broker, over the matching engine
shared_backend   the backend of all brokers of one simulation
inspect          tables with their reasons, and traces of documents
export           the table of one origin as a file of subscriptions
"""
