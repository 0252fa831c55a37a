"""The data pipeline on Spark: documents in, deliveries out, on one machine or on a cluster.

    sources -> documents (id, body, source, time, fault)
            -> worker: parse and match each document once -> result rows
            -> matching: tables of documents, matches and errors
            -> routes: deliveries -> sinks: staged per batch, then published

Only this package imports Spark. Code that runs in Python workers (`worker`, `rows`,
`sources.unpacking`) is imported there by name. It receives small frozen values; subscriptions
arrive as files.

    running            a run: one batch, or a stream of micro-batches
    batches            one batch from plan to outcome
    batch_log          the durable records that make a batch exactly-once
    storage            files of a run, on a local or a Hadoop file system
    session            the Spark session
    spark_errors       errors of Spark, Java and workers as PipelineError
    hadoop             Hadoop paths and file systems
    subscriptions      the source of subscriptions, read again when it changes
    versions           compiled sets of subscriptions, named by content
    sources            where documents come from
    worker, rows       matching in a Python worker, and its result rows
    matching           the matching step, and the tables derived from its rows
    partition_strategy whether to partition documents or subscriptions
    partitioning       matching by the strategy chosen for a version
    fragments          a version split into fragments, with a router
    fragment_matching  matching against fragments, with one shuffle
    routes             subscription -> subscriber, and deliveries
    sinks              outboxes: files, or NATS subjects
    jetstream          NATS JetStream addresses and a client that retries
    dedup              documents with equal content within a time window
    parallel_jobs      Spark jobs in parallel threads
    statistics         statistics of a run, as tables
    report             the statistics as one HTML page
    audit              sampled deliveries compared with lxml
    bench_steps        the Spark part of `pathcast bench pipeline`
"""
