"""Profiles that are signed in: how they come to be, and the client that each of them is."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace

from cli import profiles, tokens
from cli.client import Client
from cli.errors import NotSignedIn, Stop
from cli.profiles import Profile
from cli.settings import Deployment
from cli.tokens import Tokens


def client(name: str) -> Client:
    """The API as this profile. Raises NotSignedIn where it is not signed in."""
    profile = profiles.load(name)
    wanted = os.environ.get("SAGAPLANE_API", "").rstrip("/")
    if wanted and wanted != profile.api_url:
        raise Stop(
            f"Profile “{name}” is signed in at {profile.api_url}, but SAGAPLANE_API says {wanted}.",
            "A token is never sent to another API: sign in there with another profile.",
        )
    return Client(profile.api_url, ProfileTokens(profile))


def keep_person(name: str, place: Deployment, granted: Tokens) -> Profile:
    """Write down that this profile is signed in as the person whom the tokens are for."""
    profile = Profile(
        name=name,
        kind="person",
        api_url=place.api_url,
        auth_url=place.auth_url,
        client_id=place.people_client_id,
        access=granted.access,
        expires_at=granted.expires_at,
        refresh=granted.refresh,
    )
    profiles.save(profile)
    return profile


def sign_in_person(name: str, place: Deployment, username: str, password: str) -> Profile:
    """Sign a profile in as a seeded user of the local stage, through the hosted page. Raises NotSignedIn."""
    granted = tokens.sign_in(place.auth_url, place.people_client_id, username, password)
    return keep_person(name, place, granted)


def sign_in_agent(
    name: str, place: Deployment, agent: str, client_id: str, client_secret: str
) -> Profile:
    """Sign a profile in as an agent. Its secret is kept beside the token, to ask for the next one."""
    granted = tokens.agent_tokens(place.auth_url, client_id, client_secret)
    profile = Profile(
        name=name,
        kind="agent",
        api_url=place.api_url,
        auth_url=place.auth_url,
        client_id=client_id,
        access=granted.access,
        expires_at=granted.expires_at,
        client_secret=client_secret,
        agent=agent,
    )
    profiles.save(profile)
    return profile


class ProfileTokens:
    """Hands out the profile's token; asks once for another when it has expired, and writes that one down."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._asked = False

    def current(self) -> str:
        """The token, renewed first if it has expired."""
        held = self._profile
        if Tokens(held.access, held.expires_at).stale():
            self._renew()
        return self._profile.access

    def renewed(self) -> str | None:
        """Another token after a refusal, if none was asked for yet."""
        if self._asked:
            return None
        try:
            self._renew()
        except NotSignedIn:
            return None
        return self._profile.access

    def _renew(self) -> None:
        self._asked = True
        fresh = _fresh(self._profile)
        self._profile = replace(
            self._profile, access=fresh.access, expires_at=fresh.expires_at, refresh=fresh.refresh
        )
        profiles.save(self._profile)


def _fresh(profile: Profile) -> Tokens:
    if profile.kind == "agent" and profile.client_secret:
        return tokens.agent_tokens(profile.auth_url, profile.client_id, profile.client_secret)
    if profile.refresh:
        held = Tokens(profile.access, profile.expires_at, profile.refresh)
        with contextlib.suppress(NotSignedIn):
            fresh = tokens.refreshed(profile.auth_url, profile.client_id, held)
            # An emulator may leave the groups out of a renewed token, which then may do nothing at all.
            if bool(_groups(fresh.access)) == bool(_groups(profile.access)):
                return fresh
    raise NotSignedIn(
        f"The sign-in of profile “{profile.name}” is over.",
        f"Sign in again: sagaplane login --profile {profile.name}",
    )


def _groups(access: str) -> object:
    return tokens.claims(access).get("cognito:groups")
