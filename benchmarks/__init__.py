"""Measurements: run by hand, never as tests; each writes what it ran on beside its figures."""
