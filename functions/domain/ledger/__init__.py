"""The ledger: what is true of every saga, and the only ways in which it may change.

`records` holds the values; `forward`, `undo` and `head` hold the transitions, and `by_person` those that only people
make: each a pure function from a record to the next one. Stores compare versions and swap; they decide nothing
(docs/decisions/0001).
"""
