"""Who a profile is, from its token's claims. No part of the token itself is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cli.moments import from_now
from cli.page import Page, Span
from cli.profiles import Profile


def whoami_page(profile: Profile, claims: dict[str, Any]) -> Page:
    """Name, kind, what it may do, until when."""
    page = Page()
    who = profile.agent or claims.get("username") or "?"
    page.line(profile.kind, " ", Span(who, "strong"), f", profile “{profile.name}”")
    expires = datetime.fromtimestamp(profile.expires_at, tz=UTC).isoformat()
    again = (
        "renewed by itself" if profile.refresh or profile.client_secret else "then sign in again"
    )
    page.fields(
        [
            ("API", profile.api_url),
            ("groups", ", ".join(str(g) for g in claims.get("cognito:groups") or [])),
            ("scopes", str(claims.get("scope", ""))),
            ("client", profile.client_id),
            ("token expires", f"{from_now(expires)}, {again}"),
        ]
    )
    return page
