"""What memcli remembers, as frozen records, and their one JSON form.

Owns the data classes of turns, evidence packs and answers, and the codec between a record
and its JSON line. Knows nothing of files, indexes or models: no I/O happens here.
"""
