"""Routing: what brokers tell each other, the tables that follow from it, and where a document goes.

advertisement  what publishers will send, and which subscriptions that concerns
messages       advertise, subscribe, publish and their inverses, as frozen values
strategy       which of them are left out: by advertisements, covering, merging
trees          which neighbour leads to which publisher's broker
interests      who wants what, and what of it a neighbour has to know; summaries make it less
requests       what clients ask of their broker
decisions      what a router decides: who is told what, who gets a document
entries        what neighbours want, and which of them want a document; subscribers: a broker's own
tables         trees, interests and entries together: facts in, and what neighbours have to hear because of them
recovery       who has lost his tables, what is known meanwhile, and who has to be told when it is known again
router         all of it: a message in, messages and deliveries out
inspect        the tables with their reasons, for people
export         the table for one origin as subscriptions to hops, for whoever is to decide as the broker does
kit            the engines behind the tables, as protocols: `engine_kit` for a broker, `shared_kit` for many in one process
"""
