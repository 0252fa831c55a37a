"""The data pipeline on Spark: documents in, deliveries out, on one machine or on a cluster.

    sources -> documents (id, body, source, time, fault)
            -> one_pass: workers match each document once and write all tables of the batch
            -> batches: the staged files are published -> sinks: outboxes

Only this package and `spark` import Spark. Code that runs in Python workers (`worker`, `rows`,
`sources.files`) is imported there by name. It receives small frozen values; subscriptions
arrive as files.

    running            a run: one batch, or a stream of micro-batches
    batches            one batch from plan to outcome
    one_pass           staging a batch as one Spark job
    stage_worker       the work of that job in a Python worker
    task_files         the files of a task attempt, and its manifest
    multi_pass         staging a batch with Spark's own writers
    batch_log          the durable records that make a batch exactly-once
    compaction         files and records of many batches merged into few
    compaction_step    one step of it as a durable record
    merged_tables      parquet files merged as a stream
    storage            files of a run, on a local or a Hadoop file system
    session            the Spark session
    spark_errors       errors of Spark, Java and workers as PipelineError
    hadoop             Hadoop paths and file systems
    subscriptions      the source of subscriptions
    subscription_watcher  its version for the next batch, compiled again after changes
    versions           compiled sets of subscriptions, named by content
    sources            where documents come from
    worker, rows       matching in a Python worker, and its result rows
    worker_files       files of the driver as workers see them
    table_schemas      the Arrow schemas of the tables
    matching           the matching step, and the tables derived from its rows
    partition_strategy whether to partition documents or subscriptions
    partitioning       matching by the strategy chosen for a version
    fragments          a version split into fragments, with a router
    fragment_matching  matching against fragments, with one shuffle
    fragment_cache     the fragments that a worker keeps
    routes             subscription -> subscriber, and deliveries as a Spark query
    delivery_index     deliveries from subscription numbers, in a worker
    sinks              outboxes: segments, files, or NATS subjects
    jetstream          NATS JetStream addresses and a client that retries
    dedup              documents with equal content within a time window
    hash_index         the hash files within reach of new documents
    hash_times         the times of a batch's hashes
    checks             what can be checked before Spark starts
    run_events         what a run reports to its caller
    metrics            totals of a run, as JSON and as Prometheus text
    metrics_server     that text over HTTP
    parallel_jobs      Spark jobs in parallel threads
    partials           partial statistics of a batch, which a report adds up
    partial_counter    the same, counted by workers while they match
    statistics         statistics of a run, as tables
    report             the statistics as one HTML page
    audit              sampled deliveries compared with lxml
    bench_results      planted results for `pathcast bench pipeline`
    bench_steps        the Spark part of `pathcast bench pipeline`
    bench_outboxes     deliveries to outboxes, for the same benchmark
"""
