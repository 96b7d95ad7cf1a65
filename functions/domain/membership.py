"""Groups that open a tenant: who is in `tenant.<name>` sees that tenant, and may be asked about its sagas."""

from __future__ import annotations

from collections.abc import Iterable

_TENANT = "tenant."


def tenant_group(tenant: str) -> str:
    """The group whose members see this tenant."""
    return f"{_TENANT}{tenant}"


def tenants_of(groups: Iterable[str]) -> frozenset[str]:
    """The tenants that these groups open."""
    return frozenset(g.removeprefix(_TENANT) for g in groups if g.startswith(_TENANT))
