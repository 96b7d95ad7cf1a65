"""Writes the golden machines anew: `python -m statemachines.golden`."""

from __future__ import annotations

import sys

from statemachines.golden.machines import DIRECTORY, golden_machines, text


def main() -> None:
    """Replace every golden file; those of plans that are no longer known go."""
    wanted = golden_machines()
    for stale in DIRECTORY.glob("*.asl.json"):
        if stale.name not in wanted:
            stale.unlink()
    for name, machine in wanted.items():
        (DIRECTORY / name).write_text(text(machine), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(machine.definition['States'])} states\n")


if __name__ == "__main__":
    main()
