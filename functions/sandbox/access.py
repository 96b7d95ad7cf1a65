"""Who may ask for what. A token is known by its SHA-256 alone; taking it away is felt by the very next call."""

from __future__ import annotations

import hashlib
import hmac

from functions.sandbox.asks import Answer
from functions.sandbox.store import Ref, Store

_UNAUTHORIZED = Answer.refused(401, "unauthorized", "the token is not accepted")
_SCHEME = "Bearer "


def token_ref(sha256: str) -> Ref:
    """Where a token's scopes are kept."""
    return Ref("token", sha256)


def sha256_of(token: str) -> str:
    """How a token is known here, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def refuse_caller(store: Store, authorization: str, service: str, operation: str) -> Answer | None:
    """None for a token whose scopes hold the service or the `service:operation`, otherwise the refusal."""
    token = _bearer(authorization)
    known = store.read(token_ref(sha256_of(token))) if token else None
    if known is None:
        return _UNAUTHORIZED
    if {service, f"{service}:{operation}"} & set(known.body["scopes"]):
        return None
    return Answer.refused(403, "out_of_scope", f"the token is not good for {service}:{operation}")


def refuse_admin(admin_sha256: str, authorization: str) -> Answer | None:
    """None for the one token that may set the scene, otherwise the refusal."""
    token = _bearer(authorization)
    if token and hmac.compare_digest(sha256_of(token), admin_sha256.lower()):
        return None
    return _UNAUTHORIZED


def _bearer(authorization: str) -> str:
    scheme, token = authorization[: len(_SCHEME)], authorization[len(_SCHEME) :]
    return token.strip() if scheme.lower() == _SCHEME.lower() else ""
