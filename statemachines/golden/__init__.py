"""The machines of the known shapes, committed so that a change of the compiler is reviewed as a change of machines.

`python -m statemachines.golden` writes them anew. Their ARNs are placeholders; timeouts and budgets are the catalogue's.
"""
