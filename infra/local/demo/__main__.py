"""Start, deploy, play the scenes, end what was started. Exit status 1 if a scene failed."""

from __future__ import annotations

import sys

from rich.console import Console

from infra.local import emulator
from infra.local.__main__ import down, up
from infra.local.demo.casting import cast_stage
from infra.local.demo.play import play
from infra.local.place import LocalProblem, Place


def main() -> int:
    """Play on the stage that is up, or on one that is started for it and ended after it."""
    console = Console()
    try:
        place = Place.here()
        ours = emulator.running(place) is None
        try:
            up(place)
            return 1 if play(cast_stage(place), console) else 0
        finally:
            if ours:
                down(place)
    except LocalProblem as problem:
        print(f"sagaplane: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


sys.exit(main())
