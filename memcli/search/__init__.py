"""Finding turns by their words: the tokenizer and the search index.

Owns one tokenizer for turns and questions and the tantivy index under ``derived/``, with the
watermark that says how much of the store it covers. Derived: deleting it loses nothing.
Knows nothing of channels, packs or models: it returns hits, others rank them.
"""
