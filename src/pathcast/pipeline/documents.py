"""Where documents come from: a table of (id, body, source, time) whatever they are stored in.

A document's id is its place in its source, so that reading the same source again gives the same ids:

- a folder: the path of the file below it;
- a table (`.parquet`, `.jsonl`, one file or a folder of them) with a column `body`: its column `id` if it has one, else
  the file's path below the source, `#`, and the number of the row in that file.
"""
