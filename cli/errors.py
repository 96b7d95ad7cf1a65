"""What ends a command early. None of these reaches a person as a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cli.exits import ExitCode

_NOT_ALLOWED = {401, 403}


class Stop(Exception):
    """Ends the command: one or two lines for a person, and the exit status."""

    def __init__(self, *lines: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines
        self.code = code


class NotSignedIn(Stop):
    """There is no usable token, or a sign-in failed."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines, code=ExitCode.NOT_ALLOWED)


class Unreachable(Stop):
    """No answer came, or none that this command line can read."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines, code=ExitCode.UNREACHABLE)


class ApiProblem(Exception):
    """The API refused: the HTTP status and the body of the problem (RFC 9457), as it came.

    `details` has `title`, `detail` and `problems`; each of these has `code`, `pointer`, `message`, `hint` and perhaps
    `step` and `allowed`. `attempts_left` and `saga_id` are there where they say something.
    """

    def __init__(self, status: int, details: Mapping[str, Any]) -> None:
        self.status = status
        self.details = dict(details)
        super().__init__(f"{status} {', '.join(self.codes) or self.details.get('title', '')}")

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Every single problem; none where the gateway before the API refused."""
        found = self.details.get("problems")
        return [p for p in found if isinstance(p, dict)] if isinstance(found, list) else []

    @property
    def codes(self) -> list[str]:
        """Their codes, in order."""
        return [str(p.get("code", "")) for p in self.problems]

    @property
    def code(self) -> ExitCode:
        """The exit status that this is for a command."""
        return ExitCode.NOT_ALLOWED if self.status in _NOT_ALLOWED else ExitCode.REFUSED
