"""Documents in files: archives, rows, records and tables, read without Spark.

A document's id is its location, so reading a file again gives the same ids. Input that cannot
become a document is a document with a fault instead of a body.

- `contents`: what a file of a folder holds: one document or several.
- `unpacking`: archives.
- `rows`, `records`, `json_records`: rows of CSV and JSON, and JSON objects with a body.
- `record_documents`: the elements of a large file that are documents of their own.
- `tables`: parquet files with a column of documents.
- `reading`: a file on this machine as documents.
- `ids`: ids of documents in files.
- `kinds`: what a name implies.
- `arguments`: the DOCUMENT arguments of a command.

The pipeline reads the same contents in Spark's workers (`pipeline.sources`).
"""
