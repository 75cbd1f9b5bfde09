"""Use cases: what each command does, as functions that take values and return values.

Owns the order of the steps (read, settle, commit, index, annotate; route, pack, read) and,
in ``wiring``, everything taken from the environment. Prints nothing and parses no arguments.
"""
