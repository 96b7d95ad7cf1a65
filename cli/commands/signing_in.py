"""`login`, `logout`, `whoami`."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cli import profiles
from cli.errors import Stop
from cli.options import Json, Profile
from cli.settings import Deployment, deployment
from cli.work import Work, terminal


def login(
    *,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sign in as this agent, with its client's credentials, and not as a person.",
            show_default=False,
        ),
    ] = None,
    client_id: Annotated[
        str | None,
        typer.Option(
            envvar="SAGAPLANE_CLIENT_ID",
            metavar="ID",
            help="The agent's client id, if the outputs file does not say it.",
            show_default=False,
        ),
    ] = None,
    client_secret: Annotated[
        str | None,
        typer.Option(
            envvar="SAGAPLANE_CLIENT_SECRET",
            metavar="SECRET",
            help="The agent's client secret. Better in the environment than on the command line; asked for if absent.",
            show_default=False,
        ),
    ] = None,
    api: Annotated[
        str | None,
        typer.Option(envvar="SAGAPLANE_API", metavar="URL", help="The API.", show_default=False),
    ] = None,
    auth: Annotated[
        str | None,
        typer.Option(
            envvar="SAGAPLANE_AUTH", metavar="URL", help="The sign-in.", show_default=False
        ),
    ] = None,
    people_client_id: Annotated[
        str | None,
        typer.Option(
            envvar="SAGAPLANE_PEOPLE_CLIENT_ID", help="The people's app client.", show_default=False
        ),
    ] = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            envvar="SAGAPLANE_OUTPUTS",
            metavar="FILE",
            help="Read all of these from the outputs of a deployment: .local/outputs.json, "
            "or what `cdk deploy --outputs-file` wrote.",
            show_default=False,
        ),
    ] = None,
    browser: Annotated[
        bool,
        typer.Option(
            "--browser/--no-browser", help="Open the sign-in page, or only print its address."
        ),
    ] = True,
    profile: Profile = "",
) -> None:
    """Sign in: as a person in the browser, or as an agent.

    The token is kept for the profile, in a file that only you can read; it is never printed. With several profiles, an
    approver, an operator and an agent can be used side by side: `sagaplane login --profile ann`, then
    `sagaplane approvals --profile ann`.
    """
    name = profiles.checked_name(profile)
    found = deployment(outputs)
    place = Deployment(
        _needed(api or found.api_url, "the API is", "--api"),
        _needed(auth or found.auth_url, "the sign-in is", "--auth"),
        people_client_id or found.people_client_id,
        found.agents,
    )
    if agent is not None:
        _sign_in_agent(name, place, agent, client_id, client_secret)
    else:
        _sign_in_person(name, place, browser=browser)


def logout(*, profile: Profile = "") -> None:
    """Sign out: forget the token, and end the sign-in."""
    from cli.tokens import revoke  # noqa: PLC0415 - brings httpx, which `--help` does not need

    name = profile
    try:
        held = profiles.load(name)
    except Stop:
        forgotten = profiles.forget(name)
        terminal().note("signed out" if forgotten else f"profile “{name}” was not signed in")
        return
    profiles.forget(name)
    if held.refresh and not revoke(held.auth_url, held.client_id, held.refresh):
        terminal().note(
            "The token is forgotten here; the sign-in itself could not be ended and runs out."
        )
    terminal().note("signed out")


def whoami(*, as_json: Json = False, profile: Profile = "") -> None:
    """Show who you are signed in as.

    It is read from the token's own claims. They are decoded, not verified: only the API verifies. With --json, these claims are printed.
    """
    from cli.tokens import claims  # noqa: PLC0415 - brings httpx, which `--help` does not need
    from cli.views.whoami import whoami_page  # noqa: PLC0415 - beside it

    held = profiles.load(profile)
    Work(held.name, as_json).answer(claims(held.access), lambda said: whoami_page(held, said))


def _needed(value: str, what: str, option: str) -> str:
    from cli.http import checked_url  # noqa: PLC0415 - brings httpx, which `--help` does not need

    if not value:
        raise Stop(
            f"Nothing says where {what}: give {option}, or --outputs with the outputs of a deployment."
        )
    return checked_url(value, what.rsplit(" ", 1)[0])


def _sign_in_person(name: str, place: Deployment, *, browser: bool) -> None:
    from cli.callback import Listener  # noqa: PLC0415 - brings httpx, which `--help` does not need
    from cli.session import keep_person  # noqa: PLC0415 - beside it
    from cli.tokens import SignIn  # noqa: PLC0415 - beside it

    if not place.people_client_id:
        raise Stop(
            "Nothing says which app client people use: give --people-client-id or --outputs."
        )
    attempt = SignIn(place.auth_url, place.people_client_id)
    with Listener(attempt) as listener:
        opened = browser and webbrowser.open(attempt.url)
        said = "Sign in with the page that has been opened, or open it yourself:"
        print(said if opened else "Open this page to sign in:", file=sys.stderr)
        # Unwrapped, so that it can be copied.
        print(attempt.url, file=sys.stderr, flush=True)
        code = listener.wait()
    _say(keep_person(name, place, attempt.exchange(code)))


def _sign_in_agent(
    name: str, place: Deployment, agent: str, client_id: str | None, client_secret: str | None
) -> None:
    from cli.session import sign_in_agent  # noqa: PLC0415 - brings httpx, which `--help` does not need

    client_id = client_id or place.agents.get(agent)
    if not client_id:
        known = ", ".join(place.agents) or "none"
        raise Stop(
            f"Nothing says the client id of agent “{agent}” (known: {known}): give --client-id."
        )
    if not client_secret:
        if not sys.stdin.isatty():
            raise Stop("An agent signs in with a secret: put it into SAGAPLANE_CLIENT_SECRET.")
        client_secret = str(typer.prompt("Client secret", hide_input=True, err=True))
    _say(sign_in_agent(name, place, agent, client_id, client_secret))


def _say(profile: profiles.Profile) -> None:
    from cli.tokens import claims  # noqa: PLC0415 - brings httpx, which `--help` does not need

    who = profile.agent or claims(profile.access).get("username") or "somebody"
    terminal().note(
        f"signed in as {profile.kind} {who}, profile “{profile.name}”, at {profile.api_url}"
    )
