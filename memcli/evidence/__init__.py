"""Evidence memory: from a question to a bounded, cited pack of turns, without a model.

Owns annotation, date windows, hyperedges, routing and packing (EdgeMem, arXiv 2609.05553).
Pure but for spaCy, which only ``annotate`` loads. Finds turns through the search index and
never reads a store's files itself.
"""
