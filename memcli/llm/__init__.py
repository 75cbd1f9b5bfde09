"""The one door to language models: two ways to a server, one set of errors.

Owns requests, retries, what each model family takes, JSON out of prose, and keys. Knows
nothing of evidence, prompts or stores. Importing it loads neither httpx nor litellm.
"""
