"""`sagaplane`: what a person does from a terminal, over the public API. Nothing here knows AWS but the sign-in."""

from __future__ import annotations

import os
from typing import Any

import typer
from typer.core import TyperGroup

from cli.commands import approvals, cases, catalogues, planning, plans, sagas, signing_in
from cli.errors import ApiProblem, Stop
from cli.exits import ExitCode, listed
from cli.options import RootProfile, remembered
from cli.work import terminal

_EPILOG = f"""\b
Exit status:
{listed()}

\b
Environment:
  SAGAPLANE_PROFILE         the sign-in to act as
  SAGAPLANE_OUTPUTS         outputs file of a deployment, for login
  SAGAPLANE_API, SAGAPLANE_AUTH, SAGAPLANE_PEOPLE_CLIENT_ID
                            the same, one by one
  SAGAPLANE_CLIENT_ID, SAGAPLANE_CLIENT_SECRET
                            an agent's credentials, for login
  XDG_STATE_HOME            where sign-ins are kept (~/.local/state)
  NO_COLOR                  no colour, whatever its value
  SAGAPLANE_DEBUG           a traceback for a fault of this program
"""


class Door(TyperGroup):
    """The last word on everything that ends a command: one or two lines and an exit status, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ApiProblem as refusal:
            _refused(refusal, remembered(ctx))
            raise typer.Exit(refusal.code) from None
        except Stop as stop:
            terminal().note(*stop.lines)
            raise typer.Exit(stop.code) from None
        except (KeyboardInterrupt, typer.Abort):
            terminal().note("Stopped.")
            raise typer.Exit(ExitCode.STOPPED) from None
        except Exception as fault:
            # The parser's own errors carry their exit status, and are shown with the usage.
            if hasattr(fault, "exit_code") or os.environ.get("SAGAPLANE_DEBUG"):
                raise
            terminal().note(
                f"sagaplane itself failed: {type(fault).__name__}: {fault}",
                "With SAGAPLANE_DEBUG=1 it shows where.",
            )
            raise typer.Exit(ExitCode.FAULT) from None


app = typer.Typer(
    name="sagaplane",
    cls=Door,
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def sagaplane(*, profile: RootProfile = "") -> None:
    """The safe way to let an AI agent change the real world.

    An agent submits a plan and follows its saga; an approver decides before the point of no return; an operator settles
    what automation could not. Begin with `sagaplane login`.
    """
    del profile  # its own callback has remembered it


for _command in (
    signing_in.login,
    signing_in.logout,
    signing_in.whoami,
    plans.submit,
    plans.request,
    sagas.show,
    sagas.sagas,
    sagas.review,
    sagas.cancel,
):
    app.command()(_command)
app.add_typer(catalogues.app, name="catalogue")
app.add_typer(planning.app, name="plan")
app.add_typer(approvals.app, name="approvals")
app.add_typer(cases.app, name="cases")


def _refused(refusal: ApiProblem, said: dict[str, Any]) -> None:
    from cli.views.problems import problem_page  # noqa: PLC0415 - only a refusal needs it

    if said["json"]:
        terminal().json(refusal.details)
        return
    page = problem_page(refusal)
    if refusal.status == 401:  # noqa: PLR2004 - HTTP's number
        page.line(f"Sign in again: sagaplane login --profile {said['profile']}")
    terminal().tell(page)


if __name__ == "__main__":
    app()
