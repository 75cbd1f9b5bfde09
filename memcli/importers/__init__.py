"""Transcripts in: one module a format, each turning a file into drafts of turns.

Owns the recognition and reading of other tools' files. Knows nothing of stores, ids of turns
or indexes: that is the ingest's business. `detect.gather` is the way in: paths to sources.

To add a format, add one module ``<name>.py`` here, nothing else:

1. Its docstring describes the structure of the files.
2. ``recognise(source)`` looks at `shape.shape_of(source)` and says why the input is of this
   format, or returns None; it compares keys or headers, never a file name alone.
3. ``read(source, options)`` yields events (`contract.Event`), one or more `Draft` or exactly
   one `Rejected`, `Repeated` or `Ignored` for every record. `jsonvalues` streams arrays and
   JSONL, `bytestream` lines, `moments` reads times, `blocks` reads parts of messages.
4. ``FORMAT = Format(name="<name>", ...)``; rank 10 where keys are proof, 20 where they are
   common words, 50 for text with headers, 90 for prose.
5. Tests in ``tests/importers/test_<name>.py``. An entry of that name in `foreign` falls
   silent by itself.
"""
