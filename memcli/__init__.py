"""memcli: a memory for LLM agents and people in plain files."""

__version__ = "0.1.0"
