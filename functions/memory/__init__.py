"""The ports in memory: what tests, the simulator and rehearsals run on. Held to the AWS ones by the contract tests."""
