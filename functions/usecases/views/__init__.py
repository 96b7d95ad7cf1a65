"""What is shown of the ledger, to whom. Times are ISO 8601, UTC. An agent sees no key, no authority and no evidence."""
