"""`make demo`: order 4471 and its variants, through the public API and the command line, with real tokens.

Each scene is checked against the ledger and against the sandbox's own books.
"""
