"""Who belongs to what, in the deployment's own user pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from functions.ports import DirectoryUnavailable

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient


class CognitoDirectory:
    """A person is known by the `username` of their token. `pool` is None where this function may not ask.

    Each question is asked anew. The client is made at the first one: most invocations ask nothing.
    """

    def __init__(
        self, client: Callable[[], CognitoIdentityProviderClient], pool: str | None
    ) -> None:
        self._client = client
        self._pool = pool

    def groups(self, person: str) -> frozenset[str]:
        """The person's groups; none where they are unknown or disabled. Raises DirectoryUnavailable."""
        if self._pool is None:
            raise PermissionError("this function may not ask who belongs to what")
        client = self._client()
        try:
            # Whoever is disabled stays in their groups.
            if not client.admin_get_user(UserPoolId=self._pool, Username=person).get("Enabled"):
                return frozenset()
            pages = client.get_paginator("admin_list_groups_for_user").paginate(
                UserPoolId=self._pool, Username=person
            )
            return frozenset(group["GroupName"] for page in pages for group in page["Groups"])
        except client.exceptions.UserNotFoundException:
            return frozenset()
        except (BotoCoreError, ClientError) as error:
            raise DirectoryUnavailable(person) from error
