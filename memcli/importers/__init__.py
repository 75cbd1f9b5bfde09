"""Transcripts in: one module a format, each turning a file into drafts of turns.

Owns the recognition and reading of other tools' files. A format is one module here that
defines ``FORMAT`` (see `contract.Format`); adding a file adds a format, nothing else changes.
Knows nothing of stores, ids of turns or indexes: that is the ingest's business.
"""
