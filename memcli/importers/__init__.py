"""Transcripts in: one module a format, each turning a file into drafts of turns.

Owns the recognition and reading of other tools' files. Knows nothing of stores, ids of turns
or indexes: that is the ingest's business. `detect.gather` is the way in: paths to sources.

To add a format, add one module ``<name>.py`` here, nothing else:

1. Its docstring describes the structure of the files.
2. ``recognise(source)`` looks at `shape.shape_of(source)` and says why the input is of this
   format, or returns None; it compares keys or headers, never a file name alone.
3. ``read(source, options)`` yields events (`contract.Event`), one or more `Draft` or exactly
   one `Rejected`, `Repeated` or `Ignored` for every record. `jsonvalues` streams arrays and
   JSONL, `jsonpaths` what lies deeper in an object, `bytestream` lines; `fields` and `blocks`
   read members and parts of messages, `moments` times; `told` and `repeats` know what came
   before. Files beside an input are reached by `contract.Housed`.
4. ``FORMAT = Format(name="<name>", ...)``; rank 10 where keys are proof, 20 where they are
   common words, 50 for text with headers, 90 for prose.
5. Tests in ``tests/importers/test_<name>.py``, and a kind in ``tests/importers/damage.py``,
   which damages it in sixty ways. An entry of that name in `foreign` falls
   silent by itself.
"""
