"""A plan's saga in a simulated world: our own use cases and machine, and faults wherever a process may be.

Nothing here runs in Lambda. `rehearse.py` is for teams and their plans, `tests/simulation/` for the product itself.
"""
