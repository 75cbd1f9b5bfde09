"""Strategy memory: a directed graph of lessons with Beta-posterior edges (arXiv 2610.02687).

Owns the graph and its operations, posteriors, traversal, retrievers, the roles of the training
loop and the loop itself. Knows nothing of turns, of the command line or of configuration.
"""
