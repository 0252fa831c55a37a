"""The data pipeline, on Spark: documents in, deliveries out, on this machine or on a cluster.

    sources -> documents (id, body, source, time, fault)
            -> worker: parse and match, once -> rows
            -> matching: tables of documents, matches, errors
            -> routes: deliveries -> sinks: staged by batch, then published

Nothing outside this room knows Spark. What runs in workers (`worker`, `rows`, `sources.unpacking`) is imported there by name, and
what it needs comes as small frozen values; subscriptions come as files (`versions`).
"""
