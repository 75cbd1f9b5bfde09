"""A directory of JSONL files that never loses a committed record.

Owns the store's canonical files and its manifest: appending, committing several files as one
step, undo, compaction, checkpoints, the writer's lock, verification and repair. Readers need
no lock and never write. Does not own derived data (it only says whether a watermark still
holds), knows no search, no settings' meaning, and reads no environment.
"""
